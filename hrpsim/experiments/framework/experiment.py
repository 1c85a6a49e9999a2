# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Experiments and their results: rows to compare, notes, and data for a figure.

    def run(options: Options) -> Result: ...
    def draw(result: Result, figure) -> None: ...   # on a matplotlib figure

    EXPERIMENT = Experiment("E7", "Stopping distance", "thesis, Figs 8.2-8.5", run, draw)

A row without a target informs; a row with one is met or missed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hrpsim.experiments.framework.targets import Target

Value = float | int | str | None


@dataclass(frozen=True)
class Row:
    """One result: ours, the source document's, theory's and another engine's.

    `unit` is SI ("" for counts and ratios). None: there is no such value. Without
    a `target` the row is for information.
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
        """Whether ours satisfies the target; None without a target."""
        if self.target is None:
            return None
        if self.ours is None or (isinstance(self.ours, float) and math.isnan(self.ours)):
            return False
        return bool(self.target.holds(self.ours))


@dataclass(frozen=True)
class Options:
    """Options of an experiment: `quick` takes fewer or shorter cases, same targets.

    `data` is the folder of measurements (engines.py says what None is); with `fit`
    parameters are fitted to them again, which takes long.
    """

    quick: bool = False
    data: Path | None = None
    fit: bool = False


@dataclass
class Result:
    """Rows and notes of one run, which engine `peer` is, and `data` that the figure is drawn of."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    peer: str = "none"
    data: dict[str, Any] = field(default_factory=dict)

    def add(
        self, what: str, unit: str, ours: Value, target: Target | None = None, **others: Value
    ) -> None:
        """Add a row; others: its `source`, `analytic` and `peer`."""
        self.rows.append(Row(what, unit, ours, target, **others))

    def of(self, case: str) -> Callable[..., None]:
        """Return `add` for rows of one case, whose names begin with `case`."""
        return lambda what, *values, **others: self.add(case + what, *values, **others)

    @property
    def met(self) -> bool:
        """Whether no row misses its target."""
        return all(row.met is not False for row in self.rows)


@dataclass(frozen=True)
class Experiment:
    """An experiment of the source documents, or on measurements; `source` says where it is from."""

    name: str
    title: str
    source: str
    run: Callable[[Options], Result]
    draw: Callable[[Result, Any], None]
