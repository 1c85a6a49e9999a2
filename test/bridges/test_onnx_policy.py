# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Policies in ONNX: what they observe, what their actions mean, how often, and errors."""

import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import hrpsim
from hrpsim import share_path
from hrpsim.bridges.policy_description import read_policy
from hrpsim.bridges.policy_terms import TERMS, PolicyReadings
from hrpsim.control import ControllerError, ControlLoop, ImuReading

JOINTS = ["RLEG_JOINT3", "LLEG_JOINT3"]
TEXT = f"""\
policy: policy.onnx
period: 0.005
decimation: 4
joints: {JOINTS}
default: [0.87, 0.87]
kp: 1000.0
kd: [20.0, 20.0]
action: {{scale: [0.1, 0.2], clip: 1.0}}
observations:
  - {{term: angular_velocity, scale: 0.5, history: 2}}
  - {{term: gravity, history: 2}}
  - {{term: command, history: 2}}
  - {{term: joint_positions, history: 2}}
  - {{term: joint_velocities, scale: [0.1, 0.2], history: 2}}
  - {{term: last_action, history: 2}}
"""
SIZE = 2 * (3 + 3 + 3 + 2 + 2 + 2)


@pytest.fixture
def description(tmp_path):
    file = tmp_path / "policy.yaml"
    file.write_text(TEXT)
    return file


def network(path, weights):
    """Write the network action = observation W."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    weights = np.asarray(weights, dtype=np.float32)
    size, count = weights.shape
    observation = helper.make_tensor_value_info("obs", TensorProto.FLOAT, [1, size])
    action = helper.make_tensor_value_info("actions", TensorProto.FLOAT, [1, count])
    node = helper.make_node("MatMul", ["obs", "W"], ["actions"])
    named = [numpy_helper.from_array(weights, "W")]
    graph = helper.make_graph([node], "policy", [observation], [action], named)
    opset = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


@pytest.fixture
def policy(description):
    pytest.importorskip("onnxruntime")
    from hrpsim.bridges import OnnxPolicy

    class Watched(OnnxPolicy):
        """Writes down what the network is asked and when."""

        def prepare(self, state):
            self.seen = state
            return super().prepare(state)

        def take(self, answer):
            super().take(answer)
            pasts = [list(past) for past in self._actor.pasts]
            self.asked.append((self.seen, pasts, self.action.copy()))

    weights = np.random.default_rng(0).normal(size=(SIZE, 2))
    network(description.with_name("policy.onnx"), weights)
    watched = Watched()
    watched.asked, watched.weights = [], weights
    return watched


def test_the_network_sees_its_terms_in_order_and_acts_every_fourth_period(policy, description):
    world = hrpsim.load_world(share_path("config/stand.yaml"))
    robot = world.robots["hrp2"]
    given = {"description": str(description), "commands": [[0.0, 0.1, 0.0, 0.0], [0.02, 0, 0, 1]]}
    told = []
    with ControlLoop(robot, policy, given, interpolate=False) as loop:
        at = [loop.joint_names.index(name) for name in JOINTS]
        for _ in range(12):
            state = loop.tick()
            q, rate = state.joint_positions[at], state.joint_velocities[at]
            target = np.array([0.87, 0.87]) + [0.1, 0.2] * policy.action
            told.append(1000.0 * (target - q) - 20.0 * rate)
            control = robot._control()["effort"][[robot.model.joint(n).v_index for n in JOINTS]]
            np.testing.assert_allclose(control, told[-1], rtol=1e-12)
    assert [round(state.time, 4) for state, *_ in policy.asked] == [0.0, 0.02, 0.04]
    state, pasts, action = policy.asked[1]
    before = policy.asked[0]
    imu = state.imus["imu"]
    np.testing.assert_allclose(pasts[0][1], 0.5 * imu.angular_velocity)
    np.testing.assert_allclose(pasts[0][0], before[1][0][1])
    np.testing.assert_allclose(pasts[1][1], [0.0, 0.0, -1.0], atol=0.02)
    np.testing.assert_array_equal(pasts[2], [[0.1, 0.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(pasts[3][1], state.joint_positions[at] - 0.87)
    np.testing.assert_allclose(pasts[4][1], [0.1, 0.2] * state.joint_velocities[at])
    np.testing.assert_allclose(pasts[5][1], before[2])
    observed = np.concatenate([value for past in pasts for value in past])
    np.testing.assert_allclose(
        action, np.clip(observed @ policy.weights, -1.0, 1.0), rtol=1e-4, atol=1e-5
    )


def test_two_runs_are_the_same_bits(policy, description):
    courses = []
    for _ in range(2):
        world = hrpsim.load_world(share_path("config/stand.yaml"))
        robot = world.robots["hrp2"]
        ControlLoop(robot, policy, {"description": str(description)}).run(0.2)
        courses.append(robot.q)
    np.testing.assert_array_equal(*courses)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("term: gravity", "term: gravitation", "'gravitation' does not exist. Did you mean"),
        (
            "kd: [20.0, 20.0]",
            "kd: [20.0]",
            r"policy.yaml:7:.*kd: must be one number, or 2 numbers, .*got 1",
        ),
        ("period: 0.005", "period: fast", "policy.yaml:2:.*period: must be a number"),
        ("joints: ['RLEG_JOINT3', ", "joints: ['LLEG_JOINT3', ", "'LLEG_JOINT3' is named twice"),
        ("policy: policy.onnx\n", "", "missing entry: policy"),
        ("term: gravity", "term: encoding", "`encoder` and the term `encoding` go together"),
        ("decimation: 4", "decimation: 0", "a whole number from 1"),
    ],
)
def test_mistakes_of_a_description_are_named_with_their_lines(description, old, new, message):
    assert old in TEXT
    description.write_text(TEXT.replace(old, new))
    with pytest.raises(ControllerError, match=message):
        read_policy(description)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("RLEG_JOINT3", "RLEG_JOINT9", "joint 'RLEG_JOINT9' does not exist"),
        (
            "scale: [0.1, 0.2], history",
            "scale: [0.1], history",
            "joint_velocities: scale must be one number or 2, got 1",
        ),
        ("  - {term: gravity, history: 2}\n", "", "have 24 numbers, .* 'obs' has 30"),
        (
            "term: gravity",
            "term: gravity, components: [3]",
            "component 3 does not exist. The term has 3",
        ),
        ("policy.onnx", "other.onnx", "other.onnx' does not exist"),
        ("policy.onnx", "policy.yaml", "is not a network"),
    ],
)
def test_what_does_not_fit_the_robot_is_named(policy, description, old, new, message):
    description.write_text(TEXT.replace(old, new))
    robot = hrpsim.load_world(share_path("config/stand.yaml")).robots["hrp2"]
    with pytest.raises(ControllerError, match=message):
        ControlLoop(robot, policy, {"description": str(description)})


def recurrent(path, lengths):
    """Write a network that answers its memory, both numbers of it, and adds 0.25 to that."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    def info(name, length):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, length])

    nodes = [
        helper.make_node("Identity", ["memory"], ["actions"]),
        helper.make_node("Add", ["memory", "more"], ["remembered"]),
    ]
    taken, given = lengths
    inputs, outputs = (
        [info("obs", SIZE), info("memory", taken)],
        [info("actions", 2), info("remembered", given)],
    )
    more = [numpy_helper.from_array(np.float32([[0.25, -0.25]]), "more")]
    graph = helper.make_graph(nodes, "policy", inputs, outputs, more)
    opset = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


