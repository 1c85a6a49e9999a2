# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Tolerances of goals, without ROS."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hrpsim.ros.robot.trajectory_goals import JointState, Tolerances

NAMES = ("hip", "knee")
values = st.lists(st.floats(-10.0, 10.0), min_size=2, max_size=2).map(np.array)
limits = st.lists(st.floats(0.0, 20.0) | st.just(np.inf), min_size=2, max_size=2).map(np.array)


@given(values, values, values, values, limits, limits)
def test_a_violation_is_named_when_a_difference_exceeds_its_limit(q, v, q_is, v_is, dq, dv):
    """Law: |desired - actual| <= limit for each joint, in position and velocity; nothing else."""
    text = Tolerances("path", dq, dv).violation(NAMES, JointState(q, v), JointState(q_is, v_is))
    beyond = [
        (name, what)
        for what, difference, limit in (("position", q - q_is, dq), ("velocity", v - v_is, dv))
        for name, is_beyond in zip(NAMES, np.abs(difference) > limit)
        if is_beyond
    ]
    assert bool(text) == bool(beyond)
    if beyond:
        name, what = beyond[0]
        assert text.startswith(f"joint {name!r} has the {what}")


def test_a_state_that_is_not_finite_violates_any_limit():
    """Law: NaN is within no tolerance."""
    rest = JointState(np.zeros(2), np.zeros(2))
    lost = JointState(np.array([0.0, np.nan]), np.zeros(2))
    free = Tolerances("goal", np.full(2, np.inf), np.full(2, np.inf))
    assert free.violation(NAMES, rest, rest) == ""
    assert "'knee'" in free.violation(NAMES, rest, lost)
