# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What actions of policies mean, joint by joint, and networks with several named inputs."""

import numpy as np
import pytest
from bridges.networks import write_linear

import hrpsim
from hrpsim.bridges import OnnxPolicy
from hrpsim.bridges.network_files import open_network
from hrpsim.bridges.policy_network import Question
from hrpsim.control import ControllerError, ControlLoop

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
LINK = """<link name="{name}"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
HINGE = """<joint name="{name}" type="revolute"><parent link="base"/><child link="l{name}"/>
<axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1000" velocity="100"/></joint>"""
ROBOT = '<robot name="three"><link name="base"/>' + "".join(
    LINK.format(name=f"l{name}") + HINGE.format(name=name) for name in "abc"
)
ROBOT += "</robot>"
TEXT = """policy: policy.onnx
period: 0.002
decimation: 2
joints: [a, b, c]
default: [0.1, 0.0, 0.0]
kp: [10.0, 20.0, 30.0]
kd: [1.0, 2.0, 3.0]
action: {scale: [0.5, 2.0, 4.0], lower: -0.4, upper: 1.0, velocity: [b], effort: [c]FILTER}
observations: [{term: constant}]
"""


def loop(folder, text):
    """Return the loop of a policy on a robot of three joints that move at once."""
    (folder / "policy.yaml").write_text(text)
    world = hrpsim.World(time_step=0.001)
    robot = world.add_robot(hrpsim.load_model(ROBOT, base="fixed"), q=[0.2, -0.1, 0.3])
    robot.v = [0.4, -0.6, 0.7]
    policy = OnnxPolicy()
    return ControlLoop(robot, policy, {"description": str(folder / "policy.yaml")}), policy


def given(robot, one):
    state = one.control()
    return state, robot._control()["effort"].copy()


def test_a_joint_follows_positions_velocities_or_efforts(tmp_path):
    """Law: kp (p - q) - kd q' for a, kd (v - q') for b, u for c, of bounded actions."""
    write_linear(tmp_path / "policy.onnx", [[0.3, 5.0, -0.9]])
    one, _ = loop(tmp_path, TEXT.replace("FILTER", ""))
    with one:
        for _ in range(5):
            state, efforts = given(one.robot, one)
            q, rate = state.joint_positions, state.joint_velocities
            expected = [10.0 * (0.1 + 0.15 - q[0]) - rate[0], 2.0 * (2.0 - rate[1]), 4.0 * -0.4]
            np.testing.assert_allclose(efforts, expected, rtol=1e-6)
            one.robot.world.step(2)


def test_a_filter_keeps_a_part_of_the_last_action(tmp_path):
    """Law: after k answers a constant action has arrived by the part 1 - f^k."""
    write_linear(tmp_path / "policy.onnx", [[0.3, 0.3, 0.2]])
    one, _ = loop(tmp_path, TEXT.replace("FILTER", ", filter: [0.0, 0.5, 0.8]"))
    with one:
        for tick in range(8):
            _, efforts = given(one.robot, one)
            answers = tick // 2 + 1
            assert efforts[2] == pytest.approx(4.0 * 0.2 * (1.0 - 0.8**answers), rel=1e-6)
            one.robot.world.step(2)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("velocity: [b]", "velocity: [d]", "action.velocity: joint 'd' does not exist"),
        ("velocity: [b]", "velocity: [c]", "'c' is listed under both velocity and effort"),
        ("lower: -0.4", "lower: [1, 2]", "action.lower: must be one number, or 3 numbers, .*got 2"),
        (
            "{term: constant}",
            "{term: constant, output: x}",
            "`output` belongs to the term `reference`",
        ),
        ("{term: constant}", "{term: reference, output: x}", "output 'x' does not exist"),
    ],
)
def test_mistakes_are_named(tmp_path, old, new, message):
    write_linear(tmp_path / "policy.onnx", [[0.3, 5.0, -0.9]])
    with pytest.raises(ControllerError, match=message):
        loop(tmp_path, TEXT.replace("FILTER", "").replace(old, new))


def motion_network(path):
    """Write a network with a motion: it answers 0.01 and 0.02 of its time, and the reference.

    Inputs: obs (1, 3), time_step (1, 1), phase (1, 2). The action is obs + the sum of phase.
    """
    from onnx import helper, numpy_helper

    info = helper.make_tensor_value_info
    taken = [info("time_step", 1, [1, 1]), info("obs", 1, [1, 3]), info("phase", 1, [1, 2])]
    answered = [info("actions", 1, [1, 3]), info("joint_pos", 1, [1, 2])]
    nodes = [
        helper.make_node("MatMul", ["phase", "S"], ["sum"]),
        helper.make_node("Add", ["obs", "sum"], ["actions"]),
        helper.make_node("MatMul", ["time_step", "M"], ["joint_pos"]),
    ]
    given = [
        numpy_helper.from_array(np.ones((2, 3), np.float32), "S"),
        numpy_helper.from_array(np.float32([[0.01, 0.02]]), "M"),
    ]
    graph = helper.make_graph(nodes, "policy", taken, answered, given)
    opset = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


