# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What `hrpsim check-policy` finds between a description and a run in MuJoCo."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hrpsim
from hrpsim.bridges import OnnxPolicy
from hrpsim.bridges.policy_check import differing_columns
from hrpsim.commands.cli import main
from hrpsim.control import ControlLoop

mujoco = pytest.importorskip("mujoco")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

JOINTS = ["a", "b", "c"]
DEFAULT, KP, KD, SCALE = np.array([0.2, -0.1, 0.3]), np.array([60.0, 40.0, 20.0]), 2.0, 0.5
LINK = """<link name="{name}"><inertial><origin xyz="0 0 {height}"/><mass value="{mass}"/>
<inertia ixx="0.01" iyy="0.01" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
HINGE = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="0 0 {height}"/><axis xyz="{axis}"/>
<limit lower="-1.5" upper="1.5" effort="80" velocity="100"/></joint>"""
ARM = (
    """<robot name="arm"><link name="base"/>"""
    + LINK.format(name="l1", height=0.15, mass=1.0)
    + LINK.format(name="l2", height=0.1, mass=0.7)
    + LINK.format(name="l3", height=0.1, mass=0.4)
    + HINGE.format(name="a", parent="base", child="l1", height=1.0, axis="0 1 0")
    + HINGE.format(name="b", parent="l1", child="l2", height=0.3, axis="1 0 0")
    + HINGE.format(name="c", parent="l2", child="l3", height=0.2, axis="0 1 0")
    + "</robot>"
)
WORLD = """robots:
  - {name: arm, urdf: arm.urdf, base: fixed, joints: {a: 0.2, b: -0.1, c: 0.3},
     gains: {"*": [0, 0]}}
world: {time_step: 0.001}
"""
POLICY = """policy: policy.onnx
period: 0.001
decimation: 20
joints: [a, b, c]
default: [0.2, -0.1, 0.3]
kp: [60, 40, 20]
kd: 2
action: {scale: 0.5}
frequency: 2.0
observations:
  - {term: joint_positions}
  - {term: joint_velocities, scale: 0.1}
  - {term: last_action}
  - {term: clock, components: [1, 0]}
  - {term: constant, scale: [0.5, 0.25]}
"""
SIZE = 13


def observed(data, action, time):
    """Return what the policy's trainer observed: positions, velocities, action, cos, sin, 2."""
    turned = 2.0 * np.pi * 2.0 * time
    clock = [np.cos(turned), np.sin(turned)]
    return np.concatenate([data.qpos - DEFAULT, 0.1 * data.qvel, action, clock, [0.5, 0.25]])


@pytest.fixture(scope="module")
def trainer(tmp_path_factory):
    """Write a network, its world, and one second of it in MuJoCo."""
    folder = tmp_path_factory.mktemp("policy")
    weights = np.zeros((SIZE, 3), np.float32)
    weights[:3] = -0.5 * np.eye(3)
    weights[9:11] = [[0.5, 0.1, -0.3], [0.0, 0.4, 0.3]]
    weights[11] = 0.2
    named = [onnx.numpy_helper.from_array(weights, "W")]
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["obs", "W"], ["actions"])],
        "policy",
        [info("obs", 1, [1, SIZE])],
        [info("actions", 1, [1, 3])],
        named,
    )
    made = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8
    )
    exported = {"joint_names": '["a", "b", "c"]', "joint_stiffness": "60.0,40.0,20.0"}
    onnx.helper.set_model_props(made, exported)
    onnx.save(made, folder / "policy.onnx")
    (folder / "arm.urdf").write_text(ARM)
    (folder / "world.yaml").write_text(WORLD)
    model = mujoco.MjModel.from_xml_string(ARM)
    model.opt.timestep = 0.001
    data = mujoco.MjData(model)
    data.qpos[:] = DEFAULT
    action, observations, actions = np.zeros(3), [], []
    for tick in range(1000):
        if tick % 20 == 0:
            observations.append(observed(data, action, 0.001 * tick))
            action = observations[-1].astype(np.float32) @ weights
            actions.append(action)
        data.qfrc_applied[:] = KP * (DEFAULT + SCALE * action - data.qpos) - KD * data.qvel
        mujoco.mj_step(model, data)
    names = {"observations": observations, "actions": actions, "joint_names": JOINTS}
    np.savez(folder / "run.npz", **names)
    rows = np.hstack([observations, actions])
    np.savetxt(folder / "run.csv", rows, delimiter=",", header="columns")
    return folder


def found(trainer, text, capsys, *options, world="world.yaml"):
    """Return what differs, by the command."""
    (trainer / "policy.yaml").write_text(text)
    command = ["check-policy", str(trainer / "policy.yaml"), str(trainer / world), "--json"]
    status = main([*command, *options])
    differs = json.loads(capsys.readouterr().out)["differs"]
    assert status == (1 if differs else 0)
    return differs


