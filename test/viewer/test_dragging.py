# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The spring of a dragging hand against Hooke's law and closed forms of a critically damped one."""

import math

import numpy as np
import pytest

from hrpsim import Box, World, WorldError, load_model
from hrpsim.viewer.session import Grip
from robots import HRP2_LIKE

STEP = 1e-3


@pytest.fixture
def floating():
    world = World(time_step=STEP, gravity=(0.0, 0.0, 0.0))
    return world, world.add_body(Box((0.2, 0.2, 0.2)), mass=3.0)


def pull(world, grip, duration):
    for _ in range(round(duration / world.time_step)):
        grip.pull()
        world.step()


def test_a_body_follows_as_a_critically_damped_oscillator(floating):
    world, box = floating
    grip = Grip(box, "box", box.position, STEP)
    grip.target = np.array([0.1, 0.0, 0.0])
    rate = math.sqrt(grip.stiffness / box.mass)
    assert grip.damping == pytest.approx(2.0 * math.sqrt(grip.stiffness * box.mass))
    for t in (0.05, 0.2, 0.5):
        pull(world, grip, t - world.time)
        exact = 0.1 * (1.0 - (1.0 + rate * t) * math.exp(-rate * t))
        assert box.position[0] == pytest.approx(exact, abs=1e-3)
    np.testing.assert_allclose(box.position[1:], 0.0, atol=1e-12)


def test_a_grip_beside_the_centre_turns_the_body(floating):
    world, box = floating
    grip = Grip(box, "box", (0.1, 0.0, 0.0), STEP)
    grip.target = np.array([0.1, 0.0, 0.1])
    force = grip.pull()
    np.testing.assert_allclose(force, [0.0, 0.0, 0.1 * grip.stiffness])
    world.step()
    moment_of_inertia = 3.0 * 0.2**2 / 6.0
    turned = -0.1 * force[2] * STEP / moment_of_inertia
    assert box.angular_velocity[1] == pytest.approx(turned, rel=1e-6)
    assert box.velocity[2] == pytest.approx(force[2] * STEP / 3.0, rel=1e-6)


def test_a_hanging_weight_stretches_the_spring_by_m_g_over_k():
    world = World(time_step=STEP)
    box = world.add_body(Box((0.2, 0.2, 0.2)), mass=3.0, position=(0.0, 0.0, 1.0))
    grip = Grip(box, "box", box.position, STEP)
    pull(world, grip, 3.0)
    assert 1.0 - box.position[2] == pytest.approx(3.0 * 9.80665 / grip.stiffness, rel=1e-6)


def test_a_light_link_of_a_robot_stays_stable_at_a_long_period():
    world = World(time_step=STEP, gravity=(0.0, 0.0, 0.0))
    robot = world.add_robot(load_model(HRP2_LIKE, xacro_arguments={"bush": False}))
    hand, _ = robot.link_pose("RARM_LINK6")
    grip = Grip(robot, "RARM_LINK6", hand + (0.0, 0.0, 0.03), 0.005)
    grip.target = grip.point + (0.15, 0.0, 0.1)
    for _ in range(2000):
        grip.pull()
        world.step(5)
    assert np.linalg.norm(grip.point - grip.target) < 0.02
    assert np.abs(robot.v).max() < 1.0


def test_what_is_fixed_to_the_world_cannot_be_dragged():
    world = World()
    robot = world.add_robot(load_model(HRP2_LIKE, base="fixed", xacro_arguments={"bush": False}))
    with pytest.raises(WorldError, match="fixed to the world"):
        Grip(robot, robot.model.base_link, (0.0, 0.0, 0.0), STEP)
