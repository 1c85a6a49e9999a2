# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The time over which position targets move to those of a new command. Needs no ROS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hrpsim.ros.base.stamps import SimulationClock

# Commands that come less often are single ones, not a stream [s].
LONGEST_INTERVAL = 0.05
_MEMORY = 50.0  # commands within which a long interval is forgotten


class Interpolation:
    """The same time for every command [s], 0 for none: in lockstep the control period."""

    def __init__(self, time: float = 0.0):
        self._time = time

    def time_for(self, names: Sequence[str]) -> float:
        """Return the time for a command to joints at this step [s]; StateError if unknown."""
        return self._time

    def note(self, names: Sequence[str]) -> None:
        """Note that joints are commanded at this step."""

    def forget(self) -> None:
        """Forget the commands, after a reset."""


class IntervalInterpolation(Interpolation):
    """The time between commands to the same joints, for streams without lockstep.

    Targets move continuously and arrive late by this time, as the next command is not known. It is
    the interval of a regular stream. A longer one counts at once, up to LONGEST_INTERVAL, and is
    forgotten slowly: a lag that varies would itself shake the robot. Targets jump at commands that
    have come further apart from the first one on.
    """

    def __init__(self, robot, clock: SimulationClock):
        super().__init__()
        self._joints, self._clock = robot.joint_index, clock
        self._last = np.full(len(self._joints), -np.inf)  # step of the last command
        self._interval = np.zeros(len(self._joints))  # [steps]; 0: no stream yet

    def time_for(self, names: Sequence[str]) -> float:
        """Return the time for a command to joints at this step [s]; StateError if unknown."""
        intervals = self._intervals(self._joints.indices(names))
        return float(intervals.max(initial=0.0) * self._clock.time_step)

    def note(self, names: Sequence[str]) -> None:
        """Note that joints are commanded at this step."""
        joints = self._joints.indices(names)
        self._interval[joints] = self._intervals(joints)
        self._last[joints] = self._clock.steps

    def forget(self) -> None:
        """Forget the commands, after a reset."""
        self._last[:], self._interval[:] = -np.inf, 0.0

    def _intervals(self, joints: np.ndarray) -> np.ndarray:
        """Return the intervals of joints with a command at this step (k,) [steps]."""
        known, since = self._interval[joints], self._clock.steps - self._last[joints]
        longest = LONGEST_INTERVAL / self._clock.time_step
        since = np.where(known > 0.0, np.minimum(since, longest), since)
        since[since > longest] = 0.0
        longer = np.maximum(since, known + (since - known) / _MEMORY)
        return np.where(since > 0.0, longer, known)
