# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Step times and convergence of the solver, from one report to the next. Needs no ROS."""

from __future__ import annotations

import math
import time

from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.world.parts.convergence import Unmet
from hrpsim.world.parts.results import Convergence


class StepAccount:
    """Counts steps, their wall time, and those in which the solver did not converge."""

    def __init__(self, clock: SimulationClock):
        self._clock = clock
        self.unconverged_count = 0  # steps since the start, as the next
        self.newton_count = 0  # in which Newton's method solved an island
        self.made, self.unmet = 0, Unmet()  # steps since the last report
        self.begin_interval()

    def count(self, seconds: float, made: Convergence) -> None:
        """Add the wall time of some steps [s], and the convergence of the solver in them."""
        self._seconds += seconds
        self.made += made.steps
        self.newton_count += made.newton_steps
        if made.unconverged:
            self.unconverged_count += made.unconverged
            self.unmet.add(made.unconverged, made.worst_residual, lambda: made.worst)

    def begin_interval(self) -> None:
        """Start to measure rates and times."""
        self._begun, self._seconds = time.monotonic(), 0.0
        self._first_step = self._clock.steps

    def begin_report(self) -> None:
        """Start to count for the next report."""
        self.made, self.unmet = 0, Unmet()
        self.begin_interval()

    @property
    def elapsed(self) -> float:
        """Time since the interval began [s, wall]."""
        return max(time.monotonic() - self._begun, 1e-9)

    @property
    def real_time_factor(self) -> float:
        """Simulated seconds for each second of wall time, in this interval."""
        return (self._clock.steps - self._first_step) * self._clock.time_step / self.elapsed

    @property
    def time_per_step(self) -> float:
        """Mean wall time of a step in this interval [s]; NaN without any."""
        steps = self._clock.steps - self._first_step
        return self._seconds / steps if steps else math.nan

    def describe_unmet(self) -> str:
        """Describe how many steps did not converge, and the constraint furthest off."""
        text = f"the solver did not converge in {self.unmet.count} of {self.made} steps"
        worst = f", furthest off is {self.unmet.worst}" if self.unmet.worst else ""
        return f"{text}{worst}; largest residual {self.unmet.residual:.3g} m/s"
