# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Designs of experiments: the values of the parameters in each run.

    Design({"friction.sole-floor.static": {"values": [0.3, 0.8]}}, "grid")
    Design({"pushes.1.impulse": {"uniform": [0, 60]}}, "sobol", count=1024)
    product(first, second)    every run of the first with every run of the second

The random methods are numpy's generator and the engines of scipy.stats.qmc.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim import limits
from hrpsim.errors import shown_value, unknown_name
from hrpsim.sweeps.framework.distributions import Continuous, Levels, read_distribution
from hrpsim.sweeps.framework.errors import SweepError
from hrpsim.text_file import read_text

_SAMPLED = ("random", "latin_hypercube", "sobol", "halton")
METHODS = ("grid", *_SAMPLED, "table")
MOST_CELLS = 10_000_000

Column = list[Any]


@dataclass(frozen=True)
class Design:
    """Values of parameters, by path.

    parameters: a value each, or a distribution (see distributions.py). method: one of METHODS.
    count: the number of runs, of random methods. rows: of a table, one mapping per run. repeat:
    how often each run is made, every time with another seed. Raises SweepError.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    method: str = "grid"
    count: int | None = None
    repeat: int = 1
    rows: Sequence[Mapping[str, Any]] = ()

    def __post_init__(self):
        if self.method not in METHODS:
            raise SweepError(unknown_name("method", str(self.method), METHODS))
        for name, value in {"count": self.count, "repeat": self.repeat}.items():
            if value is None and name == "count":
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise SweepError(f"{name} must be a whole number >= 1, got {shown_value(value)}")
        samples = self.method in _SAMPLED
        if samples and self.count is None:
            raise SweepError(f"a design by {self.method} needs a count of cells")
        if not samples and self.count is not None:
            raise SweepError(
                f"a design by {self.method} has no count of cells; {', '.join(_SAMPLED)} have one, "
                "and repeat says how often each cell is there"
            )
        if (self.method == "table") != bool(self.rows):
            needs = "needs a table of rows" if self.method == "table" else "has no table"
            raise SweepError(f"a design by {self.method} {needs}")
        for path, distribution in self._distributions.items():
            self._refuse(path, distribution)

    def _refuse(self, path: str, distribution: Levels | Continuous) -> None:
        """Raise SweepError for values that the method cannot sample."""
        if self.method == "grid" and not isinstance(distribution, Levels):
            raise SweepError(
                f"parameter {path!r}: a grid needs values, steps or integers, not "
                f"{distribution.kind}, which goes with a method such as sobol and a count"
            )
        if self.method == "table":
            if not isinstance(distribution, Levels) or len(distribution.levels) != 1:
                raise SweepError(f"parameter {path!r}: with a table only single values go")
            if path in self.rows[0]:
                raise SweepError(f"parameter {path!r} is in the table and outside it")

    @cached_property
    def _distributions(self) -> dict[str, Levels | Continuous]:
        found = {}
        for path, given in self.parameters.items():
            try:
                found[path] = read_distribution(given)
            except SweepError as error:
                raise SweepError(f"parameter {path!r}: {error}") from error
        return found

    @property
    def paths(self) -> list[str]:
        """The parameters that have values."""
        return [*self.parameters, *(map(str, self.rows[0]) if self.rows else ())]

    def columns(self, seed: int) -> dict[str, Column]:
        """Return the values of every parameter, run by run; the same for the same seed."""
        columns = {
            "grid": self._grid,
            "table": self._table,
        }.get(self.method, self._sampled)(self._distributions, seed)
        size = len(next(iter(columns.values()), [])) or 1
        _refuse_large(size * self.repeat)
        return {
            path: [value for value in column for _ in range(self.repeat)]
            for path, column in columns.items()
        } or {"": [None] * self.repeat}

    def _grid(self, distributions: dict, seed: int) -> dict[str, Column]:
        size = self.repeat
        for distribution in distributions.values():
            size *= len(distribution.levels)
            _refuse_large(size)
        cells = itertools.product(*(d.levels for d in distributions.values()))
        return {path: list(column) for path, column in zip(distributions, zip(*cells))}

    def _sampled(self, distributions: dict, seed: int) -> dict[str, Column]:
        _refuse_large(self.count * self.repeat)
        points = _points(self.method, self.count, max(len(distributions), 1), seed)
        return {
            path: distribution.at(points[:, k])
            for k, (path, distribution) in enumerate(distributions.items())
        }

    def _table(self, distributions: dict, seed: int) -> dict[str, Column]:
        names = list(self.rows[0])
        for k, row in enumerate(self.rows):
            if list(row) != names:
                raise SweepError(
                    f"row {k} of the table has {', '.join(map(str, row))}; "
                    f"row 0 has {', '.join(map(str, names))}"
                )
        columns = {str(name): [row[name] for row in self.rows] for name in names}
        for path, distribution in distributions.items():
            columns[path] = list(distribution.levels) * len(self.rows)
        return columns


@dataclass(frozen=True)
class Product:
    """Every run of the first design with every run of the next, and so on."""

    designs: tuple[Design, ...]

    def columns(self, seed: int) -> dict[str, Column]:
        """Return the values of every parameter, run by run; the same for the same seed."""
        parts = [design.columns(seed + k) for k, design in enumerate(self.designs)]
        names = [name for part in parts for name in part if name]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise SweepError(f"parameter {sorted(twice)[0]!r} is in two of the designs")
        sizes = [len(next(iter(part.values()))) for part in parts]
        _refuse_large(int(np.prod(np.array(sizes, dtype=object))))
        places = np.indices(sizes).reshape(len(sizes), -1)
        return {
            name: [column[i] for i in places[k]]
            for k, part in enumerate(parts)
            for name, column in part.items()
            if name
        } or {"": [None] * places.shape[1]}


def product(*designs: Design) -> Product:
    """Return the design of all combinations of runs."""
    return Product(designs)


def read_table(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a CSV file whose first line names parameters; numbers where they are."""
    text = read_text(path, SweepError, limits.TABLE_SIZE, "TABLE_SIZE", "table")
    reader = csv.DictReader(io.StringIO(text))
    names = list(reader.fieldnames or ())
    if twice := [name for name in names if names.count(name) > 1]:
        raise SweepError(f"{path}:1: {twice[0]!r} is the name of two columns")
    rows = []
    for row in reader:
        if None in row or None in row.values():
            raise SweepError(f"{path}:{reader.line_num}: not as many values as there are names")
        rows.append({name: _number_or_text(value) for name, value in row.items()})
    if not rows:
        raise SweepError(f"{path}: a table needs a line of names and one of values")
    return rows


def seed_of(seed: int, cell: int) -> int:
    """Return the seed of a run: reproducible, and independent of other runs' seeds."""
    sequence = np.random.SeedSequence(seed, spawn_key=(cell,))
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


def _points(method: str, count: int, dimensions: int, seed: int) -> np.ndarray:
    """Return points (count, dimensions) in the unit cube."""
    generator = np.random.default_rng(seed)
    if method == "random":
        return generator.random((count, dimensions))
    import warnings

    from scipy.stats import qmc

    engines = {"latin_hypercube": qmc.LatinHypercube, "sobol": qmc.Sobol, "halton": qmc.Halton}
    with warnings.catch_warnings():
        # A count that is no power of two costs Sobol's points some balance only.
        warnings.filterwarnings("ignore", "The balance properties of Sobol", UserWarning)
        return engines[method](dimensions, seed=generator).random(count)


def _refuse_large(size: int) -> None:
    if size > MOST_CELLS:
        raise SweepError(f"the design has {size} cells, at most {MOST_CELLS} are allowed")


def _number_or_text(text: str) -> Any:
    for kind in (int, float) if "_" not in text else ():  # 1_0 is a number in Python only
        try:
            return kind(text)
        except ValueError:
            pass
    return text