@pytest.mark.parametrize("file", ["run.npz", "run.csv"])
def test_nothing_differs_where_the_description_is_the_trainers(trainer, capsys, file):
    """Law: two simulators of the same equations agree over the compared second."""
    assert found(trainer, POLICY, capsys, "--recording", str(trainer / file)) == []


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("joints: [a, b, c]", "joints: [a, b, elbow]", ["joint 'elbow' does not exist"]),
        ("period: 0.001", "period: 0.0015", ["whole multiple"]),
        ("-0.1, 0.3]", "-0.1, 1.8]", ["default position 1.8 of 'c' is not within"]),
        ("kp: [60, 40, 20]", "kp: [60, 41, 20]", ["kp of b: 41 in the description, 40 in the"]),
        ("kd: 2", "kd: [2, 2, 60]", ["kd of c: 60 is unstable with a period"]),
        ("{scale: 0.5}", "{scale: 0.5, clip: 0.01}", ["action of b in the default posture.*clip"]),
        ("{scale: 0.5}", "{scale: 30}", ["action of a .*beyond", "action of a .*effort limit"]),
        ("  - {term: last_action}\n", "", ["have 10 numbers, .* has 13"]),
    ],
)
def test_what_differs_without_a_recording_is_named(trainer, capsys, old, new, lines):
    assert old in POLICY
    differs = "\n".join(found(trainer, POLICY.replace(old, new), capsys))
    for line in lines:
        assert re.search(line, differs), (line, differs)


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        (
            "{term: joint_positions}",
            "{term: joint_positions, components: [0, 2, 1]}",
            [
                "joint_positions[1]: the recorded column is 1 * joint_positions[2] here",
                "joint_positions[2]: the recorded column is 1 * joint_positions[1] here",
            ],
        ),
        (
            "{term: joint_velocities, scale: 0.1}",
            "{term: joint_velocities, scale: [0.1, -0.1, 0.05]}",
            [
                "joint_velocities[1]: the recorded column is -1 * joint_velocities[1] here",
                "joint_velocities[2]: the recorded column is 2 * joint_velocities[2] here",
            ],
        ),
        (
            "components: [1, 0]",
            "components: [0, 1]",
            [
                "clock[0]: the recorded column is 1 * clock[1] here",
                "clock[1]: the recorded column is 1 * clock[0] here",
            ],
        ),
        ("[0.5, 0.25]", "[0.5, -1]", ["constant[1]: -1 here, 0.25 recorded"]),
    ],
)
def test_columns_that_differ_from_a_recording_are_found(trainer, capsys, old, new, lines):
    """Law: an exchange, a sign or a scale of the description is named with its inverse."""
    assert old in POLICY
    text = POLICY.replace(old, new)
    differs = found(trainer, text, capsys, "--recording", str(trainer / "run.npz"))
    rounded = [re.sub(r"-?[0-9.]+ \*", lambda x: f"{float(x[0][:-2]):.1g} *", x) for x in differs]
    assert rounded == lines


def test_a_recording_of_another_joint_order_is_named(trainer, capsys):
    text = POLICY.replace("[a, b, c]", "[b, a, c]")
    differs = found(trainer, text, capsys, "--recording", str(trainer / "run.npz"))
    assert "joint 0: b in the description, a in the recording" in differs
    assert "joint 1: a in the description, b in the network's metadata" in differs


@given(
    order=st.permutations(range(5)),
    factors=st.lists(st.sampled_from([1.0, -1.0, 2.0, -0.5, 20.0]), min_size=5, max_size=5),
)
def test_columns_are_assigned_with_sign_and_scale(order, factors):
    """Law: y[:, k] = s[k] x[:, p[k]] is found for every permutation, sign and scale."""
    here = np.random.default_rng(1).normal(size=(200, 5))
    names = [f"x{k}" for k in range(5)]
    lines = list(differing_columns(names, here, here[:, order] * factors))
    assert lines == [
        f"x{k}: the recorded column is {factor:.2g} * x{source} here"
        for k, (source, factor) in enumerate(zip(order, factors))
        if (source, factor) != (k, 1.0)
    ]


@pytest.mark.parametrize(
    "name", ["words.csv", "pickle.npz", "short.npz", "damaged.npz", "array.npz"]
)
def test_what_is_no_recording_is_refused(trainer, capsys, name):
    file = trainer / name
    if name == "words.csv":
        file.write_text("a\nb,c\n")
    elif name == "damaged.npz":
        file.write_bytes((trainer / "run.npz").read_bytes()[:-40])
    elif name == "array.npz":
        with file.open("wb") as stream:
            np.save(stream, np.zeros((3, 3)))
    else:
        objects = np.array([None, {}]) if name == "pickle.npz" else np.zeros((0, 3))
        np.savez(file, observations=objects, actions=objects)
    differs = found(trainer, POLICY, capsys, "--recording", str(file))
    assert len(differs) == 1 and name in differs[0]


