# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The solver's stopping rule and convergence, and step times between reports. Needs no ROS."""

from __future__ import annotations

import math
import time

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.world.parts.results import Convergence, Unmet
from hrpsim.world.settings import ACCURACIES


class SolverSettings:
    """Sets sweep limit and tolerance of a world.

    0 restores the value that the world was made with.
    """

    def __init__(self, world) -> None:
        self._world = world
        settings = world.scene.settings[0]
        self._original = {
            name: settings[name].item()
            for name in ("sweep_limit", "cold_sweep_limit", "tolerance", "relative_tolerance")
        }
        self.sweep_limit = 0
        self.tolerance = 0.0
        self.accuracy = ""  # a key of ACCURACIES, instead of the tolerance

    def problem(self, name: str, value) -> str:
        """Return why a setting cannot have a value, or ""."""
        settings = {"tolerance": self.tolerance, "accuracy": self.accuracy, name: value}
        if settings["tolerance"] and settings["accuracy"]:
            return "only one of solver_tolerance and solver_accuracy may be given"
        if settings["accuracy"] and self._original["relative_tolerance"] > 0.0:
            return "solver_accuracy is a residual [m/s]: the world's `stop` must be 'residual'"
        return ""

    def of(self, world) -> SolverSettings:
        """Return the same settings for another world, and apply them."""
        other = SolverSettings(world)
        other.sweep_limit, other.tolerance = self.sweep_limit, self.tolerance
        other.accuracy = self.accuracy
        other.apply()
        return other

    def apply(self) -> None:
        """Write the settings to the world, after a change or a reset."""
        settings = self._world.scene.settings[0]
        for name in ("sweep_limit", "cold_sweep_limit"):
            settings[name] = self.sweep_limit or self._original[name]
        # World's rule: "relative_change" if its tolerance is set, otherwise "residual".
        relative = self._original["relative_tolerance"] > 0.0
        name = "relative_tolerance" if relative else "tolerance"
        scale = 1.0 if relative else STANDARD_GRAVITY * self._world.time_step
        tolerance = self.tolerance or ACCURACIES.get(self.accuracy, 0.0)
        settings[name] = tolerance * scale or self._original[name]


class StepAccount:
    """Counts steps, wall time, and steps without convergence of the solver."""

    def __init__(self, clock: SimulationClock) -> None:
        self._clock = clock
        self.unconverged_count = 0  # steps without convergence since the start
        self.newton_count = 0  # steps in which Newton's method solved an island, since the start
        self.made, self.unmet = 0, Unmet()  # steps since the last report
        self.begin_interval()

    def count(self, seconds: float, made: Convergence) -> None:
        """Add the wall time of some steps [s] and the convergence of the solver in these steps."""
        self._seconds += seconds
        self.made += made.steps
        self.newton_count += made.newton_steps
        if made.unconverged:
            self.unconverged_count += made.unconverged
            self.unmet.add(made.unconverged, made.worst_residual, lambda: made.worst)

    def begin_interval(self) -> None:
        """Start measuring rates and times."""
        self._begun, self._seconds = time.monotonic(), 0.0
        self._first_step = self._clock.steps

    def begin_report(self) -> None:
        """Start the counts for the next report."""
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
        """Mean wall time of a step in this interval [s]. NaN without steps."""
        steps = self._clock.steps - self._first_step
        return self._seconds / steps if steps else math.nan

    def describe_unmet(self) -> str:
        """Describe how many steps did not converge, and the constraint with the largest error."""
        text = f"the solver did not converge in {self.unmet.count} of {self.made} steps"
        worst = f", furthest off is {self.unmet.worst}" if self.unmet.worst else ""
        return f"{text}{worst}; largest residual {self.unmet.residual:.3g} m/s"
