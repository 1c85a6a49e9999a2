# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Friction of actuators: Stribeck's curve, viscous, and efficiencies both ways."""

import numpy as np
import pytest
from actuators.arms import FINE, arm, dragged, motion

STRIBECK = {"coulomb_friction": 1.0, "static_friction": 3.0, "stribeck_velocity": 0.1}
GEARS = [{}, {"stiffness": 1e4, "damping": 5.0, "encoder": "motor"}]
EFFICIENCIES = {"efficiency": 0.8, "backdriving_efficiency": 0.6}


@pytest.mark.parametrize("damping", [0.0, 1.0])
def test_a_dragged_joint_sticks_and_slips(damping):
    """Law: the motion is that of the equations of motion with Stribeck friction, to 1e-3."""
    speed, duration = 0.2, 4.0
    world, robot = arm(STRIBECK, kp=20, damping=damping)
    robot.command(positions=[speed * duration], over=duration)
    path = motion(world, robot, round(duration / 1e-3))
    dry = np.array([1.0, 3.0, 0.1])
    wanted = dragged(20.0, damping, dry, speed, round(duration / FINE), round(1e-3 / FINE))
    assert np.abs(path[:, 0] - wanted[:, 0]).max() < 1e-3 * np.abs(wanted[:, 0]).max()
    slips = [np.count_nonzero(np.diff(np.abs(v) > 1e-6)) for v in (path[:, 1], wanted[:, 1])]
    assert slips[0] == slips[1] > 3


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("speed, torque", [(1.0, 10.0 / 0.8), (-1.0, 10.0 * 0.6)])
def test_a_gear_loses_in_both_directions(gear, speed, torque):
    """Law: in steady motion M = T / e while the motor drives, M = b T while it is driven."""
    world, robot = arm(EFFICIENCIES | gear, kd=50)
    robot.command(velocities=[speed])
    for _ in range(1500):
        robot.apply_wrench("bob", torque=(0.0, 0.0, -10.0))
        world.step()
    assert robot.actuators["j"].motor_torque == pytest.approx(torque, rel=1e-9)


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("effort, moves", [(6.1, 0), (12.4, 0), (5.9, -1), (12.6, 1)])
def test_a_load_is_held_between_the_efficiencies(gear, effort, moves):
    """Law: a load T stays at rest for b T <= M <= T / e."""
    world, robot = arm(EFFICIENCIES | gear)
    robot.command(efforts=[10.0])
    for n in range(1500):
        robot.apply_wrench("bob", torque=(0.0, 0.0, -10.0))
        world.step()
        if n == 1000:
            robot.command(efforts=[effort])
            start = robot.q[0]
    assert np.sign(round(robot.q[0] - start, 4)) == moves


@pytest.mark.parametrize("gear", GEARS)
def test_viscous_friction_balances_an_effort(gear):
    """Law: in steady motion effort = c v."""
    world, robot = arm({"viscous_friction": 2.0} | gear)
    robot.command(efforts=[3.0])
    world.step(3000)
    assert robot.v[0] == pytest.approx(1.5, rel=1e-9)