def test_a_recurrent_network_remembers_from_zero_in_each_run(policy, description):
    recurrent(description.with_name("policy.onnx"), (2, 2))
    robot = hrpsim.load_world(share_path("config/stand.yaml")).robots["hrp2"]
    loop = ControlLoop(robot, policy, {"description": str(description)})
    for _ in range(9):
        loop.tick()
    robot.world.reset()
    loop.tick()
    loop.stop()
    answers = [action.tolist() for *_, action in policy.asked]
    assert answers == [[0.0, 0.0], [0.25, -0.25], [0.5, -0.5], [0.0, 0.0]]


def lstm(path, cells=4, seed=0):
    """Write an LSTM and what it answers to: W (4n, SIZE), R (4n, n), b (4n,), V (n, 2).

    Gates stand in ONNX's order: input, output, forget, cell. Its memory is h and c (1, 1, n).
    """
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    rng, gates = np.random.default_rng(seed), 4 * cells
    shapes = {"W": (gates, SIZE), "R": (gates, cells), "b": (gates,), "V": (cells, 2)}
    weights = {name: np.float32(rng.normal(size=shape)) for name, shape in shapes.items()}
    given = [numpy_helper.from_array(weights[name][None], name) for name in "WR"]
    bias = np.concatenate([weights["b"], np.zeros(gates, np.float32)])  # ONNX has two
    given += [numpy_helper.from_array(bias[None], "b"), numpy_helper.from_array(weights["V"], "V")]
    given += [numpy_helper.from_array(np.int64([1]), "one")]

    def info(name, *shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    inputs = [info("obs", 1, SIZE), info("h", 1, 1, cells), info("c", 1, 1, cells)]
    outputs = [info("actions", 1, 2), info("h_out", 1, 1, cells), info("c_out", 1, 1, cells)]
    asked = ["step", "W", "R", "b", "", "h", "c"]
    nodes = [
        helper.make_node("Unsqueeze", ["obs", "one"], ["step"]),
        helper.make_node("LSTM", asked, ["", "h_out", "c_out"], hidden_size=cells),
        helper.make_node("Squeeze", ["h_out", "one"], ["flat"]),
        helper.make_node("MatMul", ["flat", "V"], ["actions"]),
    ]
    graph = helper.make_graph(nodes, "policy", inputs, outputs, given)
    opset = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return weights


def test_an_lstm_answers_as_its_equations_say(policy, description):
    """Law: c = f c + i g, h = o tanh c, gates of W x + R h + b (Hochreiter, Gers); action = V h."""
    weights = lstm(description.with_name("policy.onnx"))
    robot = hrpsim.load_world(share_path("config/stand.yaml")).robots["hrp2"]
    with ControlLoop(robot, policy, {"description": str(description)}) as loop:
        for _ in range(40):
            loop.tick()
    h = c = np.zeros(4)
    for _, pasts, action in policy.asked:
        seen = np.concatenate([value for past in pasts for value in past])
        sums = weights["W"] @ seen + weights["R"] @ h + weights["b"]
        i, o, f = 1.0 / (1.0 + np.exp(-sums[:12].reshape(3, 4)))
        c = f * c + i * np.tanh(sums[12:])
        h = o * np.tanh(c)
        np.testing.assert_allclose(action, np.clip(h @ weights["V"], -1.0, 1.0), atol=1e-5)
    assert len(policy.asked) == 10 and np.ptp([a for *_, a in policy.asked], axis=0).min() > 0.01


def test_a_memory_must_come_back_as_it_was_given(policy, description):
    recurrent(description.with_name("policy.onnx"), ("any", 2))
    robot = hrpsim.load_world(share_path("config/stand.yaml")).robots["hrp2"]
    message = r"must be the network's memory. Each must have a fixed shape.*memory \[1, 'any'\]"
    with pytest.raises(ControllerError, match=message):
        ControlLoop(robot, policy, {"description": str(description)})


def test_the_clock_of_a_gait(policy, description):
    description.write_text(
        TEXT.replace("term: gravity", "term: clock").replace("decimation: 4", "frequency: 12.5")
    )
    network(description.with_name("policy.onnx"), np.zeros((SIZE - 2, 2)))
    robot = hrpsim.load_world(share_path("config/stand.yaml")).robots["hrp2"]
    with ControlLoop(robot, policy, {"description": str(description)}) as loop:
        for _ in range(5):
            loop.tick()
    clocks = [pasts[1][1] for _, pasts, _ in policy.asked]
    half = np.sqrt(0.5)
    expected = [[0.0, 1.0], [np.sin(np.pi / 8), np.cos(np.pi / 8)], [half, half]]
    np.testing.assert_allclose(clocks[:3], expected, atol=1e-12)
    np.testing.assert_allclose(clocks[4], [1.0, 0.0], atol=1e-12)


def readings(count=2, **changed):
    """Return what terms are made of, turned by roll 0.3, pitch -0.2, yaw 0.5."""
    x, y, z = (np.array(half) / 2 for half in (0.3, -0.2, 0.5))
    (a, b, c), (d, e, f) = np.sin([x, y, z]), np.cos([x, y, z])  # R = Rz Ry Rx
    turned = np.array(
        [a * e * f - d * b * c, d * b * f + a * e * c, d * e * c - a * b * f, d * e * f + a * b * c]
    )
    rest = PolicyReadings.at_rest(count)
    imu = ImuReading(turned, np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]))
    return replace(rest, imu=imu, **changed)


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("{term: euler}", [0.3, -0.2, 0.5]),
        ("{term: euler, components: [1]}", [-0.2]),
        ("{term: acceleration, scale: 0.5}", [2.0, 2.5, 3.0]),
        ("{term: constant, scale: [0.0, 0.75]}", [0.0, 0.75]),
        ("{term: command, components: [2, 0], scale: [2.0, 1.0]}", [0.6, 0.1]),
        ("{term: clock, components: [1, 0]}", [np.cos(0.4), np.sin(0.4)]),
        ("{term: phase, components: [2, 3, 0]}", [np.sin(0.4), np.sin(1.0), np.cos(0.4)]),
        ("{term: joint_positions, components: [1, 0]}", [0.2, 0.1]),
    ],
)
def test_terms_are_what_they_say(description, term, expected):
    """Law: a term is its components times their scales; angles are those of R = Rz Ry Rx."""
    description.write_text(TEXT.partition("observations")[0] + f"observations: [{term}]\n")
    (one,) = read_policy(description).observation.terms
    values = readings(
        command=np.array([0.1, 0.2, 0.3]),
        phases=np.array([0.4, 1.0]),
        joint_positions=np.array([0.1, 0.2]),
    )
    np.testing.assert_allclose(one.value(values), expected, atol=1e-12)


