# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Files of rl_sar, unitree_rl_gym and mjlab are read as descriptions of policies."""

import numpy as np
import pytest
import yaml
from bridges.networks import write_linear

from hrpsim.bridges.policy_description import read_policy
from hrpsim.control import ControllerError

RL_SAR_BASE = """rover:
  dt: 0.004
  decimation: 5
  joint_names: [hip_r, wheel_r, hip_l, wheel_l]
"""
RL_SAR = """rover/gym:
  model_name: "policy.onnx"
  num_observations: 21
  observations: ["commands", "ang_vel", "gravity_vec", "dof_pos", "dof_vel", "actions"]
  observations_history: [0, 1, 2]
  observations_history_priority: "time"
  clip_obs: 50.0
  clip_actions_lower: [-3.0, -3.0, -5.0, -5.0]
  clip_actions_upper: [2.0, 2.0, 5.0, 5.0]
  rl_kp: [20.0, 21.0, 0.0, 0.0]
  rl_kd: [0.5, 0.6, 0.7, 0.8]
  action_scale: [0.25, 0.25, 8.0, 8.0]
  wheel_indices: [2, 3]
  lin_vel_scale: 2.0
  ang_vel_scale: 0.25
  dof_pos_scale: 1.5
  dof_vel_scale: 0.05
  commands_scale: [2.0, 2.0, 0.25]
  default_dof_pos: [0.1, -0.1, 0.0, 0.0]
  joint_mapping: [2, 0, 3, 1]
"""
UNITREE = """policy_path: "{LEGGED_GYM_ROOT_DIR}/pre/policy.onnx"
simulation_dt: 0.002
control_decimation: 10
kps: [100, 40]
kds: [2, 1]
default_angles: [-0.1, 0.3]
ang_vel_scale: 0.25
dof_pos_scale: 1.0
dof_vel_scale: 0.05
action_scale: 0.25
cmd_scale: [2.0, 2.0, 0.25]
num_actions: 2
num_obs: 17
cmd_init: [0.5, 0, 0]
"""
JOINTS = "joints: [hip, knee]\n"
ARM = """<mujoco><worldbody><body name="trunk"><freejoint/><geom size="0.1"/>
<body name="thigh"><joint name="hip" axis="0 1 0"/><geom size="0.1"/>
<body name="shank" pos="0 0 -0.3"><joint name="knee" axis="0 1 0"/><geom size="0.1"/></body></body>
</body></worldbody></mujoco>"""
METADATA = {
    "joint_names": "hip,knee",
    "joint_stiffness": "100.000,40.000",
    "joint_damping": "2.000,1.500",
    "default_joint_pos": "-0.100,0.300",
    "command_names": "twist",
    "observation_names": "base_lin_vel,base_ang_vel,projected_gravity,joint_pos,joint_vel,actions,"
    "command",
    "action_scale": "0.5",
    "run_path": "somewhere",
}


def rl_sar(folder, text=RL_SAR, base=RL_SAR_BASE):
    """Write the files in rl_sar's folders, and read them."""
    file = folder / "rover" / "gym" / "config.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    if base:
        (folder / "rover" / "base.yaml").write_text(base)
    return read_policy(file)


def terms(policy):
    return [(one.term, one.scale.tolist(), one.history) for one in policy.observation.terms]


def test_files_of_rl_sar_have_the_order_of_the_policy(tmp_path):
    policy = rl_sar(tmp_path)
    assert policy.joints == ("hip_l", "hip_r", "wheel_l", "wheel_r")
    assert (policy.period, policy.decimation, policy.seconds) == (0.004, 5, 0.02)
    assert policy.by_velocity.tolist() == [False, False, True, True]
    assert policy.kp.tolist() == [20.0, 21.0, 0.0, 0.0]
    assert policy.action_lower.tolist() == [-3.0, -3.0, -5.0, -5.0]
    assert policy.action_upper.tolist() == [2.0, 2.0, 5.0, 5.0]
    assert terms(policy) == [
        ("command", [2.0, 2.0, 0.25], 3),
        ("angular_velocity", 0.25, 3),
        ("gravity", 1.0, 3),
        ("joint_positions", [1.5, 1.5, 0.0, 0.0], 3),
        ("joint_velocities", 0.05, 3),
        ("last_action", 1.0, 3),
    ]
    assert all(one.clip == 50.0 for one in policy.observation.terms)
    observation = policy.observation
    assert (observation.by_step, observation.newest_first, observation.from_zero) == (True,) * 3
    assert observation.network == tmp_path / "rover" / "gym" / "policy.onnx"


def test_histories_of_rl_sar_may_begin_with_the_oldest_or_be_grouped_by_term(tmp_path):
    oldest = rl_sar(tmp_path, RL_SAR.replace("[0, 1, 2]", "[2, 1, 0]")).observation
    assert (oldest.by_step, oldest.newest_first) == (True, False)
    grouped = rl_sar(tmp_path, RL_SAR.replace('"time"', '"term"')).observation
    assert (grouped.by_step, grouped.newest_first) == (False, True)
    none = rl_sar(tmp_path, RL_SAR.replace("[0, 1, 2]", "[]")).observation
    assert (none.terms[0].history, none.from_zero) == (1, False)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"commands"', '"robots/phase"', r"config.yaml:4:3: observations: .*'robots/phase' does"),
        ("[0, 1, 2]", "[0, 2]", "must be consecutive ages"),
        ("num_observations: 21", "num_observations: 20", "is 20, but the observations have 21"),
        (
            "joint_mapping: [2, 0, 3, 1]",
            "joint_mapping: [2, 0, 3, 3]",
            "a permutation of at most 4 indices",
        ),
        ("wheel_indices: [2, 3]", "wheel_indices: [4]", "there is no joint 4"),
        ("  rl_kp: [20.0, 21.0, 0.0, 0.0]\n", "", "rl_kp: is missing"),
        ("rover/gym:", "tank/gym:", "has no robot 'tank'"),
    ],
)
def test_what_rl_sar_has_and_nothing_here_is_refused_by_name(tmp_path, old, new, message):
    assert old in RL_SAR
    with pytest.raises(ControllerError, match=message):
        rl_sar(tmp_path, RL_SAR.replace(old, new))


