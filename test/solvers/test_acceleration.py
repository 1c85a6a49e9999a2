# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sweeps that do not converge by themselves are carried on with momentum."""

import numpy as np

from hrpsim import Box, Sphere, World

GRAVITY = 9.80665
LONG, SHORT, HIGH = 0.2, 0.05, 0.1


def tower(floors: int, **options) -> World:
    """Return blocks of 10 kg on edge, four to a floor across, five along on top of them."""
    world = World(1e-2, sleeping=False, **options)
    world.add_ground()
    for level in range(floors):
        z = 2 * level * HIGH
        for j in range(4):
            world.add_body(
                Box((SHORT, LONG + 0.05, HIGH)), 10.0, position=(j * LONG, 0.0, z + 0.05)
            )
        for x, y in ((0.1, -0.1), (0.5, -0.1), (0.3, 0.1), (0.1, 0.1), (0.5, 0.1)):
            world.add_body(Box((LONG, SHORT, HIGH)), 10.0, position=(x, y, z + 0.15))
    return world


def test_tower_converges_and_stands_still():
    """27 blocks on 240 points: after 4 s every step is solved, and nothing has moved."""
    world = tower(3)
    start = np.array([body.position for body in world.bodies.values()])
    world.step(400)
    for _ in range(50):
        world.step()
        assert world.stats.converged
    places = np.array([body.position for body in world.bodies.values()])
    speeds = [np.abs(body.velocity).max() for body in world.bodies.values()]
    assert np.abs(places - start).max() < 2e-5
    assert max(speeds) < 1e-5


def test_tower_presses_with_its_weight():
    """The floor bears the weight of all blocks."""
    world = tower(3)
    world.step(250)
    below = [abs(c.force[2]) for c in world.contacts if "world" in (c.a[0], c.b[0])]
    np.testing.assert_allclose(sum(below), 270.0 * GRAVITY, rtol=1e-6)


def test_column_of_balls_bears_each_ball_above():
    """30 balls on each other: the k-th contact from above carries k weights."""
    world = World(1e-3, sleeping=False)
    world.add_ground()
    for k in range(30):
        world.add_body(Sphere(0.05), 1.0, position=(0.0, 0.0, 0.05 + 0.1 * k))
    world.step(300)
    assert world.stats.converged
    forces = sorted(np.linalg.norm(contact.force) for contact in world.contacts)
    np.testing.assert_allclose(forces, GRAVITY * np.arange(1, 31), rtol=1e-5)
