# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts keep their identity while the same features touch, so that solvers can start warm."""

import numpy as np
import pytest
from collision.posed import PAIRS, Posed, check_features_stay, meet, random_pair, turn

from hrpsim import Box, Capsule, Cylinder, Plane

CUBE = Box((0.2, 0.2, 0.2))
SLAB = Box((1.0, 1.0, 0.2))
CYLINDER = Cylinder(0.1, 0.2)
LYING = turn((0, 1, 0), np.pi / 2)

RESTING = {
    "cube on plane": (Posed(CUBE, np.eye(3), (0, 0, 0.1)), Posed(Plane())),
    "cube on slab": (Posed(CUBE, turn((0, 0, 1), 0.4), (0, 0, 0.2)), Posed(SLAB)),
    "cube on equal cube": (Posed(CUBE, np.eye(3), (0, 0, 0.2)), Posed(CUBE)),
    "cube on cube, turned": (Posed(CUBE, turn((0, 0, 1), 0.7), (0, 0, 0.2)), Posed(CUBE)),
    "cube over a ledge": (Posed(CUBE, np.eye(3), (0.55, 0, 0.2)), Posed(SLAB)),
    "capsule on plane": (Posed(Capsule(0.1, 0.3), LYING, (0, 0, 0.1)), Posed(Plane())),
    "capsule on slab": (Posed(Capsule(0.1, 0.3), LYING, (0, 0, 0.2)), Posed(SLAB)),
    "capsule on capsule": (
        Posed(Capsule(0.1, 0.3), LYING, (0, 0, 0.2)), Posed(Capsule(0.1, 0.3), LYING),
    ),
    "cylinder on plane": (Posed(CYLINDER, np.eye(3), (0, 0, 0.1)), Posed(Plane())),
    "cylinder on slab": (Posed(CYLINDER, np.eye(3), (0, 0, 0.2)), Posed(SLAB)),
    "cylinder on equal cylinder": (Posed(CYLINDER, np.eye(3), (0, 0, 0.2)), Posed(CYLINDER)),
    "cylinder lying on slab": (Posed(CYLINDER, LYING, (0, 0, 0.2)), Posed(SLAB)),
}  # fmt: skip


@pytest.mark.parametrize("case", RESTING)
def test_a_resting_shape_that_jitters_keeps_its_features_and_points(case):
    check_features_stay(meet, *RESTING[case], motion=1e-6, rounds=100)


@pytest.mark.parametrize("pair", PAIRS)
def test_random_contacts_keep_their_features_through_a_tiny_motion(pair):
    rng = np.random.default_rng(2)
    kept = 0
    for _ in range(100):
        a, b = random_pair(rng, pair)
        moved = Posed(a.shape, turn(rng.normal(size=3), 1e-9) @ a.R, a.p + 1e-9)
        kept += set(meet(a, b).features) == set(meet(moved, b).features)
    assert kept >= 99


@pytest.mark.parametrize("ground", [Plane(), SLAB])
def test_a_rocking_cube_keeps_the_names_of_the_vertices_that_touch(ground):
    top = 0.0 if isinstance(ground, Plane) else 0.1
    names = {}
    for angle in np.linspace(-0.2, 0.2, 81):
        R = turn((0, 1, 0), angle)
        height = top + 0.1 * (np.cos(angle) + np.sin(abs(angle)))
        m = meet(Posed(CUBE, R, (0.0, 0.0, height)), Posed(ground), margin=1e-3)
        assert m.count == (4 if abs(angle) < 6e-3 else 2)
        for feature, point in zip(m.features, m.points):
            own = tuple(np.sign(R.T @ (point - [0.0, 0.0, height])).astype(int))
            assert names.setdefault(feature, own) == own


@pytest.mark.parametrize("shape", [Capsule(0.05, 0.3), Cylinder(0.05, 0.3)])
@pytest.mark.parametrize("ground", [Plane(), SLAB])
def test_a_rolling_log_keeps_two_features(shape, ground):
    top = 0.0 if isinstance(ground, Plane) else 0.1
    seen = set()
    for angle in np.linspace(0.0, 7.0, 50):
        R = turn((1, 0, 0), angle) @ LYING
        m = meet(Posed(shape, R, (0.0, -0.05 * angle, top + 0.05)), Posed(ground))
        assert m.count == 2
        seen.add(tuple(m.features))
    assert len(seen) == 1


@pytest.mark.parametrize("ground", [Plane(), SLAB])
def test_a_coin_rolling_on_its_rim_keeps_the_feature_of_its_lowest_point(ground):
    top = 0.0 if isinstance(ground, Plane) else 0.1
    coin = Cylinder(0.1, 0.02)
    seen = set()
    for angle in np.linspace(0.0, 7.0, 50):
        R = turn((0, 0, 1), angle / 7) @ turn((1, 0, 0), np.pi / 2 - 0.3) @ turn((0, 0, 1), angle)
        height = top + 0.1 * np.cos(0.3) + 0.01 * np.sin(0.3)
        m = meet(Posed(coin, R, (0.0, 0.0, height)), Posed(ground), margin=1e-3)
        assert m.nearest[0] == pytest.approx(0.0, abs=1e-9)
        seen.add(m.features[np.argmin(m.gaps)])
    assert len(seen) == 1