def test_the_quaternion_may_begin_with_its_real_part(description):
    term = "observations: [{term: orientation, components: [3, 0, 1, 2]}]\n"
    description.write_text(TEXT.partition("observations")[0] + term)
    (one,) = read_policy(description).observation.terms
    w, x, y, z = one.value(readings())
    gravity = -np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
    expected = TERMS["gravity"](readings())
    np.testing.assert_allclose(gravity, expected, atol=1e-12)


def test_histories_begin_with_zeros(policy, description):
    description.write_text(TEXT.replace("period", "history_from_zero: true\nperiod", 1))
    robot = hrpsim.load_world(share_path("config/stand.yaml")).robots["hrp2"]
    with ControlLoop(robot, policy, {"description": str(description)}) as loop:
        loop.tick()
    _, pasts, _ = policy.asked[0]
    assert all(np.all(past[0] == 0.0) for past in pasts) and pasts[1][1][2] < -0.9


def test_a_standing_robot_has_both_phases_at_pi(policy, description):
    text = TEXT.replace("term: gravity", "term: clock").replace("decimation: 4", "frequency: 12.5")
    description.write_text(text.replace("period", "standing_below: 0.05\nperiod", 1))
    network(description.with_name("policy.onnx"), np.zeros((SIZE - 2, 2)))
    robot = hrpsim.load_world(share_path("config/stand.yaml")).robots["hrp2"]
    given = {"description": str(description), "commands": [[0.01, 0.1, 0.0, 0.0]]}
    with ControlLoop(robot, policy, given) as loop:
        for _ in range(4):
            loop.tick()
    clocks = [pasts[1][1] for _, pasts, _ in policy.asked]
    step = 2.0 * np.pi * 12.5 * 0.005  # from the last time of standing
    expected = [
        [0, -1],
        [0, -1],
        [np.sin(step), np.cos(step)],
        [np.sin(2 * step), np.cos(2 * step)],
    ]
    np.testing.assert_allclose(clocks, expected, atol=1e-12)


