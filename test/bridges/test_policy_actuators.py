# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Actuators of policies: delays, torque-speed curves and learned torques, by closed forms."""

import numpy as np
import pytest
from bridges.networks import write_linear

import hrpsim
from hrpsim.bridges.policy_actuators import PolicyActuators
from hrpsim.bridges.policy_check import check_policy
from hrpsim.bridges.policy_description import read_policy
from hrpsim.control import ControllerError

POLICY = """policy: policy.onnx
period: 0.005
joints: [a, b, c]
default: 0.0
kp: 10.0
observations: [{term: gravity}]
"""


def actuators(folder, entries):
    """Return the actuators of a description with these entries."""
    (folder / "policy.yaml").write_text(f"{POLICY}actuators: [{entries}]\n")
    found = PolicyActuators(read_policy(folder / "policy.yaml").actuators)
    found.reset()
    return found


def efforts(model, ideal, rates):
    return model.efforts(np.array(ideal), np.zeros(3), np.array(rates)).tolist()


def test_a_direct_current_motor_is_bounded_by_its_line(tmp_path):
    """Law: |u| <= 8, and u between 10 (-1 - v / 20) and 10 (1 - v / 20), also beyond 20 rad/s."""
    model = actuators(tmp_path, "{effort_limit: 8, saturation_effort: 10, velocity_limit: 20}")
    assert efforts(model, [100.0] * 3, [0.0, 10.0, 20.0]) == [8.0, 5.0, 0.0]
    assert efforts(model, [-100.0] * 3, [0.0, 10.0, -10.0]) == [-8.0, -8.0, -5.0]
    assert efforts(model, [100.0] * 3, [30.0, 1e3, -1e3]) == pytest.approx([-5.0, -8.0, 8.0])
    assert efforts(model, [1.0] * 3, [-20.0, 5.0, 15.0]) == [1.0, 1.0, 1.0]


def test_a_limit_binds_its_joints_alone(tmp_path):
    model = actuators(tmp_path, "{joints: [c, a], effort_limit: 2}")
    assert efforts(model, [5.0, 5.0, -5.0], [0.0] * 3) == [2.0, 5.0, -2.0]


def test_targets_act_after_the_delay(tmp_path):
    """Law: the target of period k acts in period k + 2, and the first one until then."""
    model = actuators(tmp_path, "{joints: [b], delay: 2}")
    given = [np.full(3, float(k)) for k in range(5)]
    assert [model.delayed(one).tolist()[1] for one in given] == [0.0, 0.0, 0.0, 1.0, 2.0]
    model.reset()
    assert [model.delayed(one + 7.0).tolist() for one in given[:2]] == [[7.0] * 3, [8.0, 7.0, 8.0]]


@pytest.mark.parametrize("rows", [1, "rows"])
@pytest.mark.parametrize("first", ["position", "velocity"])
def test_a_network_reads_errors_and_velocities_of_its_ages(tmp_path, rows, first):
    """Law: 3 (w . [2 e_0, 2 e_2, v_0 / 2, v_2 / 2]), with zeros before the start."""
    pytest.importorskip("onnxruntime")
    weights = np.array([1.0, 10.0, 100.0, 1000.0])
    order = weights if first == "position" else weights[[2, 3, 0, 1]]
    write_linear(tmp_path / "motor.onnx", order[:, None], rows)
    scales = "position_scale: 2, velocity_scale: 0.5, torque_scale: 3"
    model = actuators(
        tmp_path,
        f"{{joints: [a, c], network: motor.onnx, history: [0, 2], first: {first}, {scales}}}",
    )
    chance = np.random.default_rng(0)
    e, v = chance.normal(size=(2, 5, 3))
    for k in range(5):
        before = (e[k - 2], v[k - 2]) if k >= 2 else (np.zeros(3), np.zeros(3))
        inputs = np.array([2 * e[k], 2 * before[0], v[k] / 2, before[1] / 2])
        expected = 3.0 * weights @ inputs
        expected[1] = 7.0
        found = model.efforts(np.full(3, 7.0), e[k], v[k])
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-4)


def test_a_recurrent_network_has_a_memory_for_each_joint(tmp_path):
    torch = pytest.importorskip("torch")

    class Motor(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = torch.nn.LSTM(2, 4, num_layers=2, batch_first=True)
            self.out = torch.nn.Linear(4, 1)

        def forward(self, x, state: tuple[torch.Tensor, torch.Tensor]):
            y, state = self.lstm(x, state)
            return self.out(y[:, -1]), state

    torch.manual_seed(0)
    motor = Motor().eval()
    torch.jit.script(motor).save(str(tmp_path / "motor.pt"))
    model = actuators(tmp_path, "{network: motor.pt}")
    e, v = np.random.default_rng(1).normal(size=(2, 6, 3))
    for _ in range(2):
        found = np.array([model.efforts(np.zeros(3), e[k], v[k]) for k in range(6)])
        whole = torch.tensor(np.stack([e, v], axis=-1).swapaxes(0, 1), dtype=torch.float32)
        with torch.no_grad():
            alone = motor.out(motor.lstm(whole)[0])[..., 0].numpy().T
        np.testing.assert_allclose(found, alone, atol=1e-6)
        model.reset()


@pytest.mark.parametrize(
    "entries, fault",
    [
        ("{saturation_effort: 5}", "give both saturation_effort and velocity_limit, or neither"),
        ("{history: [0]}", "history needs a network"),
        ("{joints: [a]}, {delay: 1}", "joint 'a' has two actuators"),
        ("{joints: [d]}", "joint 'd' does not exist"),
        ("{network: none.onnx}", "'.*none.onnx' does not exist"),
        ("{delay: -1}", "actuators.0.delay"),
    ],
)
def test_entries_that_do_not_fit_are_named(tmp_path, entries, fault):
    with pytest.raises(ControllerError, match=fault):
        actuators(tmp_path, entries)


def test_check_policy_names_limits_that_the_robot_does_not_have(tmp_path):
    """The joints of the robot bear 5 Nm: the smaller limit holds."""
    pytest.importorskip("onnxruntime")
    write_linear(tmp_path / "policy.onnx", np.zeros((3, 3)))
    joint = (
        '<link name="l{0}"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="{0}" type="revolute">'
        '<parent link="base"/><child link="l{0}"/><axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" velocity="9" effort="5"/></joint>'
    )
    text = f'<robot name="r"><link name="base"/>{"".join(map(joint.format, "abc"))}</robot>'
    actuators(tmp_path, "{joints: [a], effort_limit: 4}, {joints: [c], effort_limit: 6}")
    world = hrpsim.World(time_step=0.001)
    robot = world.add_robot(hrpsim.load_model(text, base="fixed"))
    found = [line for line in check_policy(tmp_path / "policy.yaml", robot) if "actuators" in line]
    assert len(found) == 1 and "'c'" in found[0] and "6" in found[0]


def test_a_network_needs_targets_of_position(tmp_path):
    text = f"{POLICY}action: {{effort: [a]}}\nactuators: [{{network: motor.onnx}}]\n"
    (tmp_path / "policy.yaml").write_text(text)
    with pytest.raises(ControllerError, match="joints that are commanded by position"):
        read_policy(tmp_path / "policy.yaml")
