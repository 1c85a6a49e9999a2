# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Motions through points: Hermite's cubics, quintics from rest to rest, and what does not fit."""

import numpy as np
import pytest

from hrpsim import WorldError
from hrpsim.ros.robot.joint_trajectory import motion_through

NAMES = ["hip", "knee"]
HERE, RATE = np.array([0.1, -0.2]), np.array([0.3, 0.0])


def sampled(motion, times):
    positions, velocities = zip(*(motion.at(t) for t in times))
    return np.array(positions), np.array(velocities)


def test_with_velocities_a_cubic_course_is_followed_exactly():
    def course(t):
        return np.array([0.1 + 0.3 * t - 0.7 * t**2 + 0.2 * t**3, -0.2 + 0.5 * t**3])

    def rate(t):
        return np.array([0.3 - 1.4 * t + 0.6 * t**2, 1.5 * t**2])

    times = [0.4, 1.0, 1.7]
    motion = motion_through(
        NAMES, times, [course(t) for t in times], [rate(t) for t in times], HERE, RATE
    )
    grid = np.linspace(0.0, 1.69, 200)
    positions, velocities = sampled(motion, grid)
    assert positions == pytest.approx(np.array([course(t) for t in grid]), abs=1e-12)
    assert velocities == pytest.approx(np.array([rate(t) for t in grid]), abs=1e-12)
    assert motion.at(1.7)[1] == pytest.approx(np.zeros(2))  # at the end they stand


def test_without_velocities_it_goes_from_rest_to_rest_through_the_points():
    points = [[0.5, -0.3], [0.4, -0.6]]
    motion = motion_through(NAMES, [1.0, 2.0], points, None, HERE, RATE)
    grid = np.linspace(0.0, 2.0, 2001)
    positions, velocities = sampled(motion, grid)
    assert positions[[0, 1000, 2000]] == pytest.approx(np.array([HERE, *points]), abs=1e-12)
    assert velocities[[0, -1]] == pytest.approx(np.zeros((2, 2)), abs=1e-12)
    slopes = np.gradient(positions, grid, axis=0)
    assert velocities[1:-1] == pytest.approx(slopes[1:-1], abs=2e-5)  # second-order difference
    for k in range(2):  # no overshoot
        assert positions[:1001, k].min() >= min(HERE[k], points[0][k]) - 1e-12
        assert positions[:1001, k].max() <= max(HERE[k], points[0][k]) + 1e-12


def test_a_first_point_at_once_is_where_it_begins():
    motion = motion_through(NAMES, [0.0], [[1.0, 2.0]], None, HERE, RATE)
    assert motion.duration == 0.0
    assert motion.at(0.0)[0] == pytest.approx([1.0, 2.0])


def test_joints_are_taken_out():
    motion = motion_through(NAMES, [1.0], [[1.0, 2.0]], [[0.0, 0.0]], HERE, RATE)
    rest = motion.without({"hip"})
    assert rest.names == ("knee",)
    assert rest.at(0.3)[0] == pytest.approx(motion.at(0.3)[0][1:])
    assert rest.without({"knee"}) is None


@pytest.mark.parametrize(
    ("times", "positions", "velocities", "complaint"),
    [
        ([-0.1], [[0, 0]], None, "point 0 is at -0.1 s"),
        ([1.0, 1.0], [[0, 0]] * 2, None, "point 1 is at 1 s, not after point 0"),
        ([1.0], [[0]], None, "1 positions in point 0 for 2 joints"),
        ([1.0], [[0, 0]], [[0, 0, 0]], "3 velocities in point 0 for 2 joints"),
        ([1.0], [[0, np.nan]], None, "positions of joint 'knee' in point 0 are nan"),
        ([1.0], [[0, 0]], [[np.inf, 0]], "velocities of joint 'hip' in point 0 are inf"),
    ],
)
def test_what_does_not_fit_is_named(times, positions, velocities, complaint):
    with pytest.raises(WorldError, match=complaint):
        motion_through(NAMES, times, positions, velocities, HERE, RATE)
