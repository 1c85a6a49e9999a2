# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Designs of experiments: the values of the parameters in each run.

    Design({"friction.sole-floor.static": {"values": [0.3, 0.8]}}, "grid")
    Design({"pushes.1.impulse": {"uniform": [0, 60]}}, "sobol", count=1024)
    product(first, second)    every run of the first with every run of the second

A parameter has a value, a list, a range or a distribution:

    0.5                                     one value
    {values: [0.3, 0.5, 0.8]}               these, equally often
    {steps: [0.0, 1.0, 5]}                  five, evenly spaced, both ends among them
    {integers: [0, 4]}                      whole numbers, both ends among them
    {uniform: [0.0, 60.0]}
    {log_uniform: [1.0e-6, 1.0e-3]}
    {normal: [1.0, 0.05], within: [0.8, 1.2]}   mean, standard deviation; truncated to `within`

The random methods give points of the unit cube: numpy's generator and the engines of
scipy.stats.qmc. The quantile functions of the distributions turn these points into the values of a
run.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.common import limits
from hrpsim.common.errors import require_name, shown_value
from hrpsim.common.foreign.csv_rows import csv_rows
from hrpsim.common.foreign.text import read_text
from hrpsim.common.typed_values import require_fit
from hrpsim.common.values import LARGEST, is_number, whole_count
from hrpsim.sweeps.framework.scenario import SweepError

KINDS = ("values", "steps", "integers", "uniform", "log_uniform", "normal")
_MOST_LEVELS = 1_000_000
_SAMPLED = ("random", "latin_hypercube", "sobol", "halton")
METHODS = ("grid", *_SAMPLED, "table")
MOST_CELLS = 10_000_000
Column = list[Any]


@dataclass(frozen=True)
class Levels:
    """A distribution over finitely many values of equal probability."""

    levels: tuple[Any, ...]

    def at(self, quantiles: np.ndarray) -> list[Any]:
        """Return the values at quantiles (n,) in [0, 1)."""
        indices = np.minimum((quantiles * len(self.levels)).astype(int), len(self.levels) - 1)
        return [self.levels[k] for k in indices]


@dataclass(frozen=True)
class Continuous:
    """A distribution over numbers: kind, two parameters, and truncation."""

    kind: str
    a: float
    b: float
    within: tuple[float, float] = (-math.inf, math.inf)

    def at(self, quantiles: np.ndarray) -> list[float]:
        """Return the values at quantiles (n,) in [0, 1)."""
        if self.kind == "uniform":
            values = self.a + quantiles * (self.b - self.a)
        elif self.kind == "log_uniform":
            values = self.a * (self.b / self.a) ** quantiles
        else:
            from scipy.special import ndtr, ndtri

            low, high = (ndtr((bound - self.a) / self.b) for bound in self.within)
            # Half a step of a double away from the ends, because the quantile at the ends is
            # infinite.
            inner = np.clip(low + quantiles * (high - low), 2.0**-53, 1.0 - 2.0**-53)
            values = np.clip(self.a + self.b * ndtri(inner), *self.within)
        return values.tolist()


def read_distribution(given: Any) -> Levels | Continuous:
    """Parse a number, a text or a mapping. Raises SweepError with the mistake."""
    if isinstance(given, (str, bool, int, float, np.generic)):
        return Levels((_plain(given),))
    if not isinstance(given, Mapping):
        raise SweepError(
            f"must be a value, or a mapping with one key from {', '.join(KINDS)}, got "
            f"{shown_value(given)}"
        )
    kinds = [key for key in given if key != "within"]
    if len(kinds) != 1:
        raise SweepError(
            f"must have one key from {', '.join(KINDS)}, got {shown_value(dict(given))}"
        )
    kind = kinds[0]
    require_name("distribution", kind, KINDS, SweepError)
    if "within" in given and kind != "normal":
        raise SweepError(f"`within` can be used with normal, not with {kind}")
    if kind == "values":
        return _listed(given[kind])
    if kind in ("steps", "integers"):
        return _evenly(kind, given[kind])
    return _normal(given) if kind == "normal" else _between(kind, given[kind])


def _normal(given: Mapping) -> Continuous:
    a, b = _numbers("normal", given["normal"], 2)
    within = _numbers("within", given["within"], 2) if "within" in given else (-math.inf, math.inf)
    if not (b > 0.0 and within[0] < within[1]):
        raise SweepError(
            "normal: needs [mean, standard deviation > 0], and within: needs [low, high] with "
            f"low < high, got {shown_value(dict(given))}"
        )
    low, high = (0.5 * math.erfc((a - bound) / (b * math.sqrt(2.0))) for bound in within)
    if low == high:
        raise SweepError(
            f"normal: [{a:g}, {b:g}] has no probability within [{within[0]:g}, {within[1]:g}]"
        )
    return Continuous("normal", a, b, within)