def test_files_of_rl_sar_need_their_base(tmp_path):
    with pytest.raises(ControllerError, match=r"base.yaml is missing"):
        rl_sar(tmp_path, base="")


def unitree(folder, text=UNITREE):
    (folder / "pre").mkdir(exist_ok=True)
    (folder / "pre" / "policy.onnx").touch()
    (folder / "scene.xml").write_text(ARM)
    file = folder / "configs" / "arm.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return read_policy(file)


def test_files_of_unitree_rl_gym_take_the_joints_of_their_mjcf(tmp_path):
    pytest.importorskip("mujoco")
    policy = unitree(tmp_path, UNITREE + 'xml_path: "{LEGGED_GYM_ROOT_DIR}/scene.xml"\n')
    assert policy.joints == ("hip", "knee")
    assert (policy.period, policy.decimation, policy.frequency) == (0.002, 10, 1.25)
    assert policy.observation.network == tmp_path / "pre" / "policy.onnx"
    assert [name for name, _, _ in terms(policy)][-2:] == ["last_action", "clock"]
    assert terms(policy)[2] == ("command", [2.0, 2.0, 0.25], 1)


def test_files_for_the_robot_itself_need_names_of_joints(tmp_path):
    text = UNITREE.replace("simulation_dt: 0.002\ncontrol_decimation: 10", "control_dt: 0.02")
    text = text.replace("num_obs: 17", "num_obs: 15")
    with pytest.raises(ControllerError, match=r"arm.yaml.*joints: .*Add `joints: \[NAME, ...\]`"):
        unitree(tmp_path, text)
    policy = unitree(tmp_path, text + "joints: [knee, hip]\n")
    assert policy.joints == ("knee", "hip") and policy.seconds == pytest.approx(0.02)
    assert terms(policy)[-1][0] == "last_action"
    with pytest.raises(ControllerError, match="num_obs: must be 15, or 17 with a clock, got 16"):
        unitree(tmp_path, text.replace("num_obs: 15", "num_obs: 16") + "joints: [knee, hip]\n")


def exported(folder, **changed):
    pytest.importorskip("onnxruntime")
    write_linear(folder / "policy.onnx", np.zeros((18, 2)), metadata={**METADATA, **changed})
    return folder / "policy.onnx"


def test_a_network_of_mjlab_describes_itself_but_for_the_rates(tmp_path):
    policy = read_policy(exported(tmp_path))
    assert policy.joints == ("hip", "knee")
    assert (policy.kp.tolist(), policy.kd.tolist()) == ([100.0, 40.0], [2.0, 1.5])
    assert policy.default.tolist() == [-0.1, 0.3]
    assert policy.action_scale.tolist() == [0.5, 0.5]
    assert (policy.period, policy.decimation) == (0.005, 4)
    assert [name for name, _, _ in terms(policy)] == [
        *("linear_velocity", "angular_velocity", "gravity", "joint_positions", "joint_velocities"),
        *("last_action", "command"),
    ]


def test_a_description_beside_the_network_counts_first(tmp_path):
    exported(tmp_path)
    file = tmp_path / "policy.yaml"
    file.write_text("policy: policy.onnx\nperiod: 0.002\ndecimation: 10\nkp: 7.0\n")
    policy = read_policy(file)
    assert (policy.period, policy.decimation, policy.kp.tolist()) == (0.002, 10, [7.0, 7.0])
    assert policy.kd.tolist() == [2.0, 1.5]


def test_observations_that_no_term_has_are_refused_by_name(tmp_path):
    file = exported(tmp_path, observation_names="base_ang_vel,height_scan")
    with pytest.raises(
        ControllerError, match=r"'height_scan' does not exist.*List the `observations`"
    ):
        read_policy(file)


def test_a_tracking_policy_of_mjlab_observes_its_motion(tmp_path):
    """The command is the reference's positions and velocities, the second input its time."""
    file = exported(tmp_path, command_names="motion", observation_names="command,joint_pos")
    policy = read_policy(file)
    outputs = [(one.term, one.output) for one in policy.observation.terms]
    assert outputs[:2] == [("reference", "joint_pos"), ("reference", "joint_vel")]
    assert [one.term for one in policy.inputs["time_step"].terms] == ["step"]


ODD = [None, "x", [], {}, -1, 0, 1e300, True, [None], ["x"], [[1]], [1e300] * 4, {"a": 1}, [5, 5]]


@pytest.mark.parametrize(("text", "write"), [(RL_SAR, rl_sar), (UNITREE + JOINTS, unitree)])
def test_an_entry_of_any_other_kind_is_read_or_refused_by_name(tmp_path, text, write):
    """Law: each entry replaced by each odd value ends with a description or ControllerError."""
    data, refused = yaml.safe_load(text), 0
    place = data.get("rover/gym", data)
    for key, kept in list(place.items()):
        for odd in ODD:
            place[key] = odd
            try:
                write(tmp_path, yaml.safe_dump(data))
            except ControllerError as error:
                refused += 1
                assert "yaml" in str(error)
        place[key] = kept
    assert refused > 8 * len(place)