def test_an_encoder_answers_a_part_of_the_observation(policy, description):
    """Law: action = W2 [gravity, W1 history of velocities], by products of matrices."""
    text = """\
encoder:
  network: encoder.onnx
  observations: [{term: joint_velocities, history: 3}]
observations: [{term: gravity}, {term: encoding, scale: 2.0, components: [2, 1]}]
"""
    description.write_text(TEXT.partition("observations")[0] + text)
    rng = np.random.default_rng(3)
    encoder, actor = rng.normal(size=(6, 3)), rng.normal(size=(5, 2))
    network(description.with_name("encoder.onnx"), encoder)
    network(description.with_name("policy.onnx"), actor)
    robot = hrpsim.load_world(share_path("config/stand.yaml")).robots["hrp2"]
    rates = []
    with ControlLoop(robot, policy, {"description": str(description)}) as loop:
        at = [loop.joint_names.index(name) for name in JOINTS]
        for _ in range(12):
            loop.tick()
    for state, pasts, action in policy.asked:
        rates.append(state.joint_velocities[at])
        history = np.concatenate([*[rates[0]] * 3, *rates][-3:])
        seen = np.concatenate([pasts[0][-1], 2.0 * (history @ encoder)[[2, 1]]])
        np.testing.assert_allclose(action, np.clip(seen @ actor, -1.0, 1.0), atol=1e-5)


