# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Small shapes on large ones: gaps are exact at the scale of the small shape, however they lean."""

import numpy as np
import pytest
from collision.posed import Posed, meet, random_rotation, separation, turn

from hrpsim import Box, Capsule, Cylinder

LYING = turn((0, 1, 0), np.pi / 2)


def large(name, width):
    """Return a shape with a level top as wide as `width` [m], and the height of its top."""
    if name == "box":
        return Box((2 * width, 0.2 * width, 0.5)), 0.25
    return Cylinder(0.5 * width, 0.5), 0.25


def small(name, size):
    """Return a shape as wide as `size` [m], its resting orientation, the height of its centre."""
    if name == "standing cylinder":
        return Cylinder(0.5 * size, 0.3 * size), np.eye(3), 0.15 * size
    if name == "lying cylinder":
        return Cylinder(0.2 * size, size), LYING, 0.2 * size
    if name == "capsule":
        return Capsule(0.2 * size, 0.6 * size), LYING, 0.2 * size
    return Box((size, 0.7 * size, 0.4 * size)), np.eye(3), 0.2 * size


POINTS = {"standing cylinder": 4, "lying cylinder": 2, "capsule": 2, "box": 4}


def at_rest(rng, name, size, ground, width, gap, tilt):
    """Pose a small shape over a large one, at random but for the gap below its centre."""
    base, top = large(ground, width)
    shape, R, height = small(name, size)
    R = turn(rng.normal(size=3), tilt) @ turn((0, 0, 1), rng.uniform(-4, 4)) @ R
    side = max(0.1 * width - 2 * size, 0.0)
    place = np.array([rng.uniform(-side, side), rng.uniform(-side, side), top + height + gap])
    Q = random_rotation(rng)
    return Posed(shape, Q @ R, Q @ place), Posed(base, Q)


@pytest.mark.quick_cases("0.0-*", "-1e-07-*", "-0.001-*")
@pytest.mark.parametrize("ground", ["box", "cylinder"])
@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("size, width", [(0.3, 20.0), (0.02, 20.0), (0.002, 20.0), (0.3, 3.0)])
@pytest.mark.parametrize("gap", [0.0, 1e-15, -1e-13, 1e-11, -1e-9, -1e-7, -1e-5, -1e-3])
def test_a_flat_shape_that_leans_by_rounding_errors_has_the_gaps_of_its_points(
    name, ground, size, width, gap
):
    if -gap > 0.03 * size:
        pytest.skip("deeper than the small shape bears")
    rng = np.random.default_rng(5)
    for tilt in 10.0 ** rng.uniform(-16, -9, 50):
        a, b = at_rest(rng, name, size, ground, width, gap, tilt)
        for first, second in ((a, b), (b, a)):
            m = meet(first, second)
            assert m.count == POINTS[name]
            assert np.abs(m.gaps - gap).max() < 1e-12 + tilt * size
            up = b.R[:, 2] if first is a else -b.R[:, 2]
            assert np.abs(m.normals - up).max() < 2 * tilt + 1e-12


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("radius", [0.5, 15.0])
def test_over_the_rim_of_a_large_cylinder_gaps_are_those_of_the_small_shape(name, radius):
    """A cap's level tolerance must not grow with its radius: what counts is what touches it."""
    rng = np.random.default_rng(6)
    ground = Cylinder(radius, 2.0)
    for _ in range(100):
        tilt = 10.0 ** rng.uniform(-9, -2)
        shape, R, height = small(name, 0.1)
        R = turn(rng.normal(size=3), tilt) @ turn((0, 0, 1), rng.uniform(-4, 4)) @ R
        angle = rng.uniform(-4, 4)
        place = np.array([radius * np.cos(angle), radius * np.sin(angle), 1.0 + height - 1e-7])
        a, b = Posed(shape, R, place), Posed(ground)
        gap, n, _ = meet(a, b).nearest
        assert -1e-12 <= gap - separation(a, b, n) < 1e-10 + 0.2 * min(tilt, 1e-5)


@pytest.mark.parametrize("gap", [-1e-4, -1e-6, 0.0, 1e-7])
@pytest.mark.parametrize("over", [0.45, 0.52])
def test_a_cylinder_over_a_ledge_that_jitters_keeps_its_features(over, gap):
    rng = np.random.default_rng(7)
    ground = Posed(Box((1.0, 1.0, 0.2)))
    seen = set()
    for _ in range(300):
        R = turn(rng.normal(size=3), rng.uniform(-1e-6, 1e-6))
        place = (over, 0.0, 0.2 + gap) + rng.uniform(-1e-8, 1e-8, 3)
        seen.add(tuple(meet(Posed(Cylinder(0.1, 0.2), R, place), ground).features))
    assert len(seen) == 1
