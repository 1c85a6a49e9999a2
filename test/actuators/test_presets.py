# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Presets of published actuators."""

import pytest
from actuators.arms import arm

import hrpsim


@pytest.mark.parametrize("name", hrpsim.ACTUATOR_PRESETS)
def test_a_preset_has_the_friction_that_its_source_measured(name):
    """Law: turning slowly, motor = load + f0 + f (motor + load) + viscous v (arXiv:2410.08650).

    f is 0 for motors whose source states no loss by load.
    """
    actuator, inertia, source = hrpsim.ACTUATOR_PRESETS[name]
    assert "github.com" in source
    world, robot = arm(kd=50)
    robot.set_actuator(name)
    load, speed = 0.05, 0.5
    robot.command(velocities=[speed])
    for _ in range(1500):
        robot.apply_wrench("bob", torque=(0.0, 0.0, -load))
        world.step()
    motor, turning = robot.actuators["j"].motor_torque, robot.v[0]
    part = (1.0 - actuator.efficiency) / (1.0 + actuator.efficiency)
    carried = load + actuator.coulomb_friction + actuator.viscous_friction * turning
    assert turning > 0.0
    assert motor * actuator.efficiency == pytest.approx(carried, rel=1e-6)
    assert motor - carried == pytest.approx(part * (motor + carried), rel=1e-6)
    assert robot.system.rotor_inertia[0] == inertia


def test_an_unknown_preset_is_refused():
    """Law: the error names those that exist, and the robot stays as it was."""
    _world, robot = arm()
    with pytest.raises(hrpsim.WorldError, match="did you mean 'dynamixel_mx106'"):
        robot.set_actuator("dynamixel_mx107")
    assert not robot.actuators
