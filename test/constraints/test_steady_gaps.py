# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A gap is a continuous function of the pose: a body at rest must not feel its own rounding."""

import math

import numpy as np
import pytest
from world.scenes import show, tilted

from hrpsim import Box, Capsule, Cylinder, World

SHAPES = {
    "box": (Box((0.3, 0.2, 0.1)), 0.05, 0.2),
    "cylinder": (Cylinder(0.15, 0.1), 0.05, 0.2),
    "lying capsule": (Capsule(0.05, 0.3), 0.05, 0.2),
}


def turned(orientation, axis: int, angle: float, lying: bool):
    """The orientation after a small turn about one of its own axes (and a capsule laid down)."""

    def product(a, b):
        x, y, z, w = a
        u, v, s, t = b
        return np.array(
            [
                w * u + x * t + y * s - z * v,
                w * v - x * s + y * t + z * u,
                w * s + x * v - y * u + z * t,
                w * t - x * u - y * v - z * s,
            ]
        )

    small = np.zeros(4)
    small[axis], small[3] = math.sin(angle / 2), math.cos(angle / 2)
    after = product(orientation, small)
    return product(after, np.array([0, math.sqrt(0.5), 0, math.sqrt(0.5)])) if lying else after


def worst_jump(shape: str, degrees: float, on_box: bool) -> float:
    """Largest gap beyond what the turn itself explains, over small turns and heights [m]."""
    geometry, height, reach = SHAPES[shape]
    normal, _, orientation = tilted(degrees)
    world = World(gravity=(0, 0, 0))
    if on_box:
        world.add_static(Box((4.0, 4.0, 0.5)), -0.25 * normal, orientation)
    else:
        world.add_ground(normal=normal)
    body = world.add_body(geometry, 1.0, position=(0, 0, 5))
    worst = 0.0
    for axis in range(3):
        for angle in (0.0, *np.logspace(-16, -6, 21)):
            for lift in (0.0, 1e-12, -1e-9):
                pose = turned(orientation, axis, angle, shape == "lying capsule")
                body.q = np.concatenate([(height + lift) * normal, pose])
                body.v = np.zeros(6)
                world.step()
                assert world.contacts
                gaps = np.array([c.gap for c in world.contacts])
                worst = max(worst, np.abs(gaps - lift).max() - reach * angle)
    return worst


@pytest.mark.quick_cases("*-0.0-*")
@pytest.mark.parametrize("on_box", [False, True])
@pytest.mark.parametrize("degrees", [0.0, 10.0, 26.5])
@pytest.mark.parametrize("shape", SHAPES)
def test_gaps_do_not_jump_with_the_last_bits_of_a_pose(shape, degrees, on_box):
    """A turn by a changes the gaps of a body that lies flat by its size times a, and 1e-12 m."""
    worst = worst_jump(shape, degrees, on_box)
    show(f"{shape} at {degrees} deg on a {'box' if on_box else 'plane'}: gap error [m]", worst)
    assert worst < 1e-12
