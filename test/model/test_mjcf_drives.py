# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo's actuators with a state, and several on a joint, against its own simulation."""

import numpy as np
import pytest

from hrpsim import World, load_model

mujoco = pytest.importorskip("mujoco")

ARM = """<mujoco><option timestep="%s" integrator="RK4"/><worldbody><body>
  <joint name="j" axis="0 1 0" armature="0.01" damping="0.1"/>
  <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.01 0.01"/></body></worldbody>
  <actuator>%s</actuator></mujoco>"""
COARSE, FINE = "2e-5", "1e-6"  # steps of MuJoCo [s]; it advances exact filters to first order
LAG = '<general joint="j" %s gainprm="3"/>'
SERVO = '<position joint="j" kp="9" kv="0.3"/>'
DRIFT = '<intvelocity name="m" joint="j" kp="9" kv="0.4" %s/>'


def apart(actuators, ctrl, command, start, fine, time_step):
    """Return the largest difference of the joint's angles in 0.1 s; MuJoCo's states begin there."""
    text = ARM % (fine, actuators)
    world = World(time_step, gravity=(0.0, 0.0, -9.81), tolerance=1e-12)
    robot = world.add_robot(load_model(text), q=[start])
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:], data.ctrl[:] = start, ctrl
    data.act[:] = start * model.actuator_gear[0, 0]
    robot.command(**command)
    worst = 0.0
    for _ in range(round(0.1 / time_step)):
        world.step()
        while data.time < world.time - 1e-9:
            mujoco.mj_step(model, data)
        worst = max(worst, abs(data.qpos[0] - robot.q[0]))
    return worst


@pytest.mark.parametrize(
    "actuators, ctrl, command, start, fine",
    [
        ('<position joint="j" kp="9" kv="0.4" timeconst="0.05"/>', 0.8, "positions", 0.2, FINE),
        (LAG % 'dyntype="filter" dynprm="0.1"', 0.8, {"efforts": [2.4]}, 0.0, COARSE),
        (LAG % 'dyntype="filterexact" dynprm="0.03" gear="2"', 0.1, {"efforts": [0.6]}, 0.0, FINE),
        (
            LAG % 'dyntype="filter" dynprm="0.1" biastype="affine" biasprm="0 0 -3"',
            *(0.8, "velocities", 0.0, COARSE),
        ),
        (DRIFT % 'actrange="-9 9"', 0.8, "velocities", 0.3, COARSE),
        (DRIFT % 'actrange="-0.03 0.03" gear="2"', 0.8, {"velocities": [0.4]}, 0.0, FINE),
        (
            '<motor joint="j" gear="2"/><motor joint="j"/>',
            *([0.3, 0.5], {"efforts": [1.1]}, 0.1, COARSE),
        ),
        (
            SERVO + '<motor joint="j"/>',
            *([0.3, 0.5], {"positions": [0.3], "efforts": [0.5]}, 0.1, COARSE),
        ),
        (
            SERVO + '<velocity joint="j" kv="0.7" gear="2"/>',
            *([0.3, 0.5], {"positions": [0.3], "velocities": [0.25]}, 0.1, COARSE),
        ),
        (SERVO + '<position joint="j" kp="3"/>', *([0.3, 0.5], {"positions": [0.35]}, 0.1, COARSE)),
    ],
)
def test_states_and_sums_move_as_in_mujoco(actuators, ctrl, command, start, fine):
    """Law: of second order in the step, as far as MuJoCo's own error allows."""
    command = {command: [ctrl]} if isinstance(command, str) else command
    errors = [apart(actuators, ctrl, command, start, fine, dt) for dt in (1e-3, 2e-4)]
    assert errors[1] < 1e-6
    assert errors[1] < 0.1 * errors[0] or errors[0] < 2e-6


@pytest.mark.parametrize(
    "actuators, interfaces, gains",
    [
        (SERVO + '<motor joint="j"/>', ("position", "effort"), (9.0, 0.3)),
        (SERVO + SERVO.replace("9", "3"), ("position",), (12.0, 0.6)),
        (SERVO + '<velocity joint="j" kv="2"/>', ("position", "velocity"), (9.0, 2.0)),
        (DRIFT % 'actrange="-9 9"', ("velocity",), (9.0, 0.0)),
    ],
)
def test_gains_of_several_actuators_add_up(actuators, interfaces, gains):
    """Law: gains add up; the damping of a servo without a rate is damping of the joint."""
    model = load_model(ARM % (COARSE, actuators))
    assert model.command_interfaces == {"j": interfaces}
    assert model.gains == {"j": pytest.approx(gains)}


@pytest.mark.parametrize(
    "actuators, reason",
    [
        (SERVO + DRIFT % 'actrange="-1 1"', "a second on a joint"),
        (SERVO + '<position name="m" joint="j" kp="3" timeconst="0.1"/>', "a second on a joint"),
        ('<general name="m" joint="j" dyntype="integrator"/>', "without a servo"),
        (DRIFT % 'actrange="-1 1" forcerange="-3 3"', "its damping is not bounded"),
        ('<motor joint="j" ctrlrange="-1 1"/>' + SERVO.replace("p", 'p name="m"', 0), "bounds"),
        (LAG.replace("general", 'general name="m"') % 'dyntype="muscle"', "internal state"),
        (
            LAG.replace("general", 'general name="m"')
            % 'dyntype="filter" dynprm="1" actearly="true"',
            "actearly",
        ),
    ],
)
def test_what_is_not_simulated_is_named(actuators, reason):
    """Law: a note names the effect that is left out."""
    model = load_model(ARM % (COARSE, actuators))
    assert any(reason in note for note in model.not_simulated)


@pytest.mark.parametrize(
    "actuators, ctrl",
    [
        ('<position joint="j" kp="9" kv="0.4" timeconst="0.05"/>', [0.8]),
        (DRIFT % 'actrange="-9 9"', [0.8]),
        (SERVO + '<position joint="j" kp="3"/><motor joint="j"/>', [0.3, 0.5, 0.4]),
    ],
)
def test_a_script_for_mujoco_commands_them(actuators, ctrl):
    """Law: the same ctrl moves the joint alike."""
    from hrpsim.bridges import mujoco as bridged

    text = ARM % ("1e-4", actuators)
    model, other = mujoco.MjModel.from_xml_string(text), bridged.MjModel.from_xml_string(text)
    data, ours = mujoco.MjData(model), bridged.MjData(other)
    for one in (data, ours):
        one.ctrl[:] = ctrl
    for _ in range(1000):
        mujoco.mj_step(model, data)
        bridged.mj_step(other, ours)
    np.testing.assert_allclose(ours.qpos, data.qpos, atol=2e-4)
    assert abs(data.qpos[0]) > 0.01