@pytest.mark.parametrize("by_step", ["false", "true"])
@pytest.mark.parametrize("newest_first", ["false", "true"])
def test_another_order_of_histories_is_named(trainer, tmp_path, capsys, by_step, newest_first):
    """Law: the order of a recording is found, whatever the description says."""
    network = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["obs", "W"], ["actions"])],
        "policy",
        [onnx.helper.make_tensor_value_info("obs", 1, [1, 18])],
        [onnx.helper.make_tensor_value_info("actions", 1, [1, 3])],
        [onnx.numpy_helper.from_array(np.zeros((18, 3), np.float32), "W")],
    )
    opset = [onnx.helper.make_opsetid("", 13)]
    onnx.save(
        onnx.helper.make_model(network, opset_imports=opset, ir_version=8), tmp_path / "policy.onnx"
    )
    for name in ("arm.urdf", "world.yaml"):
        (tmp_path / name).write_text((trainer / name).read_text())
    terms = "  - {term: joint_positions, history: 3}\n  - {term: joint_velocities, history: 3}\n"
    text = POLICY.partition("  - ")[0].replace("kp: [60, 40, 20]", "kp: 2") + terms
    flags = f"history_by_step: {by_step}\nhistory_newest_first: {newest_first}\n"
    file, seen = tmp_path / "policy.yaml", []
    file.write_text(text + flags)

    class Watched(OnnxPolicy):
        def take(self, answer):
            super().take(answer)
            seen.append(self._actor.observation.stacked(self._actor.pasts))

    arm = hrpsim.load_world(tmp_path / "world.yaml").robots["arm"]
    ControlLoop(arm, Watched(), {"description": str(file)}).run(0.4)
    run = str(tmp_path / "run.npz")
    np.savez(run, observations=seen, actions=np.zeros((len(seen), 3)))
    check = ["check-policy", str(file), str(tmp_path / "world.yaml"), "--recording", run]
    main([*check, "--duration", "0.4"])
    assert "another order" not in capsys.readouterr().out
    file.write_text(text)
    main([*check, "--duration", "0.4"])
    told = capsys.readouterr().out
    found = f"history_by_step: {by_step}, history_newest_first: {newest_first}"
    assert ("another order of histories: write " + found in told) == ("true" in found)


EXPORTED = {
    "joint_names": "a,b,c",
    "joint_stiffness": "60,40,20",
    "joint_damping": "2,2,2",
    "observation_names": "joint_pos,joint_vel,actions",
    "observation_history_lengths": "1,1,1",
    "sim_dt": "0.001",
    "decimation": "20",
}
ORDINARY = POLICY.partition("  - {term: clock")[0].replace("frequency: 2.0\n", "")


@pytest.fixture
def exported(tmp_path, trainer):
    """Write a policy whose network says how it was trained, as a function of what it says."""
    from bridges.networks import write_linear

    for name in ("arm.urdf", "world.yaml"):
        (tmp_path / name).write_text((trainer / name).read_text())

    def check(capsys, text=ORDINARY, **changed):
        weights = np.zeros((9, 3))
        weights[:3] = -0.5 * np.eye(3)
        write_linear(tmp_path / "policy.onnx", weights, metadata={**EXPORTED, **changed})
        (tmp_path / "policy.yaml").write_text(text)
        main(
            ["check-policy", str(tmp_path / "policy.yaml"), str(tmp_path / "world.yaml"), "--json"]
        )
        return json.loads(capsys.readouterr().out)["differs"]

    return check


def test_a_description_as_exported_differs_in_nothing(exported, capsys):
    assert exported(capsys) == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"observation_names": "joint_vel,joint_pos,actions"},
            "observation 0: joint_positions in the description, joint_velocities in the",
        ),
        (
            {"observation_names": "joint_pos,joint_vel"},
            "observations: 3 terms in the description, 2 in the network's metadata",
        ),
        (
            {"observation_history_lengths": "1,5,1"},
            "history of joint_velocities: 1 in the description, 5 in the network's metadata",
        ),
        ({"sim_dt": "0.005"}, "period: 0.001 in the description, 0.005 (sim_dt) in the"),
        ({"decimation": "10"}, "decimation: 20 in the description, 10 (decimation) in the"),
        ({"step_dt": "0.01"}, "seconds: 0.02 in the description, 0.01 (step_dt) in the"),
    ],
)
def test_orders_histories_and_rates_of_the_export_are_compared(exported, capsys, changed, message):
    assert any(line.startswith(message) for line in exported(capsys, **changed))


def test_other_gains_part_in_motion_by_what_they_do_to_the_arm(exported, capsys):
    """A tenth of the stiffness at joint a lets the arm sink. The runs part, and a is named."""
    told = exported(capsys, joint_stiffness="6,40,20")
    assert told[0].startswith("kp of a: 60 in the description, 6 in the network's metadata")
    (parted,) = [line for line in told if "the motions diverge after" in line]
    assert float(parted.rpartition(" by ")[2]) > 0.05 and ": a differs" in parted


def test_a_difference_without_effect_is_said_to_have_none(exported, capsys):
    """The limbs hang at the default posture, where a 2 % higher damping moves nothing."""
    told = exported(capsys, joint_damping="2.05,2.05,2.05")
    assert any("both motions agree" in line for line in told)


def test_armature_is_compared_with_the_robot_s(exported, capsys):
    (told,) = exported(capsys, ORDINARY.replace("kd: 2", "kd: 2\narmature: [0.0, 0.0, 0.04]"))
    assert told == "armature of c: 0.04 in the description, 0 of the robot"
