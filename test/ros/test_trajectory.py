# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Motions through points: lines, Hermite's cubics and quintics, and what does not fit."""

import numpy as np
import pytest

from hrpsim import WorldError
from hrpsim.ros.robot.joint_trajectory import TrajectoryPoints, motion_through

NAMES = ["hip", "knee"]
HERE, RATE = np.array([0.1, -0.2]), np.array([0.3, 0.0])


def sampled(motion, times):
    positions, velocities = zip(*(motion.at(t) for t in times))
    return np.array(positions), np.array(velocities)


_LEFT = np.polynomial.Polynomial([-1.7, 1.0])  # t - 1.7
COURSES = {  # at rest at 1.7 s, where velocities are given, and without acceleration at 0
    "line": np.polynomial.Polynomial([0.1, 0.3]),
    "cubic": _LEFT**3 + 0.4,
    "quintic": _LEFT**5 + 10.0 * 1.7**3 * _LEFT**2,
}


@pytest.mark.parametrize("count", [1, 2, 3])
def test_what_is_given_decides_the_degree_and_is_followed_exactly(count):
    """Law: a polynomial sampled with its derivatives is the motion itself.

    Positions alone make lines, velocities cubics, accelerations quintics.
    """
    course = list(COURSES.values())[count - 1]
    times, shares = np.array([0.4, 1.0, 1.7]), np.array([1.0, 2.0])
    given = [np.outer(course.deriv(k)(times), shares) for k in range(count)]
    start = shares * course(0.0), shares * course.deriv()(0.0)
    motion = motion_through(NAMES, TrajectoryPoints(times, *given), *start)
    grid = np.linspace(0.0, 1.69, 200)
    positions, velocities = sampled(motion, grid)
    assert positions == pytest.approx(np.outer(course(grid), shares), abs=1e-12, rel=1e-12)
    wanted = np.outer(course.deriv()(grid), shares)
    assert velocities == pytest.approx(wanted, abs=1e-11, rel=1e-11)
    assert motion.at(1.7)[1] == pytest.approx(np.zeros(2))  # at the end they stand


def test_a_stream_of_positions_ahead_is_an_exponential_approach():
    """Law: each 0.1 s a goal 1 s ahead; lines leave 0.9 of the way, so 0.9^30 after 3 s."""
    here, rate = np.zeros(1), np.zeros(1)
    for _ in range(30):
        motion = motion_through(["hip"], TrajectoryPoints([1.0], [[1.0]]), here, rate)
        here, rate = motion.at(0.1)
    assert here == pytest.approx([1.0 - 0.9**30], abs=1e-12)


def test_a_last_velocity_is_refused():
    for last in (1e-3, -2.0):
        with pytest.raises(WorldError, match=r"the last point has the velocity .* 'knee'"):
            motion_through(NAMES, TrajectoryPoints([1.0], [[0.5, 0.5]], [[0.0, last]]), HERE, RATE)
    motion_through(NAMES, TrajectoryPoints([1.0], [[0.5, 0.5]], [[0.0, 1e-8]]), HERE, RATE)


def test_a_first_point_at_once_is_where_it_begins():
    motion = motion_through(NAMES, TrajectoryPoints([0.0], [[1.0, 2.0]]), HERE, RATE)
    assert motion.duration == 0.0
    assert motion.at(0.0)[0] == pytest.approx([1.0, 2.0])


def test_joints_are_taken_out():
    motion = motion_through(NAMES, TrajectoryPoints([1.0], [[1.0, 2.0]], [[0.0, 0.0]]), HERE, RATE)
    rest = motion.without({"hip"})
    assert rest.names == ("knee",)
    assert rest.at(0.3)[0] == pytest.approx(motion.at(0.3)[0][1:])
    assert rest.without({"knee"}) is None


@pytest.mark.parametrize(
    ("times", "positions", "velocities", "complaint"),
    [
        ([-0.1], [[0, 0]], None, "point 0 is at -0.1 s"),
        ([1.0, 1.0], [[0, 0]] * 2, None, "point 1 is at 1 s, not after point 0"),
        ([1.0], [[0]], None, "point 0 has 1 positions for 2 joints"),
        ([1.0], [[0, 0]], [[0, 0, 0]], "point 0 has 3 velocities for 2 joints"),
        ([1.0], [[0, np.nan]], None, "positions of joint 'knee' in point 0 are nan"),
        ([1.0], [[0, 0]], [[np.inf, 0]], "velocities of joint 'hip' in point 0 are inf"),
    ],
)
def test_what_does_not_fit_is_named(times, positions, velocities, complaint):
    with pytest.raises(WorldError, match=complaint):
        motion_through(NAMES, TrajectoryPoints(times, positions, velocities), HERE, RATE)