def _between(kind: str, bounds: Any) -> Continuous:
    a, b = _numbers(kind, bounds, 2)
    if kind == "log_uniform" and 0.0 < a < 1.0 / LARGEST:
        raise SweepError(f"log_uniform: low must be {1.0 / LARGEST:g} or more, got {a:g}")
    if not a < b or (kind == "log_uniform" and a <= 0.0):
        order = "0 < low < high" if kind == "log_uniform" else "low < high"
        raise SweepError(f"{kind}: [low, high] needs {order}, got {shown_value(bounds)}")
    return Continuous(kind, a, b)


def _listed(values: Any) -> Levels:
    if not isinstance(values, (list, tuple)) or not values:
        raise SweepError(f"values: must be a list of at least one value, got {shown_value(values)}")
    for value in values:
        if not isinstance(value, (str, bool, int, float, np.generic)):
            raise SweepError(
                f"values: must be numbers, texts or truth values, got {shown_value(value)}"
            )
    return Levels(tuple(_plain(value) for value in values))


def _evenly(kind: str, values: Any) -> Levels:
    if kind == "integers":
        low, high = _numbers(kind, values, 2)
        if low != int(low) or high != int(high) or not low <= high < low + _MOST_LEVELS:
            raise SweepError(
                f"integers: must be [low, high], with at most {_MOST_LEVELS} whole numbers "
                "between, "
                f"got {shown_value(values)}"
            )
        return Levels(tuple(range(int(low), int(high) + 1)))
    low, high, count = _numbers(kind, values, 3)
    if count != int(count) or not 2 <= count <= _MOST_LEVELS or not low < high:
        raise SweepError(
            "steps: must be [low, high, count], with low < high and a whole count from 2 to "
            f"{_MOST_LEVELS}, got {shown_value(values)}"
        )
    return Levels(tuple(np.linspace(low, high, int(count)).tolist()))


def _numbers(what: str, values: Any, count: int) -> tuple[float, ...]:
    good = isinstance(values, (list, tuple)) and len(values) == count
    if not good or not all(is_number(value) and abs(value) <= LARGEST for value in values):
        raise SweepError(
            f"{what}: must be {count} finite numbers of at most {LARGEST:g} in size, "
            f"got {shown_value(values)}"
        )
    return tuple(float(value) for value in values)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True)