def described(description, taken, answered, nodes, given=()):
    """Write a network of these nodes, and a description of a policy that observes five numbers."""
    from onnx import helper, numpy_helper

    description.write_text(TEXT.partition("observations")[0] + OBSERVED)
    weights = numpy_helper.from_array(np.full((5, 2), 0.1, np.float32), "W")
    product = helper.make_node("MatMul", ["obs", "W"], ["actions"])
    graph = helper.make_graph([product, *nodes], "policy", taken, answered, [weights, *given])
    opset = [helper.make_opsetid("", 13)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    path = description.with_name("policy.onnx")
    path.write_bytes(model.SerializeToString())


OBSERVED = "observations: [{term: gravity}, {term: joint_positions}]\n"


def of(name, *shape, kind=1):  # kind of numbers: onnx.TensorProto.FLOAT
    from onnx import helper

    return helper.make_tensor_value_info(name, kind, shape)


def odd_networks():
    """Return what networks may be that onnxruntime reads and no policy is: inputs, outputs, nodes.

    TensorProto has 7 for int64, 8 for texts, 11 for float64.
    """
    pytest.importorskip("onnx")
    from onnx import helper, numpy_helper

    make, answer, index = helper.make_node, of("actions", 1, 2), numpy_helper.from_array
    beyond = index(np.int64([7]), "k")
    sequence = helper.make_tensor_sequence_value_info("s", 1, [1, 2])
    return {
        "rank 1": ([of("obs", 5)], [of("actions", 2)], []),
        "rank 3": ([of("obs", 1, 1, 5)], [of("actions", 1, 1, 2)], []),
        "rank 0": ([of("obs")], [answer], []),
        "texts": (
            [of("obs", 1, 5)],
            [of("s", 1, 2, kind=8)],
            [make("Cast", ["actions"], ["s"], to=8)],
        ),
        "a sequence": (
            [of("obs", 1, 5)],
            [sequence],
            [make("SequenceConstruct", ["actions"], ["s"])],
        ),
        "index": (
            [of("obs", 1, 5)],
            [of("out", 1, 1)],
            [make("Gather", ["actions", "k"], ["out"], axis=1)],
            [beyond],
        ),
        "no number": (
            [of("obs", 1, 5)],
            [of("out", 1, 2)],
            [
                make("Log", ["m"], ["out"]),
                make("Sub", ["actions", "actions"], ["n"]),
                make("Sub", ["n", "one"], ["m"]),
            ][::-1],
            [index(np.float32([1.0]), "one")],
        ),
        "memory of int64": (
            [of("obs", 1, 5), of("m", 1, 2, kind=7)],
            [answer, of("out", 1, 2, kind=7)],
            [make("Identity", ["m"], ["out"])],
        ),
        "endless memory": (
            [of("obs", 1, 5), of("m", 10**6, 10**6)],
            [answer, of("out", 10**6, 10**6)],
            [make("Identity", ["m"], ["out"])],
        ),
    }


ODD = ("rank 1", "rank 3", "rank 0", "texts", "a sequence", "index", "no number")


@pytest.mark.parametrize("name", [*ODD, "memory of int64", "endless memory"])
def test_what_is_no_policy_is_an_error_with_its_file(policy, description, name):
    """Law: whatever onnxruntime raises is a ControllerError that names a file."""
    described(description, *odd_networks()[name])
    robot = hrpsim.load_world(share_path("config/stand.yaml")).robots["hrp2"]
    with pytest.raises(ControllerError, match=r"policy\.(onnx|yaml)"):
        ControlLoop(robot, policy, {"description": str(description)}).tick()


ENDLESS = """
import sys
import hrpsim
from hrpsim import share_path
from hrpsim.bridges import OnnxPolicy
from hrpsim.control import ControlLoop

class Policy(OnnxPolicy):
    def prepare(self, state):
        print("begins", flush=True)
        return super().prepare(state)

robot = hrpsim.load_world(share_path("config/stand.yaml")).robots["hrp2"]
with ControlLoop(robot, Policy(), {"description": sys.argv[1]}) as loop:
    try:
        loop.tick()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def test_a_network_without_end_can_be_interrupted(policy, description):
    """Law: SIGINT raises KeyboardInterrupt while a network computes, and its thread ends."""
    from onnx import helper, numpy_helper

    passed = [helper.make_node("Identity", [a], [b]) for a, b in ("cd", "xy")]
    taken = [of("i", kind=7), of("c", kind=9), of("x", 1, 2)]
    body = helper.make_graph(passed, "body", taken, [of("d", kind=9), of("y", 1, 2)])
    loop = helper.make_node("Loop", ["", "true", "actions"], ["out"], body=body)
    true = numpy_helper.from_array(np.array(True), "true")
    described(description, [of("obs", 1, 5)], [of("out", 1, 2)], [loop], [true])
    command = [sys.executable, "-c", ENDLESS, str(description)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "begins\n"
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=100)[0] == "interrupted\n"
        finally:
            process.kill()
    assert process.returncode == 0
