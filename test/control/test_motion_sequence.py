# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""How a motion goes on between its samples, and which file tells the pose of the waist."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hrpsim.control import Channel, MotionSequence, SequenceError
from hrpsim.control.motion.motion_sequence import smooth_step

ANGLES = st.floats(-3.0, 3.0)


@st.composite
def channels(draw, fewest=2):
    n = draw(st.integers(fewest, 8))
    steps = draw(st.lists(st.floats(1e-3, 5.0), min_size=n, max_size=n))
    values = draw(st.lists(ANGLES, min_size=n, max_size=n))
    return Channel(np.cumsum(steps), np.array(values)[:, None])


def quintics(channel):
    """Return the polynomial of each interval (intervals, 6), from its start, lowest power first."""
    s = 0.5 - 0.5 * np.cos(np.pi * np.arange(6) / 5.0)
    powers = s[:, None] ** np.arange(6)
    steps = np.diff(channel.times)
    values = channel.at((channel.times[:-1, None] + steps[:, None] * s).ravel()).reshape(-1, 6)
    return np.linalg.solve(powers, values.T).T / steps[:, None] ** np.arange(6)


def slopes_at_samples(channel, order):
    """Return a derivative before and after each inner sample, (n - 2,) each, by the quintics."""
    steps, parts = np.diff(channel.times), [np.polynomial.Polynomial(c) for c in quintics(channel)]
    parts = [part.deriv(order) for part in parts]
    ends = np.array([part(step) for part, step in zip(parts, steps)])
    return ends[:-1], np.array([part(0.0) for part in parts])[1:]


def inner_times(channel, parts=50):
    s = np.arange(parts) / parts
    return (channel.times[:-1, None] + np.diff(channel.times)[:, None] * s).ravel()


@given(channels())
def test_samples_are_met_and_never_left_on_the_way_to_the_next(channel):
    np.testing.assert_array_equal(channel.at(channel.times), channel.values)
    parts = 50
    path = channel.at(inner_times(channel, parts)).reshape(-1, parts)
    low = np.minimum(channel.values[:-1], channel.values[1:])
    high = np.maximum(channel.values[:-1], channel.values[1:])
    assert (path >= low - 1e-12).all() and (path <= high + 1e-12).all()
    rises = np.diff(path, axis=1) * np.sign(channel.values[1:] - channel.values[:-1])
    assert (rises >= -1e-12).all()


@given(channels())
def test_quintics_join_the_samples(channel):
    """The path between two samples is a polynomial of degree 5."""
    parts, steps = 50, np.diff(channel.times)
    path = channel.at(inner_times(channel, parts)).reshape(-1, parts)
    rounded = 1e-13 * channel.times[-1] / steps.min()  # times are rounded
    for polynomial, step, row in zip(quintics(channel), steps, path):
        expected = np.polynomial.Polynomial(polynomial)(step * np.arange(parts) / parts)
        np.testing.assert_allclose(row, expected, atol=rounded)


@given(channels(fewest=3))
def test_rate_and_acceleration_are_continuous_at_the_samples(channel):
    """Rounded times limit the accuracy of the derivatives of a short interval."""
    h = np.diff(channel.times).min()
    for order in (1, 2):
        before, after = slopes_at_samples(channel, order)
        rounded = 1e-11 * channel.times[-1] / h
        np.testing.assert_allclose(after, before, atol=rounded / h**order)


def test_two_postures_are_joined_as_hrpsys_does():
    # Its Hoff-Arbib interpolator from rest to rest.
    channel = Channel([1.0, 4.0], [[0.5, -1.0], [1.5, -3.0]])
    times = np.linspace(0.0, 5.0, 51)
    expected = [0.5, -1.0] + np.outer(smooth_step((times - 1.0) / 3.0), [1.0, -2.0])
    np.testing.assert_allclose(channel.at(times), expected, atol=1e-15)


def test_keyframes_rest_where_the_motion_turns_or_holds():
    channel = Channel([0.0, 1.0, 2.0, 3.0, 4.5], [[0.0], [1.0], [1.0], [-1.0], [-2.0]])
    np.testing.assert_array_equal(channel.at(np.linspace(1.0, 2.0, 11)), np.ones((11, 1)))
    before, after = slopes_at_samples(channel, 1)
    np.testing.assert_allclose(np.r_[before[:2], after[:2]], np.zeros(4), atol=1e-12)
    assert before[2] < -0.5  # the sample at 3 s is passed without a stop
    first, *_, last = quintics(channel)
    assert abs(first[1]) < 1e-12  # rest at both ends
    assert abs(np.polynomial.Polynomial(last).deriv()(1.5)) < 1e-12


def test_a_ramp_stays_a_ramp_between_its_ends():
    times = 0.005 * np.arange(100)
    channel = Channel(times, np.outer(times, [1.0, -2.0]))
    fine = np.linspace(times[1], times[-2], 1001)
    np.testing.assert_allclose(channel.at(fine), np.outer(fine, [1.0, -2.0]), atol=1e-15)