class Design:
    """Values of parameters, by path. Raises SweepError for an invalid design.

    Args:
        parameters: a value or a distribution for each parameter (see above).
        method: one of METHODS.
        count: number of runs, for random methods.
        repeat: number of repetitions of each run, each with another seed.
        rows: rows of a table, one mapping for each run.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    method: str = "grid"
    count: int | None = None
    repeat: int = 1
    rows: Sequence[Mapping[str, Any]] = ()

    def __post_init__(self) -> None:
        kind = Mapping[str, Any]
        require_fit("the parameters of a design", self.parameters, kind, SweepError)
        require_fit("the rows of a design", self.rows, Sequence[kind], SweepError)
        require_name("method", self.method, METHODS, SweepError)
        _refuse_large(whole_count("repeat", self.repeat, error=SweepError))
        if self.count is not None:
            whole_count("count", self.count, error=SweepError)
        samples = self.method in _SAMPLED
        if samples and self.count is None:
            raise SweepError(f"a design by {self.method} needs the number of cells. Give `count`")
        if not samples and self.count is not None:
            raise SweepError(
                f"a design by {self.method} has no `count`. Only {', '.join(_SAMPLED)} have a "
                "count. `repeat` repeats each cell"
            )
        if (self.method == "table") != bool(self.rows):
            needs = "needs a table of rows" if self.method == "table" else "has no table"
            raise SweepError(f"a design by {self.method} {needs}")
        for path, distribution in self._distributions.items():
            self._refuse(path, distribution)

    def _refuse(self, path: str, distribution: Levels | Continuous) -> None:
        """Raise SweepError for values that the sampling method cannot use."""
        if self.method == "grid" and not isinstance(distribution, Levels):
            raise SweepError(
                f"parameter {path!r}: a grid needs values, steps or integers, not "
                f"{distribution.kind}. Use {distribution.kind} with a method such as sobol, and a "
                "count"
            )
        if self.method == "table":
            if not isinstance(distribution, Levels) or len(distribution.levels) != 1:
                raise SweepError(
                    f"parameter {path!r}: must be a single value, because the design is a table"
                )
            if path in self.rows[0]:
                raise SweepError(
                    f"parameter {path!r} is both in the table and outside it. Remove one"
                )

    @cached_property
    def _distributions(self) -> dict[str, Levels | Continuous]:
        result = {}
        for path, entry in self.parameters.items():
            try:
                result[path] = read_distribution(entry)
            except SweepError as error:
                raise SweepError(f"parameter {path!r}: {error}") from error
        return result

    @property
    def paths(self) -> list[str]:
        """The parameters that have values."""
        return [*self.parameters, *(map(str, self.rows[0]) if self.rows else ())]

    def columns(self, seed: int) -> dict[str, Column]:
        """Return the values of every parameter for all runs. Equal seeds give equal values."""
        columns = {"grid": self._grid, "table": self._table}.get(self.method, self._sampled)(
            self._distributions, seed
        )
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
                    f"row {k} of the table has the columns {', '.join(map(str, row))}, but row 0 "
                    f"has {', '.join(map(str, names))}"
                )
        columns = {str(name): [row[name] for row in self.rows] for name in names}
        for path, distribution in distributions.items():
            columns[path] = list(distribution.levels) * len(self.rows)
        return columns


@dataclass(frozen=True)
class Product:
    """Every run of the first design with every run of the next, and so on."""

    designs: tuple[Design, ...]

    def __post_init__(self) -> None:
        require_fit("the designs of a product", self.designs, tuple[Design, ...], SweepError)
        names = Counter(itertools.chain.from_iterable(design.parameters for design in self.designs))
        _refuse_shared(names)

    def columns(self, seed: int) -> dict[str, Column]:
        """Return the values of every parameter for all runs. Equal seeds give equal values."""
        parts = [design.columns(seed + k) for k, design in enumerate(self.designs)]
        _refuse_shared(Counter(itertools.chain.from_iterable(parts)))
        sizes = [len(next(iter(part.values()))) for part in parts]
        _refuse_large(int(np.prod(np.array(sizes, dtype=object))))
        indices = np.indices(sizes).reshape(len(sizes), -1)
        return {
            name: [column[i] for i in indices[k]]
            for k, part in enumerate(parts)
            for name, column in part.items()
            if name
        } or {"": [None] * indices.shape[1]}


def _refuse_shared(counts: Mapping[str, int]) -> None:
    """Raise SweepError for a parameter that is in several designs."""
    for name in sorted(name for name, count in counts.items() if name and count > 1)[:1]:
        raise SweepError(f"parameter {name!r} is in two of the designs. Remove one")


def product(*designs: Design) -> Product:
    """Return the design of all combinations of runs."""
    return Product(designs)


def read_table(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a CSV file whose first line names parameters. Numbers are converted."""
    lines = read_text(path, SweepError, "TABLE_SIZE", "table").splitlines(keepends=True)
    cells = csv_rows(lines, path, SweepError, limits.TABLE_VALUES, "TABLE_VALUES")
    names, _ = next(cells, ([], 0))
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise SweepError(f"{path}:1: two columns have the name {shown_value(twice[0])}")
    rows = []
    for row, line in cells:
        if row and len(row) != len(names):
            raise SweepError(f"{path}:{line}: must have one value for each name in the first line")
        if row:
            rows.append(dict(zip(names, map(_number_or_text, row))))
    if not rows:
        raise SweepError(f"{path}: a table needs a line of names, and at least one line of values")
    return rows


def seed_of(seed: int, cell: int) -> int:
    """Return the seed of a run. The seed is reproducible, and differs from run to run."""
    sequence = np.random.SeedSequence(seed, spawn_key=(cell,))
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))


def _points(method: str, count: int, dimensions: int, seed: int) -> np.ndarray:
    """Return points (count, dimensions) in the unit cube, drawn by a random method."""
    generator = np.random.default_rng(seed)
    if method == "random":
        return generator.random((count, dimensions))
    import warnings

    from scipy.stats import qmc

    engines = {"latin_hypercube": qmc.LatinHypercube, "sobol": qmc.Sobol, "halton": qmc.Halton}
    with warnings.catch_warnings():
        # Sobol's points lose some balance if the count is not a power of two.
        warnings.filterwarnings("ignore", "The balance properties of Sobol", UserWarning)
        return engines[method](dimensions, seed=generator).random(count)


def _refuse_large(size: int) -> None:
    if size > MOST_CELLS:
        raise SweepError(f"the design has {size} cells. At most {MOST_CELLS} are allowed")


def _number_or_text(text: str) -> Any:
    for kind in (int, float) if "_" not in text else ():  # only Python reads 1_0 as a number
        try:
            return kind(text)
        except ValueError:
            pass
    return text
