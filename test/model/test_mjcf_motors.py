# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""PID servos and DC motors of MuJoCo 4, against its own simulation in steps of 10 us."""

import numpy as np
import pytest

from hrpsim import World, load_model

mujoco = pytest.importorskip("mujoco", minversion="4.0.0")

ARM = """<mujoco><option timestep="1e-5" integrator="RK4"/><worldbody><body>
  <joint name="j" axis="0 1 0" armature="0.01" damping="0.1"/>
  <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.01 0.01"/></body></worldbody>
  <actuator>%s</actuator></mujoco>"""
MOTOR = '<dcmotor name="m" joint="j" motorconst="0.5" resistance="2" %s/>'
CONTROLLED = MOTOR % 'controller="8 0 0.3 0 0 6" input="pos vel ff" gear="2" %s'


def arm(actuator, slews=False, **options):
    """Return the world, the robot, MuJoCo's model and its data, in one state."""
    world = World(gravity=(0.0, 0.0, -9.81), **options)
    robot = world.add_robot(load_model(ARM % actuator), q=[0.3])
    model = mujoco.MjModel.from_xml_string(ARM % actuator)
    data = mujoco.MjData(model)
    data.qpos[:] = 0.3
    if slews:
        model.opt.timestep = 1e-6
        data.act[0] = model.actuator_gear[0, 0] * 0.3
    return world, robot, model, data


def apart(actuator, ctrl, command, time_step, slews=False):
    """Return the largest difference of the joint's angles."""
    world, robot, model, data = arm(actuator, slews, time_step=time_step, tolerance=1e-12)
    robot.command(**command)
    data.ctrl[:] = ctrl
    worst = 0.0
    for _ in range(round(0.2 / time_step)):
        world.step()
        while data.time < world.time - 1e-9:
            mujoco.mj_step(model, data)
        worst = max(worst, abs(data.qpos[0] - robot.q[0]))
    return worst


@pytest.mark.parametrize(
    "actuator, ctrl, command",
    [
        (
            '<pid joint="j" kp="9" kv="0.4" input="pos vel ff" gear="2"/>',
            [0.8, 0.3, 0.5],
            {"positions": [0.4], "velocities": [0.15], "efforts": [1.0]},
        ),
        ('<pid joint="j" kp="9" kv="0.4" input="pos"/>', [0.8], {"positions": [0.8]}),
        ('<pid joint="j" kp="0" kv="2" input="vel"/>', [0.8], {"velocities": [0.8]}),
        (
            CONTROLLED % "",
            [0.8, 0.3, 0.5],
            {"positions": [0.4], "velocities": [0.15], "efforts": [1.0]},
        ),
        (CONTROLLED % "", [-9.0, 0.0, 0.0], {"positions": [-4.5]}),
        (CONTROLLED % 'saturation="1 0 0"', [-9.0, 0.0, 0.0], {"positions": [-4.5]}),
        (MOTOR % "", [3.0], {"efforts": [0.75]}),
        ('<pid joint="j" kp="9" kv="0.4" ki="90" gear="2"/>', [0.8, 0.0], {"positions": [0.4]}),
        ('<pid joint="j" kp="9" ki="90" imax="0.02"/>', [0.8, 0.0], {"positions": [0.8]}),
    ],
)
def test_pid_servos_and_dc_motors_move_as_in_mujoco(actuator, ctrl, command):
    """Law: of second order in the step; the motor at -9 is at its voltage, or torque, limit."""
    errors = [apart(actuator, ctrl, command, dt) for dt in (1e-3, 5e-4)]
    assert errors[0] < 5e-5
    assert errors[1] < 0.35 * errors[0]


@pytest.mark.parametrize(
    "actuator, ctrl",
    [
        ('<pid joint="j" kp="9" ki="90" slewmax="3" gear="2"/>', [1.8, 0.0]),
        (MOTOR % 'controller="8 60 0.3 4 0.03 0" input="pos" gear="2"', [1.8]),
    ],
)
def test_targets_move_at_the_slew_rate_as_in_mujoco(actuator, ctrl):
    """Law: the servo follows a ramp; MuJoCo's is of first order, so it takes steps of 1 us."""
    errors = [apart(actuator, ctrl, {"positions": [0.9]}, dt, True) for dt in (2e-3, 1e-3)]
    assert errors[1] < 5e-5
    assert errors[1] < 0.4 * errors[0]


def test_a_dc_motor_turns_against_the_friction_of_lugre():
    """Law: in steady turning LuGre friction is Fc + (Fs - Fc) exp(-(v / vs)^2)."""
    text = MOTOR % 'lugre="1000 1 0.1 0.3 0.5" controller="0 0 0 0 0 0" input="ff" gear="2"'
    world, robot, model, data = arm(text, time_step=1e-3, tolerance=1e-12)
    world.gravity, model.opt.gravity[:] = (0.0, 0.0, 0.0), 0.0
    assert any("lugre" in note for note in robot.model.not_simulated)
    robot.command(efforts=[0.7])
    data.ctrl[:] = 0.35
    model.opt.timestep = 1e-4
    world.step(3000)
    for _ in range(30000):
        mujoco.mj_step(model, data)
    assert robot.v[0] == pytest.approx(data.qvel[0], rel=1e-5)
    assert robot.v[0] > 1.0


@pytest.mark.parametrize(
    "actuator, reason",
    [
        ('<pid name="m" joint="j" kp="0" ki="3"/>', "integral"),
        ('<pid name="m" joint="j" kp="9" input="vel"/>', "without their input"),
        (MOTOR % 'inductance="0.01"', "inductance"),
        (MOTOR % 'cogging="0.1 6 0"', "cogging"),
        (MOTOR % 'thermal="10 5 0 0.004 20 25"', "heat"),
        (MOTOR % 'controller="0 0 1 2 0 0" input="vel"', "slew rate"),
        (MOTOR % 'input="none"', "without input"),
    ],
)
def test_what_is_not_simulated_is_named(actuator, reason):
    """Law: the list names the actuator and what keeps it from being simulated."""
    model = load_model(ARM % actuator)
    assert any(reason in note and "m" in note for note in model.not_simulated)
    assert model.command_interfaces == {}


@pytest.mark.parametrize(
    "actuator, ctrl",
    [
        (
            '<pid joint="j" kp="9" kv="0.4" input="pos vel ff" gear="2" velrange="-1 0.1"/>',
            [0.8, 0.3, 0.5],
        ),
        (MOTOR % 'gear="3"', [2.0]),
    ],
)
def test_a_script_for_mujoco_commands_all_inputs(actuator, ctrl):
    """Law: ctrl of a pid is position, velocity and force, in its space; of a motor its voltage."""
    from hrpsim.bridges import mujoco as bridged

    text = (ARM % actuator).replace('timestep="1e-5"', 'timestep="5e-4"')
    model = mujoco.MjModel.from_xml_string(text)
    other = bridged.MjModel.from_xml_string(text)
    data, ours = mujoco.MjData(model), bridged.MjData(other)
    for one in (data, ours):
        one.ctrl[:] = ctrl
    for _ in range(200):
        mujoco.mj_step(model, data)
        bridged.mj_step(other, ours)
    np.testing.assert_allclose(ours.qpos, data.qpos, atol=1e-5)
