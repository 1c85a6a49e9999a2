# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The time over which position targets move to those of a new command. Needs no ROS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hrpsim.ros.base.stamps import SimulationClock

# Joints that are commanded less often move at once: these are single commands, not a stream [s].
LONGEST_INTERVAL = 0.05


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
    """The simulated time since the previous command to the same joints, for a stream of commands.

    Targets then move continuously and are one interval late, as no later command is known. They
    jump where no command came within LONGEST_INTERVAL before.
    """

    def __init__(self, robot, clock: SimulationClock):
        super().__init__()
        self._joints, self._clock = robot.joint_index, clock
        self._last = np.full(len(self._joints), -np.inf)  # step of the last command
        self._interval = np.full(len(self._joints), np.inf)  # before it [steps]

    def time_for(self, names: Sequence[str]) -> float:
        """Return the time for a command to joints at this step [s]; StateError if unknown."""
        interval = self._intervals(self._joints.indices(names)).max(initial=0.0)
        time = interval * self._clock.time_step
        return float(time) if time <= LONGEST_INTERVAL else 0.0

    def note(self, names: Sequence[str]) -> None:
        """Note that joints are commanded at this step."""
        joints = self._joints.indices(names)
        self._interval[joints] = self._intervals(joints)
        self._last[joints] = self._clock.steps

    def forget(self) -> None:
        """Forget the commands, after a reset."""
        self._last[:], self._interval[:] = -np.inf, np.inf

    def _intervals(self, joints: np.ndarray) -> np.ndarray:
        """Return the intervals up to this step (k,); of two commands at a step, the first's."""
        since = self._clock.steps - self._last[joints]
        return np.where(since > 0, since, self._interval[joints])
