# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bounds hold their shapes tightly; the broad phase finds what comparing all pairs finds."""

import numpy as np
import pytest
from collision.posed import KINDS, Posed, random_rotation, random_shape, reach
from hypothesis import given, settings
from hypothesis import strategies as st

from hrpsim import Plane
from hrpsim.engine.collision.body_bounds import bounding_radius, shape_aabb
from hrpsim.engine.collision.candidates import candidate_pairs, drop_pairs


@pytest.mark.parametrize("name", [name for name in KINDS if name != "plane"])
def test_the_box_touches_the_support_planes_along_the_world_axes(name):
    rng = np.random.default_rng(1)
    lower, upper = np.zeros(3), np.zeros(3)
    for _ in range(50):
        shape, R, p = random_shape(rng, KINDS[name]), random_rotation(rng), rng.normal(size=3)
        shape_aabb(shape.kind, np.array(shape.size), R, p, lower, upper)
        posed = Posed(shape, R, p)
        assert upper == pytest.approx([reach(posed, n) for n in np.eye(3)], abs=1e-12)
        assert lower == pytest.approx([-reach(posed, -n) for n in np.eye(3)], abs=1e-12)
        radius = bounding_radius(shape.kind, np.array(shape.size))
        reaches = [reach(posed, n) - n @ p for n in random_rotation(rng)]
        assert max(reaches) <= radius + 1e-12


def test_a_plane_is_unbounded():
    lower, upper = np.zeros(3), np.zeros(3)
    plane = Plane()
    shape_aabb(plane.kind, np.array(plane.size), np.eye(3), np.zeros(3), lower, upper)
    assert (lower == -np.inf).all() and (upper == np.inf).all()
    assert bounding_radius(plane.kind, np.array(plane.size)) == np.inf


def all_pairs(lower, upper, group):
    n = len(group)
    return [
        (a, b)
        for a in range(n)
        for b in range(a + 1, n)
        if group[a] != group[b] and (lower[a] <= upper[b]).all() and (lower[b] <= upper[a]).all()
    ]


@given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.floats(0.0, 1.0))
@settings(max_examples=200)
def test_the_broad_phase_finds_the_pairs_that_comparing_all_finds(seed, count, size):
    rng = np.random.default_rng(seed)
    order = rng.permutation(count)
    pairs = np.zeros((count * count, 2), np.int64)
    centers = rng.uniform(-1.0, 1.0, (count, 3)) * rng.uniform(0.1, 2.0, 3)
    half = rng.uniform(0.0, size, (count, 3))
    unbounded = rng.random(count) < 0.05
    group = rng.integers(-1, max(count // 2, 1), count)
    for _ in range(3):  # The order is kept from step to step while the shapes move.
        lower, upper = centers - half, centers + half
        lower[unbounded], upper[unbounded] = -np.inf, np.inf
        found = candidate_pairs(lower, upper, group, order, order.copy(), pairs)
        assert [tuple(pair) for pair in pairs[:found]] == all_pairs(lower, upper, group)
        assert sorted(order) == list(range(count))
        centers = centers + rng.uniform(-0.2, 0.2, (count, 3))


@pytest.mark.parametrize("sorted_along", range(3))
@pytest.mark.parametrize("touching", range(3))
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_boxes_that_just_touch_are_a_pair(sorted_along, touching, side):
    """Law: boxes are closed: a common face is an overlap, on either side along each axis."""
    apart, lengths = np.zeros(3), np.ones(3)
    apart[sorted_along], lengths[sorted_along] = 1.5, 2.0
    apart[touching] = side * lengths[touching]
    lower = np.array([np.zeros(3), apart])
    pairs = np.zeros((1, 2), np.int64)
    assert (
        candidate_pairs(lower, lower + lengths, np.array([0, 1]), np.arange(2), np.arange(2), pairs)
        == 1
    )


def test_too_little_room_returns_the_number_of_pairs_needed():
    lower, upper = np.zeros((5, 3)), np.ones((5, 3))
    pairs = np.full((3, 2), -1, np.int64)
    assert candidate_pairs(lower, upper, np.arange(5), np.arange(5), np.arange(5), pairs) == 10


def test_dropped_pairs_are_the_difference_of_the_sets():
    rng = np.random.default_rng(8)
    for _ in range(100):
        drawn = [{tuple(sorted(p)) for p in rng.integers(0, 9, (k, 2))} for k in (12, 8)]
        pairs, excluded = (np.array(sorted(some), dtype=np.int64).reshape(-1, 2) for some in drawn)
        kept = drop_pairs(excluded, len(pairs), pairs)
        assert [tuple(pair) for pair in pairs[:kept].tolist()] == sorted(drawn[0] - drawn[1])
    assert drop_pairs(np.zeros((0, 2), dtype=np.int64), len(pairs), pairs) == len(pairs)
