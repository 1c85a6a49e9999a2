# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Experiments and their results: rows of values, notes, and data for a figure.

    def run(options: Options) -> Result: ...
    def draw(result: Result, figure) -> None: ...   # on a matplotlib figure

    EXPERIMENT = Experiment("E7", "Stopping distance", "thesis, Figs 8.2-8.5", run, draw)

A row with a target is met or missed. A row without a target is for information.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evidence.experiments.framework.targets import Target

Value = float | int | str | None


@dataclass(frozen=True)
class Row:
    """One result, with values of hrpsim, of the source document, of theory and of another engine.

    `unit` is an SI unit ("" for counts and ratios). None marks a missing value. A row without a
    `target` is for information.
    """

    what: str
    unit: str
    ours: Value
    target: Target | None = None
    source: Value = None
    analytic: Value = None
    peer: Value = None

    @property
    def met(self) -> bool | None:
        """Whether hrpsim's value satisfies the target. None without a target."""
        if self.target is None:
            return None
        if self.ours is None or (isinstance(self.ours, float) and math.isnan(self.ours)):
            return False
        return bool(self.target.holds(self.ours))


@dataclass(frozen=True)
class Options:
    """Options of an experiment.

    Attributes:
        quick: whether to run fewer or shorter cases with the same targets.
        data: folder of measurements. measurements.py describes the default.
        fit: whether to fit parameters to the measurements again, which takes long.
    """

    quick: bool = False
    data: Path | None = None
    fit: bool = False


@dataclass
class Result:
    """Rows and notes of one run, the name `peer` of the other engine, and `data` for the figure."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    peer: str = "none"
    data: dict[str, Any] = field(default_factory=dict)

    def add(
        self, what: str, unit: str, ours: Value, target: Target | None = None, **others: Value
    ) -> None:
        """Add a row.

        others: the row's values `source`, `analytic` and `peer`.
        """
        self.rows.append(Row(what, unit, ours, target, **others))

    def of(self, case: str) -> Callable[..., None]:
        """Return a variant of `add` that puts `case` in front of each row's name."""
        return lambda what, *values, **others: self.add(case + what, *values, **others)

    @property
    def met(self) -> bool:
        """Whether no row misses its target."""
        return all(row.met is not False for row in self.rows)


@dataclass(frozen=True)
class Experiment:
    """An experiment of the thesis or of a paper, or a comparison with published measurements.

    `source` names the document or the data.
    """

    name: str
    title: str
    source: str
    run: Callable[[Options], Result]
    draw: Callable[[Result, Any], None]
