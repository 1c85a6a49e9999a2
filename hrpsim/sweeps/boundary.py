# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The boundary between successful and failed runs along one parameter.

Each cell is a bisection. The bisection narrows the parameter to an interval whose lower end
succeeds and whose upper end fails. If the outcome changes more than once in the range, the result
is one of the boundaries.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from hrpsim.common.errors import require_name, shown_value
from hrpsim.common.values import is_number
from hrpsim.sweeps.framework.scenario import (
    Outcome,
    Parameter,
    Scenario,
    SweepError,
    unknown_parameter,
)


class BoundaryScenario(Scenario):
    """Scenario that finds the value of `parameter` from which the outcome `bad` is not zero.

    between: range of the search (low, high), narrowed to an interval of `tolerance`. All runs of
    one bisection have the same seed.

    | outcome | meaning |
    | --- | --- |
    | survived | lower end of the last interval; NaN if `low` already fails |
    | failed | upper end of the last interval; NaN if `high` still succeeds |
    | border | middle of the interval; `low` or `high` in these two cases |
    | runs | number of runs |
    """

    def __init__(
        self,
        scenario: Scenario,
        parameter: str,
        between: tuple[float, float],
        tolerance: float,
        bad: str = "fell",
    ) -> None:
        known = scenario.parameters()
        if parameter not in known:
            raise SweepError(f"find: {unknown_parameter(parameter, known)}")
        require_name("outcome", bad, scenario.outcomes, SweepError, where="find: bad", limit=30)
        if shape := scenario.outcomes[bad].shape:
            raise SweepError(
                f"find: bad: {bad!r} must be a single number, but has the shape {shape}"
            )
        low, high = between
        if not all(map(is_number, (low, high, tolerance))) or not (low < high and tolerance > 0.0):
            raise SweepError(
                "find: between must be [low, high], and tolerance > 0, got "
                f"{shown_value(list(between))}, {shown_value(tolerance)}"
            )
        for end in (low, high):
            if mistake := known[parameter].mistake(end):
                raise SweepError(f"find: {parameter} = {end}: {mistake}")
        self.scenario, self.parameter, self.bad = scenario, parameter, bad
        self._between, self._tolerance = (float(low), float(high)), float(tolerance)
        unit = known[parameter].unit
        self._outcomes = {
            "border": Outcome(unit, f"of {parameter}, above which {bad}"),
            "survived": Outcome(unit, f"largest {parameter} tried that ended well"),
            "failed": Outcome(unit, f"smallest {parameter} tried that did not"),
            "runs": Outcome("", "that it took"),
        }

    @property
    def runs(self) -> str:
        """A text that describes how runs are made."""
        return self.scenario.runs

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """The outcomes: the boundary, and the interval around the boundary."""
        return self._outcomes

    def parameters(self) -> Mapping[str, Parameter]:
        """Return the scenario's parameters without the parameter of the search."""
        known = dict(self.scenario.parameters())
        del known[self.parameter]
        return known

    def check(self, values: Mapping[str, Any]) -> None:
        """Raise the errors of the scenario for values at both ends of the search."""
        for end in self._between:
            try:
                self.scenario.check({**values, self.parameter: end})
            except ValueError as error:
                raise SweepError(f"find: {self.parameter} = {end:g}: {error}") from error

    def identity(self) -> Any:
        """Return the scenario's identity and the settings of the search."""
        looked = [self.parameter, *self._between, self._tolerance, self.bad]
        return {"boundary": looked, "of": self.scenario.identity()}

    def probe(self) -> str:
        """Return the hash of sample results of the scenario."""
        return self.scenario.probe()

    def run(self, values: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the boundary for the other parameters' values, found by bisection."""

        def ends_badly(at: float) -> bool:
            outcome = self.scenario.run({**values, self.parameter: at}, seed)[self.bad]
            if math.isnan(outcome):
                raise SweepError(
                    f"find: {self.bad} is NaN at {self.parameter} = {at:g}. `bad` needs an outcome "
                    "that is 0 if a run ends well, such as fell"
                )
            return bool(outcome)

        low, high = self._between
        if ends_badly(low):
            return {"border": low, "survived": math.nan, "failed": low, "runs": 1.0}
        if not ends_badly(high):
            return {"border": high, "survived": high, "failed": math.nan, "runs": 2.0}
        runs = 2
        while high - low > self._tolerance:
            middle = 0.5 * low + 0.5 * high  # the sum may overflow
            if not low < middle < high:  # there is no number between them
                break
            if ends_badly(middle):
                high = middle
            else:
                low = middle
            runs += 1
        return {
            "border": 0.5 * low + 0.5 * high,
            "survived": low,
            "failed": high,
            "runs": float(runs),
        }
