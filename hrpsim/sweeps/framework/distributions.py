# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Values of one parameter: a number, a list, a range or a distribution.

    0.5                                     one value
    {values: [0.3, 0.5, 0.8]}               these, equally often
    {steps: [0.0, 1.0, 5]}                  five, evenly spaced, both ends among them
    {integers: [0, 4]}                      whole numbers, both ends among them
    {uniform: [0.0, 60.0]}
    {log_uniform: [1.0e-6, 1.0e-3]}
    {normal: [1.0, 0.05], within: [0.8, 1.2]}   mean, standard deviation; `within` cuts it off

A distribution is given by its quantile function, so that a point of the unit cube, wherever it
comes from, gives the values of a run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hrpsim.errors import shown_value, unknown_name
from hrpsim.sweeps.framework.errors import SweepError
from hrpsim.values import LARGEST, is_number

KINDS = ("values", "steps", "integers", "uniform", "log_uniform", "normal")
_MOST_LEVELS = 1_000_000


@dataclass(frozen=True)
class Levels:
    """Finitely many values."""

    levels: tuple[Any, ...]

    def at(self, quantiles: np.ndarray) -> list[Any]:
        """Return the values at quantiles (n,) in [0, 1)."""
        places = np.minimum((quantiles * len(self.levels)).astype(int), len(self.levels) - 1)
        return [self.levels[k] for k in places]


@dataclass(frozen=True)
class Continuous:
    """A distribution over numbers: kind, its two parameters, and its truncation."""

    kind: str
    a: float
    b: float
    within: tuple[float, float] = (-math.inf, math.inf)

    def at(self, quantiles: np.ndarray) -> list[float]:
        """Return the values at quantiles (n,) in [0, 1)."""
        if self.kind == "uniform":
            found = self.a + quantiles * (self.b - self.a)
        elif self.kind == "log_uniform":
            found = self.a * (self.b / self.a) ** quantiles
        else:
            from scipy.special import ndtr, ndtri

            low, high = (ndtr((bound - self.a) / self.b) for bound in self.within)
            # Half a step of a double away from the ends, where the quantile is infinite.
            inner = np.clip(low + quantiles * (high - low), 2.0**-53, 1.0 - 2.0**-53)
            found = np.clip(self.a + self.b * ndtri(inner), *self.within)
        return found.tolist()


def read_distribution(given: Any) -> Levels | Continuous:
    """Parse a number, a text or a mapping; SweepError with the mistake."""
    if not isinstance(given, Mapping):
        if not isinstance(given, (str, bool, int, float, np.generic)):
            raise SweepError(
                f"a value or a mapping of one of {', '.join(KINDS)} is needed, "
                f"got {shown_value(given)}"
            )
        return Levels((_plain(given),))
    kinds = [key for key in given if key != "within"]
    if len(kinds) != 1:
        raise SweepError(f"one of {', '.join(KINDS)} is needed, got {shown_value(dict(given))}")
    kind = kinds[0]
    if kind not in KINDS:
        raise SweepError(unknown_name("distribution", str(kind), KINDS))
    if "within" in given and kind != "normal":
        raise SweepError(f"`within` goes with normal, not with {kind}")
    if kind == "values":
        return _listed(given[kind])
    if kind in ("steps", "integers"):
        return _evenly(kind, given[kind])
    a, b = _numbers(kind, given[kind], 2)
    within = _numbers("within", given["within"], 2) if "within" in given else (-math.inf, math.inf)
    if kind == "normal":
        if not (b > 0.0 and within[0] < within[1]):
            raise SweepError(
                "normal: [mean, standard deviation > 0], within: [low, high], "
                f"got {shown_value(dict(given))}"
            )
        low, high = (0.5 * math.erfc((a - bound) / (b * math.sqrt(2.0))) for bound in within)
        if low == high:
            raise SweepError(
                f"normal: [{a:g}, {b:g}] has nothing within [{within[0]:g}, {within[1]:g}]"
            )
        return Continuous(kind, a, b, within)
    if kind == "log_uniform" and 0.0 < a < 1.0 / LARGEST:
        raise SweepError(f"log_uniform: low must be {1.0 / LARGEST:g} or more, got {a:g}")
    if not a < b or (kind == "log_uniform" and a <= 0.0):
        bounds = "0 < low < high" if kind == "log_uniform" else "low < high"
        raise SweepError(f"{kind}: [low, high] needs {bounds}, got {shown_value(given[kind])}")
    return Continuous(kind, a, b)


def _listed(values: Any) -> Levels:
    if not isinstance(values, (list, tuple)) or not values:
        raise SweepError(f"values: a list of at least one is needed, got {shown_value(values)}")
    for value in values:
        if not isinstance(value, (str, bool, int, float, np.generic)):
            raise SweepError(f"values: numbers, texts or truth values, got {shown_value(value)}")
    return Levels(tuple(_plain(value) for value in values))


def _evenly(kind: str, values: Any) -> Levels:
    if kind == "integers":
        low, high = _numbers(kind, values, 2)
        if low != int(low) or high != int(high) or not low <= high < low + _MOST_LEVELS:
            raise SweepError(
                f"integers: [low, high], whole numbers, at most {_MOST_LEVELS} of them, "
                f"got {shown_value(values)}"
            )
        return Levels(tuple(range(int(low), int(high) + 1)))
    low, high, count = _numbers(kind, values, 3)
    if count != int(count) or not 2 <= count <= _MOST_LEVELS or not low < high:
        raise SweepError(
            "steps: [low, high, count] with low < high and a whole count >= 2, "
            f"at most {_MOST_LEVELS}, got {shown_value(values)}"
        )
    return Levels(tuple(np.linspace(low, high, int(count)).tolist()))


def _numbers(what: str, values: Any, count: int) -> tuple[float, ...]:
    good = isinstance(values, (list, tuple)) and len(values) == count
    if not good or not all(is_number(value) and abs(value) <= LARGEST for value in values):
        raise SweepError(
            f"{what}: {count} finite numbers are needed, at most {LARGEST:g} in size, "
            f"got {shown_value(values)}"
        )
    return tuple(float(value) for value in values)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
