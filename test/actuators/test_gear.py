# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Two masses with compliance and backlash between them; encoders on either side."""

import numpy as np
import pytest
from actuators.arms import FINE, LINK, ROTOR, arm, cycle, two_mass

NO_FRICTION = (0.0, 0.0, 1.0)


def ours_and_reference(gear, gains, dry, target, duration, time_step):
    """Return rows (q, v, angle, velocity) of a step response, ours and of the reference."""
    k, c, backlash, at_motor = gear
    actuator = {
        "stiffness": k,
        "damping": c,
        "backlash": backlash,
        "encoder": "motor" if at_motor else "joint",
        "coulomb_friction": dry[0],
        "static_friction": dry[1],
        "stribeck_velocity": dry[2],
    }
    world, robot = arm(actuator, time_step=time_step, kp=gains[0], kd=gains[1])
    robot.command(positions=[target])
    view, rows = robot.actuators["j"], []
    for _ in range(round(duration / time_step)):
        world.step()
        rows.append((robot.q[0], robot.v[0], view.motor_position, view.motor_velocity))
    every = round(time_step / FINE)
    return np.array(rows), two_mass(gear, gains, dry, target, len(rows) * every, every)


@pytest.mark.quick_cases("dry1-*")
@pytest.mark.parametrize("at_motor", [0.0, 1.0])
@pytest.mark.parametrize("backlash", [0.0, 0.02])
@pytest.mark.parametrize("dry", [NO_FRICTION, (1.0, 2.0, 0.1)])
def test_motor_and_joint_move_as_the_two_masses(at_motor, backlash, dry):
    """Law: Nordin's equations with Coulomb and Stribeck friction, to 3e-4 rad at 0.1 ms."""
    gear, gains = (1e4, 5.0, backlash, at_motor), (100.0, 5.0)
    ours, reference = ours_and_reference(gear, gains, dry, 1.0, 0.5, 1e-4)
    assert np.abs(ours - reference)[:, [0, 2]].max() < 3e-4


@pytest.mark.parametrize("target", [0.3, 0.5])
@pytest.mark.parametrize("time_step, error", [(1e-3, 1e-3), (5e-4, 2.5e-4), (1e-4, 1e-5)])
def test_gains_on_the_joint_and_backlash_make_a_limit_cycle(target, time_step, error):
    """Law: its amplitude and period are those of the equations of motion, of second order."""
    gear, gains = (2e3, 20.0, 0.02, 0.0), (400.0, 2.0)
    ours, reference = ours_and_reference(gear, gains, NO_FRICTION, target, 3.0, time_step)
    late = len(ours) // 3
    found, wanted = (cycle(rows[-late:, 0], time_step) for rows in (ours, reference))
    assert found == pytest.approx(wanted, rel=error)
    assert wanted[0] > 0.01


def test_within_the_backlash_nothing_is_transmitted():
    """Law: a motor that moves within the backlash leaves the joint at rest, exactly."""
    world, robot = arm({"stiffness": 1e4, "backlash": 0.2, "damping": 5.0})
    robot.command(efforts=[0.1])
    world.step(200)
    view = robot.actuators["j"]
    assert robot.q[0] == 0.0
    assert view.motor_position == pytest.approx(0.5 * 0.1 / ROTOR * 0.2**2, rel=1e-9)


@pytest.mark.parametrize("damping", [0.0, 10.0, 1e4])
def test_a_stiff_gear_is_stable_at_a_millisecond(damping):
    """Law: the energy of motor, gear, link and gains does not grow; all swing as one inertia."""
    world, robot = arm({"stiffness": 1e5, "damping": damping, "encoder": "motor"}, kp=50)
    robot.command(positions=[1.0])
    view, path, energies = robot.actuators["j"], [], []
    for _ in range(2000):
        world.step()
        path.append(robot.q[0])
        energies.append(
            0.5 * (ROTOR * view.motor_velocity**2 + LINK * robot.v[0] ** 2)
            + 0.5 * 1e5 * (view.motor_position - robot.q[0]) ** 2
            + 0.5 * 50.0 * (view.motor_position - 1.0) ** 2
        )
    assert max(energies) < 25.0 * (1.0 + 1e-4)
    times = np.arange(1, 2001) * 1e-3
    rigid = 1.0 - np.cos(np.sqrt(50.0 / (LINK + ROTOR)) * times)
    assert np.abs(path - rigid).max() < 0.01


def test_momentum_is_kept_between_motor_and_link():
    """Law: J w + I v changes by the commanded effort alone."""
    world, robot = arm({"stiffness": 1e5, "backlash": 0.01, "damping": 20.0})
    robot.command(efforts=[2.0])
    view = robot.actuators["j"]
    for n in range(500):
        world.step()
        total = ROTOR * view.motor_velocity + LINK * robot.v[0]
        assert total == pytest.approx(2.0 * 1e-3 * (n + 1), rel=1e-9)


def test_a_strong_damper_brings_a_light_link_to_rest_at_the_motor():
    """Law: after many of its time constants both have their common momentum's velocity."""
    gear = {"stiffness": 2e4, "damping": 2e3, "encoder": "motor"}
    world, robot = arm(gear, rotor=10.0)  # the damper's time constant is 0.05 of a step
    robot.v = [1.0]
    world.scene.actuators.states["motor_velocity"] = 0.0
    world.step()
    common = LINK / (LINK + 10.0)
    assert robot.v[0] == pytest.approx(common, abs=0.01)
    assert robot.actuators["j"].motor_velocity == pytest.approx(common, abs=1e-4)
