# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Checks for mistakes in a recording: wrong units, inconsistent velocities, missing commands."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

import numpy as np

from hrpsim.common.errors import FitError, FitWarning
from hrpsim.fitting.recordings.sensor_faults import sensor_faults
from hrpsim.model.readers.plausibility import DEGREES
from hrpsim.world.objects.plausibility import (
    SLOWEST_SAMPLES,
    STATE_SLACK,
    contradiction,
    listed,
    long_period,
)
from hrpsim.world.objects.robot import Robot

_LONGEST_GAP = 10.0  # between samples of a `Recording` [s]


def check_recording(recording, robot: Robot | None) -> None:
    """Raise FitError if a recording has wrong units. Warn about doubtful and missing values."""
    name, time = recording.name, recording.time
    interval = float(np.median(np.diff(time)))
    if text := long_period("the interval of samples", interval, SLOWEST_SAMPLES):
        raise FitError(f"{name}: {text}")
    for k in gaps(time)[:1]:
        raise FitError(
            f"{name}: no samples from {time[k - 1]:.9g} to {time[k]:.9g} s. Split the "
            "recording at this gap (begin, end), or read the file with read_recordings"
        )
    if recording.velocities is not None and recording.positions is not None:
        columns = zip(recording.joints, recording.positions.T, recording.velocities.T)
        for joint, positions, velocities in columns:
            if text := contradiction(time, positions, velocities):
                raise FitError(f"{name}: joint {joint!r}: {text}")
    for text in sensor_faults(recording):
        warnings.warn(f"{name}: {text}", FitWarning, stacklevel=4)
    if robot is not None:
        _check_limits(f"{name}: measured", robot, recording.joints, recording.positions)
        commands = recording.command_joints, recording.command_positions
        _check_limits(f"{name}: commanded", robot, *commands)
        _warn_of_missing_commands(recording, robot)


def _check_limits(
    what: str, robot: Robot, joints: Sequence[str], positions: np.ndarray | None
) -> None:
    """Warn about positions (n, joints) beyond the joint limits.

    Raises FitError if the positions seem to be in degrees.
    """
    if positions is None:
        return
    ends = (np.fmin.reduce(positions), np.fmax.reduce(positions))  # NaN: no value
    beyond = [robot.limits.beyond(joints, {"positions": end}, STATE_SLACK) for end in ends]
    text = listed([part for texts in beyond for part in texts])
    if DEGREES in text:
        raise FitError(f"{what} {text}")
    if text:
        warnings.warn(f"{what} {text}", FitWarning, stacklevel=5)


def _warn_of_missing_commands(recording, robot: Robot) -> None:
    """Warn about measured joints that have position servos but no commands."""
    commanded = () if recording.command_time is None else recording.command_joints
    servos = [n for n, kp in zip(robot.joint_names, robot.gains[0]) if kp > 0.0]
    left = [joint for joint in servos if joint in recording.joints and joint not in commanded]
    if left:
        listed = ", ".join(left[:4]) + ", ..." * (len(left) > 4)
        warnings.warn(
            f"{recording.name}: has no commands of {listed}. These servos hold the positions of the"
            " world file",
            FitWarning,
            stacklevel=5,
        )


def gaps(time: np.ndarray, longest: float = _LONGEST_GAP) -> np.ndarray:
    """Return for each of the times (n,) [s] whether a gap longer than `longest` [s] precedes it.

    A gap must also be longer than two usual intervals.
    """
    steps = np.diff(time)
    usual = float(np.median(steps)) if len(steps) else 0.0
    return np.flatnonzero(steps > max(longest, 2.0 * usual)) + 1


def repeats(time: np.ndarray, arrays: Iterable[np.ndarray]) -> np.ndarray:
    """Return whether each sample (n,) repeats the previous sample, as in a paused simulation.

    time: times (n,). arrays: values at these times, each (n, columns).
    """
    same = np.diff(time) == 0.0
    for array in arrays:
        same &= (array[1:] == array[:-1]).all(axis=1)
    return np.append(False, same)


def check_times(what: str, time: np.ndarray, repeated: bool = False) -> None:
    """Raise FitError if times (n,) [s] do not increase.

    Args:
        what: name of the times, for the error.
        time: times (n,) [s].
        repeated: whether successive rows may have equal times.
    """
    steps = np.diff(time)
    for k in np.flatnonzero(steps < 0.0 if repeated else steps <= 0.0)[:1]:
        raise FitError(
            f"{what} does not increase: {time[k + 1]:.9g} s follows {time[k]:.9g} s at sample "
            f"{k + 1}. Give each run of the clock as a recording of its own, as read_recordings "
            "does"
        )


def check_window(window: float, recordings) -> None:
    """Raise FitError for a window longer than all recordings, which is probably in milliseconds."""
    longest = max(float(recording.time[-1] - recording.time[0]) for recording in recordings)
    if window > longest + SLOWEST_SAMPLES and window >= 10.0:
        raise FitError(
            f"window is {window:g} s, longer than the recordings ({longest:.4g} s). If {window:g} "
            f"ms are meant, write {window / 1000.0:g}"
        )