MOTION = TEXT.partition("action:")[0] + (
    """observations: [{term: reference, output: joint_pos}, {term: constant, scale: 0.25}]
inputs:
  time_step: [{term: step}]
  phase: [{term: clock}]
frequency: 25.0
"""
)


def test_a_network_with_a_motion_sees_the_reference_of_each_step(tmp_path):
    """Law: answer k sees the motion at step k, which the answer before returned.

    The clock has 25 Hz, so a quarter turn is 10 ms.
    """
    motion_network(tmp_path / "policy.onnx")
    one, policy = loop(tmp_path, MOTION)
    with one:
        for tick in range(12):
            one.tick()
            if tick % 2 == 0:
                turned = 2.0 * np.pi * 25.0 * 0.002 * tick
                clock = np.sin(turned) + np.cos(turned)
                expected = np.array([0.01, 0.02, 0.0]) * (tick // 2) + [0.0, 0.0, 0.25] + clock
                np.testing.assert_allclose(policy.action, expected, atol=1e-6)


def test_a_recorded_motion_is_a_named_input(tmp_path):
    """Law: answer k sees row k of the file, and the last row at the end."""
    motion_network(tmp_path / "policy.onnx")
    rows = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    np.savez(tmp_path / "motion.npz", fps=50, joint_pos=rows[:, ::-1], joint_vel=-rows)
    term = "term: motion, file: motion.npz"
    text = MOTION.replace(
        "{term: clock}", f"{{{term}, array: joint_pos, components: [1, 0], scale: [1, 10]}}"
    ).replace(
        "constant, scale: 0.25", "motion, file: motion.npz, array: joint_vel, components: [0]"
    )
    one, policy = loop(tmp_path, text)
    with one:
        for tick in range(10):
            one.tick()
            if tick % 2 == 0:
                row = rows[min(tick // 2, 2)]
                expected = np.array([0.01, 0.02, 0.0]) * (tick // 2) + [0.0, 0.0, -row[0]]
                np.testing.assert_allclose(policy.action, expected + row @ [1, 10], atol=1e-6)


@pytest.mark.parametrize(
    "entries, fault",
    [
        ("", "`file` and `array` belong to the term `motion`"),
        (", file: none.npz, array: joint_pos", "none.npz"),
        (", file: motion.npz, array: joint_po", "'joint_po' does not exist"),
        (", file: motion.npz, array: fps", "must be rows of finite numbers"),
        (", file: motion.npz, array: joint_pos", "input 'phase' has 2"),
    ],
)
def test_motions_that_do_not_fit_are_named(tmp_path, entries, fault):
    motion_network(tmp_path / "policy.onnx")
    np.savez(tmp_path / "motion.npz", fps=50, joint_pos=np.zeros((4, 3)))
    with pytest.raises(ControllerError, match=fault):
        loop(tmp_path, MOTION.replace("{term: clock}", f"{{term: motion{entries}}}"))


def test_an_input_that_nobody_names_is_no_memory(tmp_path):
    motion_network(tmp_path / "policy.onnx")
    text = MOTION.replace("  time_step: [{term: step}]\n", "")
    with pytest.raises(ControllerError, match="List observed inputs under `inputs`"):
        loop(tmp_path, text)
    with pytest.raises(ControllerError, match="input 'phase' has 2"):
        loop(tmp_path, MOTION.replace("clock", "constant"))


@pytest.mark.parametrize("rows", [1, "rows"])
def test_several_questions_have_the_answers_of_each_alone(tmp_path, rows):
    """The product of matrices, for 1 to 9 questions, bit for bit as one by one."""
    weights = np.random.default_rng(2).normal(size=(40, 12))
    write_linear(tmp_path / "policy.onnx", weights, rows)
    network = open_network(tmp_path / "policy.onnx")
    observed = np.random.default_rng(3).normal(size=(9, 40))
    for count in range(1, 10):
        found = network.answers([Question(one) for one in observed[:count]])
        for answer, one in zip(found, observed):
            np.testing.assert_allclose(answer.action, one @ weights, atol=1e-4)
            np.testing.assert_array_equal(answer.action, network.answer(Question(one)).action)


def test_a_network_in_torchscript_answers_as_its_module_and_forgets_between_runs(tmp_path):
    """Law: the module adds its memory, a buffer that counts the answers."""
    torch = pytest.importorskip("torch")

    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            self.count += 1.0
            return 0.1 * x.sum() * torch.ones(1, 3) + 0.01 * self.count

    torch.jit.script(Counting()).save(str(tmp_path / "policy.pt"))
    text = TEXT.replace("FILTER", "").replace("policy.onnx", "policy.pt")
    one, policy = loop(tmp_path, text)
    with one:
        for run in range(2):
            for tick in range(6):
                one.tick()
                expected = 0.1 + 0.01 * (tick // 2 + 1)
                np.testing.assert_allclose(policy.action, expected, rtol=1e-5, err_msg=str(run))
            one.robot.world.reset()
    (tmp_path / "policy.pt").write_bytes(b"nothing")
    with pytest.raises(ControllerError, match=r"policy\.pt' is not a TorchScript network"):
        loop(tmp_path, text)
