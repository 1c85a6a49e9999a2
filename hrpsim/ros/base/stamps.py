# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Simulated time in ROS: integer nanoseconds that never decrease. Needs no ROS."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from hrpsim.constants import NANOSECONDS

if TYPE_CHECKING:
    from builtin_interfaces.msg import Time

_ROUNDING = 1e-3  # of a step: stamps are whole nanoseconds


class Stamp(NamedTuple):
    """A time as in ROS messages: whole seconds and the remaining nanoseconds."""

    seconds: int
    nanoseconds: int

    @property
    def total(self) -> int:
        """Time since zero [ns]."""
        return self.seconds * NANOSECONDS + self.nanoseconds

    def __str__(self) -> str:
        """Return the time in seconds with all digits."""
        return f"{self.seconds}.{self.nanoseconds:09d}"

    def to_message(self) -> Time:
        """Return the builtin_interfaces/Time."""
        from builtin_interfaces.msg import Time

        return Time(sec=self.seconds, nanosec=self.nanoseconds)


class SimulationClock:
    """Counts the steps since the node started; a reset of the world does not reset it."""

    def __init__(self, time_step: float):
        self.time_step = time_step  # [s]
        self.steps = 0

    def step_at(self, stamp: Time) -> int:
        """Return the first step at which `stamp` has been reached."""
        nanoseconds = stamp.sec * NANOSECONDS + stamp.nanosec
        return math.ceil(nanoseconds / (self.time_step * NANOSECONDS) - _ROUNDING)

    def change_step(self, time_step: float) -> None:
        """Change the step length [s]; start at its first multiple that is not in the past."""
        self.steps = math.ceil(self.steps * self.time_step / time_step - _ROUNDING)
        self.time_step = time_step

    @property
    def seconds(self) -> float:
        """Simulated time since the node started [s]."""
        return self.steps * self.time_step

    @property
    def stamp(self) -> Stamp:
        """Simulated time since the node started, to a nanosecond, without accumulated rounding."""
        return self.stamp_at(self.steps)

    def stamp_at(self, steps: int) -> Stamp:
        """Return the stamp of the time after `steps` steps."""
        return Stamp(*divmod(round(steps * self.time_step * NANOSECONDS), NANOSECONDS))
