# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of steps with actuators that have a delay and friction: differences decide."""

import numpy as np
import pytest
from grouped import one_compiles
from world.differences import differences, error, input_differences, tangent
from world.scenes import one_joint

from hrpsim import Actuator, World, WorldError

pytestmark = [one_compiles("linearization"), pytest.mark.usefixtures("derivatives_in_python")]

EXACT = {"sleeping": False, "tolerance": 1e-13}
STEP = 1e-6
LIMIT = 'lower="-3" upper="3" effort="{}" velocity="20"'


def arm(actuator, effort=100.0):
    """Return a world with an arm that follows changing commands, and its robot."""
    model = one_joint(
        mass=2.0,
        at="0.5 0 0",
        axis="0 -1 0",
        limit=LIMIT.format(effort),
        extension='<gains kp="50" kd="1"/><rotor inertia="0.01"/>',
    )
    world = World(**EXACT)
    robot = world.add_robot(model, q=[0.1], name="arm")
    robot.set_actuator(actuator)
    for k in range(6):
        robot.command(positions=[0.2 + 0.05 * k], velocities=[0.1])
        world.step()
    robot.command(positions=[0.6], velocities=[0.1])
    return world, robot


def by_change(world, change):
    """Return the derivative of the next state by central differences of `change`(world, size)."""
    ends = []
    for sign in (1.0, -1.0):
        other = world.copy()
        change(other, sign * STEP)
        other.step()
        ends.append((other.scene.q, other.scene.velocity))
    return tangent(world.scene.forest, *ends[0], *ends[1]) / (2.0 * STEP)


def later(world, size):
    world.scene.actuators.units["delay_part"] += size / world.time_step


def stiffer(world, size):
    commands = world.scene.actuators.commands
    commands["constant"] += size * commands["target"]
    commands["kp"] += size
    world.scene.control["kp"] += size


def rougher(world, size):
    for name in ("coulomb", "static"):
        world.scene.actuators.units[name] += size


def more_viscous(world, size):
    world.scene.actuators.units["viscous"] += size


@pytest.mark.parametrize("delay", [0.0, 0.0004, 0.0023])
def test_delay_and_friction_are_differentiated(delay):
    """Law: A, B and C of a late, viscous and rough servo; a delay acts as older commands do."""
    world, robot = arm(Actuator(delay=delay, viscous_friction=0.7, coulomb_friction=0.3))
    joint = robot.joint_names[0]
    changes = {"kp": stiffer, "friction": rougher, "damping": more_viscous}
    changes |= {"delay": later} if delay else {}
    paths = [f"robots.arm.joints.{joint}.{kind}" for kind in changes]
    found = world.linearize("positions", parameters=paths)
    assert not found.on_edge
    assert error(found.A, differences(world, np.full(2, STEP))) < 1e-7
    B = input_differences(world, "target_position", [0], STEP)
    assert found.B == pytest.approx(B, abs=1e-8)
    assert (B[1, 0] == 0.0) == (delay > world.time_step)
    for k, change in enumerate(changes.values()):
        right = by_change(world, change)
        assert np.abs(right).max() > 0.0
        assert found.C[:, k] == pytest.approx(right, rel=1e-6, abs=1e-11)


@pytest.mark.parametrize(
    "model, effort, said",
    [
        ({"stiffness": 1e4, "damping": 10.0}, 100.0, "actuators with a gear"),
        ({"integral_gain": 10.0}, 100.0, "or an integral"),
        ({"joint_resolution": 1e-3}, 100.0, "encoders"),
        ({"efficiency": 0.9}, 100.0, "losses"),
        ({}, 3.0, "at a limit of its model"),
    ],
)
def test_what_is_not_differentiated_is_refused(model, effort, said):
    """Law: never wrong in silence."""
    world, _ = arm(Actuator(delay=0.001, **model), effort)
    with pytest.raises(WorldError, match=said):
        world.linearize()


def test_the_damping_gain_of_a_late_servo_is_refused():
    """Law: stored commands do not say which part of them the damping gain gave."""
    world, robot = arm(Actuator(delay=0.002))
    with pytest.raises(WorldError, match="kd of actuators with a delay"):
        world.linearize("kd")
    with pytest.raises(WorldError, match="kd of actuators with a delay"):
        world.linearize((), parameters=f"robots.arm.joints.{robot.joint_names[0]}.kd")
