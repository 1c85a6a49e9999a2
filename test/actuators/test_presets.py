# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Presets of published actuators."""

import pytest
from actuators.arms import arm

import hrpsim

# f0 [Nm], f and the viscous friction [Nms/rad] of the servos whose source measured f.
MEASURED = {
    "dynamixel_mx106": (0.11335, 0.10824, 0.011945),
    "dynamixel_xl320": (0.02063, 0.21898, 0.0022633),
    "erob80_50": (3.4666, 0.062922, 1.2073),
    "erob80_100": (4.8323, 0.14798, 7.3953),
}


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
    dry, viscous = actuator.coulomb_friction, actuator.viscous_friction
    coulomb, part, viscous = MEASURED.get(name, (dry, 0.0, viscous))
    assert turning > 0.0
    friction = coulomb + part * (motor + load) + viscous * turning
    assert motor == pytest.approx(load + friction, rel=1e-6)
    assert robot.system.rotor_inertia[0] == inertia


def test_an_unknown_preset_is_refused():
    """Law: the error names those that exist, and the robot stays as it was."""
    _world, robot = arm()
    with pytest.raises(hrpsim.WorldError, match="Did you mean 'dynamixel_mx106'"):
        robot.set_actuator("dynamixel_mx107")
    assert not robot.actuators