@pytest.mark.parametrize("period", [0.005, 0.01])
def test_dense_samples_of_a_smooth_motion_give_it_back(period):
    times = np.arange(0.0, 4.0 + period / 2.0, period)
    channel = Channel(times, np.sin(3.0 * times)[:, None])
    fine = np.arange(0.5, 3.5, 1e-3)
    error = np.abs(channel.at(fine)[:, 0] - np.sin(3.0 * fine))
    # Astride a turn it is nearly flat: at worst as far off as a straight line.
    assert error.max() <= 9.0 * period**2 / 8.0
    # Elsewhere of third order in position and of first order in acceleration, d3x/dt3 <= 27.
    going = np.abs(np.cos(3.0 * fine)) > 18.0 * period
    assert error[going].max() < 27.0 * period**3 / 20.0
    around = channel.at(np.add.outer([-1e-3, 0.0, 1e-3], fine).ravel()).reshape(3, -1)
    acceleration = np.diff(around, 2, axis=0)[0] / 1e-6
    astray = np.abs(acceleration + 9.0 * np.sin(3.0 * fine))[1:-1]
    assert astray[going[1:-1]].max() < 27.0 * period * 1.5


def test_values_are_held_beyond_the_ends():
    channel = Channel([1.0, 2.0, 3.0], [[0.0], [1.0], [3.0]])
    np.testing.assert_array_equal(channel.at([-5.0, 1.0, 3.0, 9.0]), [[0.0], [0.0], [3.0], [3.0]])
    single = Channel([2.0], [[0.1, 0.2]])
    np.testing.assert_array_equal(single.at([0.0, 3.0]), [[0.1, 0.2], [0.1, 0.2]])
    np.testing.assert_array_equal(single.at(7.0), [0.1, 0.2])


@pytest.mark.parametrize(
    ("times", "values", "message"),
    [
        ([0.0, 1.0, 1.0], np.zeros((3, 1)), "sample 1 is at 1.0 s and sample 2 at 1.0 s"),
        ([0.0, 1.0], [[0.0], [np.nan]], "sample 1 has a value that is not finite: nan"),
        ([0.0, np.inf], [[0.0], [0.0]], "sample 1 has a time"),
        ([], np.zeros((0, 2)), r"Got shapes \(0,\) and \(0, 2\)"),
        ([0.0, 1.0], np.zeros((3, 1)), r"Got shapes \(2,\) and \(3, 1\)"),
    ],
)
def test_channels_that_do_not_hold_together(times, values, message):
    with pytest.raises(SequenceError, match=message):
        Channel(times, values)


def test_channels_of_a_wrong_width():
    pos = Channel([0.0], [[0.0, 0.0]])
    with pytest.raises(SequenceError, match="pos must have 1 values in each sample, got 2"):
        MotionSequence(("a",), pos)
    with pytest.raises(SequenceError, match="waist must have 6 values in each sample, got 2"):
        MotionSequence(("a", "b"), pos, waist=pos)
    with pytest.raises(SequenceError, match="wrenches must have a multiple of 6 values"):
        MotionSequence(("a", "b"), pos, wrenches=pos)


POS = Channel([0.0], [[0.0]])


def test_waist_pose_comes_from_waist():
    waist = Channel([0.0, 2.0], [[0.0, 0.0, 0.6, 0.1, -0.2, 0.3], [0.2, 0.0, 0.6, 0.3, 0.2, 0.7]])
    p, R = MotionSequence(("a",), POS, waist=waist).waist_pose_at(1.0)
    np.testing.assert_allclose(p, [0.1, 0.0, 0.6])
    np.testing.assert_allclose(R, pinocchio.rpy.rpyToMatrix(0.2, 0.0, 0.5), atol=1e-15)


def test_hip_beats_the_orientation_of_waist():
    waist = Channel([0.0, 2.0], [[0.0, 0.0, 0.6, 1.0, 1.0, 1.0], [0.2, 0.0, 0.6, 1.0, 1.0, 1.0]])
    hip = Channel([0.5], [[0.1, 0.2, -0.3]])
    p, R = MotionSequence(("a",), POS, waist=waist, hip=hip).waist_pose_at([0.0, 1.0, 2.0])
    np.testing.assert_allclose(p, [[0.0, 0.0, 0.6], [0.1, 0.0, 0.6], [0.2, 0.0, 0.6]])
    np.testing.assert_allclose(R, [pinocchio.rpy.rpyToMatrix(0.1, 0.2, -0.3)] * 3, atol=1e-15)
    p, R = MotionSequence(("a",), POS, hip=hip).waist_pose_at(0.0)
    assert p is None and R.shape == (3, 3)
    with pytest.raises(SequenceError, match="no pose of the waist: give waist or hip"):
        MotionSequence(("a",), POS).waist_pose_at(0.0)


def test_yaw_goes_the_shorter_way_past_half_a_turn():
    hip = Channel([0.0, 1.0], [[0.0, 0.0, 3.1], [0.0, 0.0, 3.1 - 2.0 * np.pi + 0.2]])
    R = MotionSequence(("a",), POS, hip=hip).waist_pose_at(0.5)[1]
    np.testing.assert_allclose(R, pinocchio.rpy.rpyToMatrix(0.0, 0.0, 3.2), atol=1e-14)
