# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Synchronise simulated time with the wall clock, at a real-time factor."""

import math
import time
from collections.abc import Callable

_LARGEST_DEBT = 0.1  # [s, wall]
_TOLERANCE = 1e-3  # fraction of a step: `wait` may return early by a rounding error


class Pacer:
    """Counter of the simulation steps that are due by the wall clock.

    `real_time_factor` simulated seconds pass for each second of `clock`. 0 means as fast as
    possible. If a loop is late by more than 0.1 s of wall time, the excess is dropped, so the mean
    real-time factor becomes smaller.
    """

    def __init__(
        self,
        time_step: float,
        real_time_factor: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.time_step = time_step  # [s]
        self._clock = clock
        self._sleep = sleep
        self.real_time_factor = real_time_factor

    @property
    def real_time_factor(self) -> float:
        """Simulated seconds per wall second, or 0 for as fast as possible.

        An assignment restarts the count of steps and wall time.
        """
        return self._real_time_factor

    @real_time_factor.setter
    def real_time_factor(self, factor: float) -> None:
        self._real_time_factor = factor
        self.start()

    def start(self) -> None:
        """Restart the count from now: at the start, after a pause and after a change of pace."""
        self._origin = self._clock()
        self._steps_made = 0

    def steps_due(self, most: int) -> int:
        """Return the number of steps, at most `most`, that are due by the wall clock."""
        if self._real_time_factor == 0:
            return most
        now = self._clock()
        if now - self._time_of_step(self._steps_made) > _LARGEST_DEBT:
            self._origin = now - _LARGEST_DEBT
            self._steps_made = 0
        elapsed = (now - self._origin) * self._real_time_factor / self.time_step
        due = math.floor(elapsed + _TOLERANCE) - self._steps_made
        return max(0, min(most, due))

    def made(self, steps: int) -> None:
        """Count `steps` steps that the loop has done."""
        self._steps_made += steps

    def wait(self, longest: float) -> None:
        """Sleep until the next step is due, `longest` [s, wall] at most."""
        if self._real_time_factor == 0:
            return
        remaining = self._time_of_step(self._steps_made + 1) - self._clock()
        if remaining > 0:
            self._sleep(min(remaining, longest))

    def _time_of_step(self, step: int) -> float:
        return self._origin + step * self.time_step / self._real_time_factor
