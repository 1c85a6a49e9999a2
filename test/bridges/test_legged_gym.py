# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Configurations of legged_gym: classes are read as descriptions, and none of their code runs."""

import numpy as np
import pytest

from hrpsim.bridges.policy_description import read_policy
from hrpsim.control import ControllerError

BASE = """class LeggedRobotCfg(BaseConfig):
    class env:
        num_observations = 18
        num_actions = 2
    class init_state:
        pos = [0.0, 0.0, 1.0]
        default_joint_angles = {"joint_a": 0.0}
    class control:
        control_type = 'P'
        stiffness = {'joint_a': 10.0}
        damping = {'joint_a': 1.0}
        action_scale = 0.5
        decimation = 4
    class asset:
        file = ""
        armature = 0.
    class normalization:
        class obs_scales:
            lin_vel = 2.0
            ang_vel = 0.25
            dof_pos = 1.0
            dof_vel = 0.05
        clip_observations = 100.
        clip_actions = 100.
    class sim:
        dt = 0.005
        class physx:
            max_gpu_contact_pairs = 2**23
"""
CONFIG = """import os
from legged_gym.envs.base.legged_robot_config import LeggedRobotCfg, LeggedRobotCfgPPO
open("it_ran", "w")

class RobotRoughCfg( LeggedRobotCfg ):
    class init_state( LeggedRobotCfg.init_state ):
        default_joint_angles = { # = target angles [rad] when action = 0.0
            'hip_joint': 0.1,
            'knee_joint': -1.5,
        }
    class control( LeggedRobotCfg.control ):
        stiffness = {'joint': 20., 'knee': 2 * 20.}
        damping = {'joint': 0.5, 'knee': -(-1.0)}
        action_scale = 0.25
    class asset( LeggedRobotCfg.asset ):
        file = '{LEGGED_GYM_ROOT_DIR}/resources/robot.urdf'
        armature: float = 0.01
    class rewards( LeggedRobotCfg.rewards ):
        class scales( LeggedRobotCfg.rewards.scales ):
            torques = -0.0002

class RobotRoughCfgPPO( LeggedRobotCfgPPO ):
    class runner( LeggedRobotCfgPPO.runner ):
        experiment_name = 'rough'
"""
YAML = "legged_gym: gym/envs/robot/robot_config.py\npolicy: policy.pt\n"
SCALED = [("linear_velocity", 2.0), ("angular_velocity", 0.25), ("gravity", 1.0)]
SCALED += [("command", [2.0, 2.0, 0.25]), ("joint_positions", 1.0), ("joint_velocities", 0.05)]
SCALED += [("last_action", 1.0)]


def joint(name, parent, child, kind="revolute"):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}</joint>'


URDF = (
    '<robot name="r">'
    + joint("knee_joint", "thigh", "shank")
    + joint("foot", "shank", "sole", "fixed")
    + joint("hip_joint", "trunk", "thigh")
    + "</robot>"
)


