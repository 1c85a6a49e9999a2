# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What holds for the contacts of every pair of shapes in any pose."""

import numpy as np
import pytest
from collision.posed import PAIRS, Posed, meet, random_pair, random_pairs, random_rotation, turn
from hypothesis import given, settings
from hypothesis import strategies as st

from hrpsim import Box, Capsule, Cylinder, Plane, Sphere
from hrpsim.engine.collision.manifold import MAX_POINTS

lengths = st.floats(1e-4, 10.0)
shapes = st.one_of(
    st.just(Plane()),
    st.builds(Sphere, lengths),
    st.builds(Box, st.tuples(lengths, lengths, lengths)),
    st.builds(Capsule, lengths, lengths),
    st.builds(Cylinder, lengths, lengths),
)
# Special angles and places are as likely as any others: parallel, perpendicular, coincident.
angles = st.one_of(
    st.sampled_from([0.0, 1e-9, 1e-6, np.pi / 4, np.pi / 2, np.pi]), st.floats(-4.0, 4.0)
)
axes = st.sampled_from([(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 2, 3)])
rotations = st.builds(lambda i, s, j, t: turn(i, s) @ turn(j, t), axes, angles, axes, angles)
coordinates = st.one_of(st.sampled_from([0.0, 0.1, 1e-9, 1e-15, 1e3]), st.floats(-10.0, 10.0))
places = st.tuples(coordinates, coordinates, coordinates)
posed = st.builds(Posed, shapes, rotations, places)
margins = st.sampled_from([0.0, 1e-3, 0.1, 10.0])


@given(posed, posed, margins)
@settings(max_examples=300)
def test_contacts_are_finite_within_margin_with_unit_normals_and_features_of_their_own(
    a, b, margin
):
    m = meet(a, b, margin)
    assert m.count <= MAX_POINTS
    for rows in m:
        assert np.isfinite(rows).all()
    assert (m.gaps <= margin).all()
    assert np.linalg.norm(m.normals, axis=1) == pytest.approx(np.ones(m.count), abs=1e-9)
    assert len(set(m.features)) == m.count


@given(posed, posed, margins)
@settings(max_examples=300)
def test_the_same_input_gives_the_same_bits(a, b, margin):
    for first, again in zip(meet(a, b, margin), meet(a, b, margin)):
        assert (first == again).all()


@pytest.mark.parametrize("pair", PAIRS)
def test_swapping_the_shapes_flips_the_normals_and_changes_nothing_else(pair):
    rng = np.random.default_rng(3)
    kind_a, kind_b = pair.split("-")
    for _ in range(100):
        a, b = random_pair(rng, pair)
        one, other = meet(a, b, margin=0.1), meet(b, a, margin=0.1)
        if kind_a != kind_b:
            assert (one.points == other.points).all()
            assert (one.normals == -other.normals).all()
            assert (one.gaps == other.gaps).all()
            assert (one.features == other.features).all()
        elif one.count:
            assert one.nearest[0] == pytest.approx(other.nearest[0], abs=1e-8)
            assert one.nearest[1] == pytest.approx(-other.nearest[1], abs=1e-5)
        else:
            assert other.count == 0


@pytest.mark.parametrize("pair", PAIRS)
def test_moving_both_shapes_together_moves_the_contacts_with_them(pair):
    rng = np.random.default_rng(4)
    for _ in range(100):
        a, b = random_pair(rng, pair)
        R, p = random_rotation(rng), rng.uniform(-1.0, 1.0, 3)
        here = meet(a, b, margin=0.1)
        there = meet(*(Posed(s.shape, R @ s.R, R @ s.p + p) for s in (a, b)), margin=0.1)
        assert list(there.features) == list(here.features)
        assert there.gaps == pytest.approx(here.gaps, abs=1e-8)
        assert there.points == pytest.approx(here.points @ R.T + p, abs=1e-5)
        assert there.normals == pytest.approx(here.normals @ R.T, abs=1e-5)


@pytest.mark.parametrize("pair", PAIRS)
def test_a_contact_lies_half_its_gap_from_either_surface(pair):
    """A ball with the radius of half the gap about the nearest contact touches both shapes."""
    from hrpsim import Sphere

    for a, b in random_pairs(pair, seed=5, count=100):
        m = meet(a, b, margin=0.5)
        if m.count == 0 or m.nearest[0] < 1e-3:
            continue
        gap, _, point = m.nearest
        ball = Posed(Sphere(gap / 2), np.eye(3), point)
        for shape in (a, b):
            assert meet(shape, ball, margin=0.5).nearest[0] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("pair", PAIRS)
def test_a_small_motion_changes_the_gap_by_no_more_than_the_motion(pair):
    rng = np.random.default_rng(6)
    for _ in range(100):
        a, b = random_pair(rng, pair)
        m = meet(a, b, margin=1.0)
        if m.count == 0 or m.nearest[0] < 0.0:
            continue
        step = rng.normal(size=3)
        step *= 1e-6 / np.linalg.norm(step)
        moved = meet(Posed(a.shape, a.R, a.p + step), b, margin=1.0)
        assert abs(moved.nearest[0] - m.nearest[0]) < 1e-6 + 1e-8


def test_half_spaces_do_not_meet():
    assert meet(Posed(Plane()), Posed(Plane(), np.eye(3), (0.0, 0.0, -1.0))).count == 0
