# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""rk4: bodies that turn far in a step and press on each other keep their common centre of mass."""

import numpy as np
import pytest
from world.test_momentum import chain, momentum_and_scale
from world.test_passages import centre

from hrpsim import Box, World

TIME_STEP = 0.01
GRAVITY = np.array([1.0, -2.0, -9.0])


def tumbling(seed, distance=0.7, heaviest=3.0, **options):
    """Boxes that fly at each other, each turning by up to 1 rad a step."""
    rng = np.random.default_rng(seed)
    world = World(TIME_STEP, gravity=GRAVITY, integrator="rk4", **options)
    world.set_friction("default", "default", 0.0, restitution=0.0)
    speed = rng.uniform(30.0, 50.0)
    for side in (-1.0, 1.0):
        world.add_body(
            Box(tuple(rng.uniform(0.2, 1.0, 3))),
            rng.uniform(0.1, 1.0) * heaviest,
            (distance * side, 0.0, 0.0),
            orientation=turned(rng),
            velocity=(-0.3 * side * speed, 0.0, 0.0),
            angular_velocity=speed * rng.normal(size=3),
        )
    return world


def turned(rng):
    quaternion = rng.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def largest_deviation(world, steps=10):
    """How far the centre leaves its parabola in a step [m], and in how many any was predicted."""
    world.step(0)
    mass = world.scene.forest.bodies["mass"].sum()
    largest, seen = 0.0, 0
    for _ in range(steps):
        start, momentum = centre(world), momentum_and_scale(world)[0]
        world.step()
        foretold = start + TIME_STEP * momentum / mass + 0.5 * TIME_STEP**2 * GRAVITY
        largest = max(largest, np.abs(centre(world) - foretold).max())
        seen += world.scene.rk4.turns["predicted"].any()
    return largest, seen


@pytest.mark.quick_cases("False")
@pytest.mark.parametrize("continuous", [True, False])
def test_pairs_keep_their_centre(continuous):
    """Of 40 pairs several press on each other while they turn by more than half a radian a step."""
    seen = 0
    for seed in range(40):
        deviation, steps = largest_deviation(tumbling(seed, continuous=continuous))
        assert deviation < 1e-12
        seen += steps
    assert seen > 4


def test_a_robot_in_the_group_is_shifted_with_all_its_links():
    """The boxes are light, so that its own turn leaves next to nothing to the method's order."""
    seen = 0
    for seed in range(20):
        world = tumbling(seed, distance=1.5, heaviest=0.01)
        world.add_robot(chain(3))
        deviation, steps = largest_deviation(world)
        assert deviation < 1e-9
        seen += steps
    assert seen > 2