@pytest.fixture
def project(tmp_path):
    """The folders of legged_gym with one robot."""
    for name, text in {
        "gym/envs/robot/robot_config.py": CONFIG,
        "gym/envs/base/legged_robot_config.py": BASE.replace("(BaseConfig)", ""),
        "resources/robot.urdf": URDF,
        "policy.yaml": YAML,
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def change(folder, old, new, name="gym/envs/robot/robot_config.py"):
    file = folder / name
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def test_the_classes_become_a_description(project, monkeypatch):
    monkeypatch.chdir(project)
    policy = read_policy(project / "policy.yaml")
    assert policy.joints == ("hip_joint", "knee_joint")
    np.testing.assert_array_equal(policy.default, [0.1, -1.5])
    np.testing.assert_array_equal(policy.kp, [20.0, 40.0])
    np.testing.assert_array_equal(policy.kd, [0.5, 1.0])
    np.testing.assert_array_equal(policy.armature, [0.01, 0.01])
    np.testing.assert_array_equal(policy.action_scale, [0.25, 0.25])
    np.testing.assert_array_equal(policy.action_upper, [100.0, 100.0])
    assert (policy.period, policy.decimation) == (0.005, 4)
    assert policy.observation.network == project / "policy.pt"
    found = [(term.term, term.scale.tolist(), term.clip) for term in policy.observation.terms]
    assert found == [(term, scale, 100.0) for term, scale in SCALED]
    assert not (project / "it_ran").exists()


def test_without_the_base_file_its_published_values_count(project):
    (project / "gym/envs/base/legged_robot_config.py").unlink()
    own = "    class env(LeggedRobotCfg.env):\n        num_actions = 2\n"
    change(project, "    class asset(", f"{own}    class asset(")
    with pytest.raises(
        ControllerError, match="num_observations: is 235, but only 15, 17, 18 are supported"
    ):
        read_policy(project / "policy.yaml")
    change(project, own, f"{own}        num_observations = 17\n")
    policy = read_policy(project / "policy.yaml")
    assert [term.term for term in policy.observation.terms][-1] == "clock"
    assert policy.frequency == 1.25 and policy.period == 0.005


def test_entries_of_the_description_have_priority(project):
    (project / "policy.yaml").write_text(
        f"{YAML}joints: [knee_joint, hip_joint]\ndecimation: 8\nobservations: [{{term: gravity}}]\n"
    )
    policy = read_policy(project / "policy.yaml")
    assert policy.joints == ("knee_joint", "hip_joint") and policy.decimation == 8
    np.testing.assert_array_equal(policy.default, [-1.5, 0.1])
    assert [term.term for term in policy.observation.terms] == ["gravity"]


def test_a_base_of_another_file_is_found(project):
    """As anymal_c_flat_config.py, whose base is in anymal_c_rough_config.py."""
    (project / "gym/envs/robot/flat_config.py").write_text(
        "from gym.envs import RobotRoughCfg\n\nclass FlatCfg(RobotRoughCfg):\n"
        "    class control(RobotRoughCfg.control):\n        decimation = 2\n"
    )
    (project / "policy.yaml").write_text(YAML.replace("robot_config", "flat_config"))
    policy = read_policy(project / "policy.yaml")
    assert policy.decimation == 2 and policy.kp.tolist() == [20.0, 40.0]


def test_the_order_of_joints_is_that_of_isaac_gym(project):
    """The legs of ANYmal: LF, RF, LH, RH in the file, and LF, LH, RF, RH in Isaac Gym."""
    legs = "LF", "RF", "LH", "RH"
    parts = [joint(f"{leg}_HAA", "base", f"{leg}_HIP") for leg in legs]
    parts += [joint(f"{leg}_HFE", f"{leg}_HIP", f"{leg}_THIGH") for leg in legs]
    (project / "resources/robot.urdf").write_text(f"<robot>{''.join(parts)}</robot>")
    angles = ", ".join(f"'{leg}_{part}': 0.0" for leg in legs for part in ("HAA", "HFE"))
    change(project, "'hip_joint': 0.1,", f"{angles},")
    change(project, "num_actions = 2", "num_actions = 8", "gym/envs/base/legged_robot_config.py")
    change(project, "= 18", "= 36", "gym/envs/base/legged_robot_config.py")
    expected = [f"{leg}_{part}" for leg in ("LF", "LH", "RF", "RH") for part in ("HAA", "HFE")]
    assert list(read_policy(project / "policy.yaml").joints) == expected


@pytest.mark.parametrize("kind, driven", [("T", "by_effort"), ("V", "by_velocity")])
def test_the_type_of_the_control_decides_what_an_action_is(project, kind, driven):
    change(project, "action_scale = 0.25", f"control_type = '{kind}'\n        damping = {{}}")
    policy = read_policy(project / "policy.yaml")
    assert getattr(policy, driven).all()
    assert policy.kd.tolist() == ([20.0, 40.0] if kind == "V" else [0.0, 0.0])


def test_a_network_of_actuators_is_taken(project):
    """As anymal_c_rough_config.py: the network is named from the root."""
    (project / "resources/drive.pt").write_bytes(b"")
    named = "'{LEGGED_GYM_ROOT_DIR}/resources/drive.pt'"
    more = f"use_actuator_network = True\n        actuator_net_file = {named}"
    change(project, "action_scale = 0.25", f"action_scale = 0.25\n        {more}")
    (model,) = read_policy(project / "policy.yaml").actuators
    assert model.network == project / "resources/drive.pt" and model.joints.tolist() == [0, 1]


@pytest.mark.parametrize(
    "old, new, fault",
    [
        (
            "action_scale = 0.25",
            "action_scale = os.getpid()",
            r"py:14: .*action_scale: is not a lit",
        ),
        ("action_scale = 0.25", "action_scale = -True", "is not a literal"),
        ("'hip_joint': 0.1,", "", "the angle of joint 'hip_joint' is missing"),
        (
            "class control( LeggedRobotCfg",
            "class control( Other",
            "base class 'Other' is in no file",
        ),
        ("class control( LeggedRobotCfg.control", "class control( own", "base class 'own' is in"),
        ("Cfg( LeggedRobotCfg )", "Cfg( RobotRoughCfg )", "RobotRoughCfg is its own base class"),
        (
            "action_scale = 0.25",
            "use_actuator_network = True",
            "control.actuator_net_file is missing",
        ),
        ("action_scale = 0.25", "control_type = 'V'", "damping by acceleration"),
        ("resources/robot.urdf", "resources/none.urdf", "no folder above"),
        ("import os", "import os(", "robot_config.py:1: not Python"),
        ("RobotRoughCfgPPO(", "RobotFlatCfg(", "Choose one by `class: NAME`"),
    ],
)
def test_what_is_not_read_is_named(project, old, new, fault):
    change(project, old, new)
    with pytest.raises(ControllerError, match=fault):
        read_policy(project / "policy.yaml")
