# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Footholds on ground that is seen: flat, at the right height, where the plan's world is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hrpsim.control import flattest_foothold, ground_in_plan
from hrpsim.control.pattern.footsteps import Footstep
from hrpsim.control.pattern.gait import Phase
from hrpsim.control.pattern.walking_pattern import sole_trajectories

OUTLINE = np.array([[-0.1, -0.07], [0.14, -0.07], [0.14, 0.07], [-0.1, 0.07]])
COORDINATE = st.floats(-2.0, 2.0)
ANGLE = st.floats(-np.pi, np.pi)


def ground(height, about=(0.0, 0.0)):
    """Return points of z = height(x, y) in squares of 20 mm."""
    x, y = np.meshgrid(*(np.arange(-0.5, 0.5, 0.02) + middle for middle in about), indexing="ij")
    return np.column_stack([x.ravel(), y.ravel(), height(x, y).ravel()])


@given(COORDINATE, COORDINATE, ANGLE, COORDINATE)
def test_on_level_ground_only_the_height_changes(x, y, yaw, z):
    """Law: no foothold is flatter than the planned one."""
    nominal = Footstep("left", x, y, yaw)
    points = ground(lambda x, y: np.full_like(x, z), (x, y))
    assert flattest_foothold(nominal, points, OUTLINE) == nominal._replace(z=z)


@given(st.floats(-0.2, 0.2), st.floats(-0.3, 0.3))
def test_a_sole_leaves_an_edge_within_reach(edge, rise):
    """Law: the sole rests on one tread, at its height, and goes no farther than its reach."""
    points = ground(lambda x, y: np.where(x > edge, rise, 0.0))
    nominal = Footstep("right", 0.0, 0.0, 0.0)
    found = flattest_foothold(nominal, points, OUTLINE, reach=(0.14, 0.0), margin=0.0)
    assert abs(found.x) <= 0.14 and found.y == 0.0
    beneath = points[(points[:, 0] >= found.x - 0.1) & (points[:, 0] <= found.x + 0.14), 2]
    assert found.z == beneath.max()
    if abs(rise) > 0.1:
        assert np.ptp(beneath) == 0.0


@pytest.mark.parametrize("side, outward", [("left", 1.0), ("right", -1.0)])
def test_a_sole_goes_outward_as_far_as_its_reach_and_inward_20_mm(side, outward):
    """Law: it leaves an edge beneath it for level ground outside; the other foot is inside."""
    nominal = Footstep(side, 0.0, 0.0, 0.0)
    for edge, moved in ((-0.013, 0.06), (0.013, -0.02)):
        points = ground(lambda x, y, at=edge: np.where(outward * y < at, 0.05, 0.0))
        found = flattest_foothold(nominal, points, OUTLINE, margin=0.0)
        assert (found.x, outward * found.y) == pytest.approx((0.0, moved))


def test_without_points_a_footstep_stays_as_planned():
    nominal = Footstep("left", 0.3, 0.1, 0.2, 0.05)
    for points in (np.empty((0, 3)), np.full((50, 3), np.nan), [[9.0, 9.0, 1.0]] * 9):
        assert flattest_foothold(nominal, points, OUTLINE) == nominal


@given(COORDINATE, COORDINATE, ANGLE, ANGLE, COORDINATE)
def test_ground_is_where_the_standing_sole_sees_it(x, y, true_yaw, planned_yaw, z):
    """Law: points have the same coordinates in the frame of the sole, seen and planned."""
    local = np.random.default_rng(0).normal(size=(5, 3))
    seen = Footstep("left", 0.4, -0.3, true_yaw)
    points = np.column_stack([seen.point(local[:, :2]), local[:, 2] + 0.7])
    planned = Footstep("left", x, y, planned_yaw, z)
    found = ground_in_plan(points, (0.4, -0.3, 0.7), true_yaw, planned)
    np.testing.assert_allclose(found[:, :2], planned.point(local[:, :2]), atol=1e-12)
    np.testing.assert_allclose(found[:, 2], local[:, 2] + z, atol=1e-12)


def test_of_equal_footholds_the_nearest_counts():
    """Law: a hole on one side moves the sole to the other side, no farther than needed."""
    points = ground(lambda x, y: np.where(x > 0.12, -0.2, 0.0))
    found = flattest_foothold(Footstep("left", 0.0, 0.0, 0.0), points, OUTLINE, margin=0.0)
    assert (found.x, found.y, found.z) == pytest.approx((-0.02, 0.0, 0.0), abs=0.0201)


@given(st.floats(0.0, 0.1), st.floats(-0.05, 0.05), st.floats(0.3, 0.5))
def test_a_swing_clears_the_ground_that_is_seen_between_footholds(height, rise, stride):
    """Law: no point of the sole is below the ground while it passes, and its apex is above all."""
    edges = -0.5 * stride + 0.14, 0.5 * stride - 0.1  # of the soles, between which a bar lies
    middle, half = 0.5 * sum(edges), 0.5 * (edges[1] - edges[0]) - 0.02
    points = ground(lambda x, y: np.where(x > middle, rise, 0.0))
    points[np.abs(points[:, 0] - middle) < half, 2] = height
    start, standing = Footstep("left", -0.5 * stride, 0.1, 0.0), Footstep("right", 0.0, -0.1, 0.0)
    nominal = Footstep("left", 0.5 * stride, 0.1, 0.0)
    goal = flattest_foothold(nominal, points, OUTLINE, standing, reach=(0, 0), margin=0.0)
    assert goal.z == rise
    assert goal.obstacle == pytest.approx(max(height, 0.0, rise) - rise, abs=1e-12)
    phase = Phase("right", 0.0, 0.6, start, standing, goal)
    for x, _, z, _ in sole_trajectories([phase], 0.05, np.linspace(0.0, 0.6, 61))[:, 0]:
        beneath = points[(points[:, 0] > x - 0.1) & (points[:, 0] < x + 0.14), 2]
        assert z >= beneath.max() - 1e-9
