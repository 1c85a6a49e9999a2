# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The unknowns of a fit: parameters by path, or delays, with bounds and priors."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from hrpsim.common.errors import FitError, require_names, shown_value
from hrpsim.common.typed_values import Finite, check_fields
from hrpsim.common.values import is_number
from hrpsim.fitting.signals.signal import PREFIX
from hrpsim.sweeps.framework.scenario import Parameter, unknown_parameter

DELAY = "delay"  # delay of all commands [s], delay.RECORDING: of the commands of one recording
SCALES = ("linear", "log")
_LARGEST = 700.0  # of a logarithm: exp overflows beyond
_OFF = 0.01  # least distance of initial values from the bounds, in units of the unknown


@dataclass(frozen=True)
class Unknown:
    """A parameter to fit.

    Args:
        start: initial value.
        between: bounds. The default is the bounds of the parameter.
        prior: mean and standard deviation from other knowledge than the recordings. With the scale
            log, the standard deviation is of the logarithm.
        paths: parameters that all have this value, such as parameters of both legs, or patterns
            with `*`. The default is the parameter of this name.
        scale: "log" keeps the value positive. The default is "log" if the parameter cannot be 0.
    """

    start: Finite
    between: tuple[float, float] | None = None
    prior: tuple[Finite, Finite] | None = None
    paths: Sequence[str] = field(default=())
    scale: str | None = None

    def __post_init__(self) -> None:
        check_fields(self, FitError)


class Unknowns:
    """The unknowns of a fit as a vector u: logarithms, or values divided by units.

    Attributes:
        unit: a significant change of each linear parameter (p,): the standard deviation of its
            prior, or the distance between its bounds. Without prior and bounds, the unit is 1 until
            `find_units` (scales.py) sets the unit.
        is_open: whether a parameter is linear and has neither a prior nor two bounds (p,).
    """

    def __init__(
        self,
        given: Mapping[str, Unknown | float | Mapping[str, Any]],
        known: Mapping[str, Parameter],
        recordings: Sequence[str],
    ) -> None:
        if not given:
            raise FitError("a fit needs at least one parameter")
        self.names = list(given)
        self.paths: list[tuple[str, ...]] = []
        ends, starts, self.log, priors = [], [], [], []
        for name, unknown in given.items():
            if not isinstance(unknown, Unknown):
                given_by_name = isinstance(unknown, Mapping)
                if given_by_name:
                    require_names(
                        "key", unknown, Unknown.__dataclass_fields__, FitError, where=name
                    )
                unknown = Unknown(**unknown) if given_by_name else Unknown(unknown)
            paths = _expanded(name, unknown.paths, known) or (name,)
            kind = _kind_of(paths, known, recordings)
            self.paths.append(paths)
            low, high, log = _bounds(name, unknown, kind)
            ends.append((low, high))
            starts.append(float(unknown.start))
            self.log.append(log)
            priors.append(unknown.prior)
        self.start = np.array(starts)
        self.low, self.high = np.array(ends).T
        width = np.where(self.log, np.inf, self.high - self.low)
        deviations = [width[k] if prior is None else prior[1] for k, prior in enumerate(priors)]
        given = np.where(self.log, 1.0, deviations)
        self.is_open = np.isinf(given)
        self.unit = np.where(self.is_open, 1.0, given)
        self.priors = [(k, *prior) for k, prior in enumerate(priors) if prior is not None]

    def __len__(self) -> int:
        return len(self.names)

    def to_u(self, values: np.ndarray) -> np.ndarray:
        """Convert values (p,) to the vector u."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.log, np.log(values), values / self.unit)

    def to_values(self, u: np.ndarray) -> np.ndarray:
        """Convert a vector u to values within the bounds."""
        values = [
            math.exp(min(x, _LARGEST)) if log else x * k
            for x, log, k in zip(u, self.log, self.unit)
        ]
        return np.clip(values, self.low, self.high)

    def signal_delays(self) -> dict[str, tuple[float, float]]:
        """Return the bounds of the delays of signals by path [s].

        Raises FitError if one is infinite.
        """
        result = {}
        for name, paths, low, high in zip(self.names, self.paths, self.low, self.high):
            for path in paths:
                if path.startswith(PREFIX) and path.endswith(f".{DELAY}"):
                    if not np.isfinite([low, high]).all():
                        raise FitError(f"{name}: needs bounds. Give `between`, such as [0, 0.02] s")
                    result[path] = float(low), float(high)
        return result

    def by_path(self, u: np.ndarray) -> dict[str, float]:
        """Return the value at each path for a vector u."""
        values = self.to_values(u).tolist()
        return {path: x for paths, x in zip(self.paths, values) for path in paths}

    def inside(self, u: np.ndarray) -> np.ndarray:
        """Move u (p,) off the bounds, where the least-squares search could get stuck."""
        low, high = self.to_u(self.low), self.to_u(self.high)
        off = np.minimum(_OFF, 0.25 * (high - low))
        return np.clip(u, low + off, high - off)

    def significant(self, values: np.ndarray) -> np.ndarray:
        """Return a significant change of each entry of u (p,).

        The change is 1, or for an open parameter (`is_open`) the larger of 1 and its value in
        units.

        values: values of the parameters (p,).
        """
        return np.where(self.is_open, np.maximum(np.abs(values) / self.unit, 1.0), 1.0)

    def prior_residuals(self, u: np.ndarray) -> np.ndarray:
        """Return (u - mean) / standard deviation of each prior."""
        own = [(u[k] * self.unit[k] - mean) / sd for k, mean, sd in self._in_u()]
        return np.array(own, dtype=float)

    def prior_rows(self) -> np.ndarray:
        """Return the derivatives (priors, p) of `prior_residuals` with respect to u."""
        rows = np.zeros((len(self.priors), len(self)))
        for row, (k, _, sd) in zip(rows, self._in_u()):
            row[k] = self.unit[k] / sd
        return rows

    def _in_u(self) -> list[tuple[int, float, float]]:
        return [(k, math.log(m) if self.log[k] else m, sd) for k, m, sd in self.priors]


def _expanded(name: str, paths: Sequence[str], known: Mapping[str, Parameter]) -> tuple[str, ...]:
    """Replace each pattern in paths by the known paths that match.

    Raises FitError if a pattern matches no path.
    """
    matches: dict[str, None] = {}
    for path in paths:
        fitting = [path]
        if any(sign in path for sign in "*?["):
            fitting = [candidate for candidate in known if fnmatchcase(candidate, path)]
        if not fitting:
            raise FitError(f"{name}: no parameter fits the pattern {path!r}")
        matches |= dict.fromkeys(fitting)
    return tuple(matches)


def _kind_of(
    paths: Sequence[str], known: Mapping[str, Parameter], recordings: Sequence[str]
) -> Parameter | None:
    """Return the parameter of paths, or None for a delay. Raises FitError for an unknown path."""
    delays = (DELAY, *(f"{DELAY}.{name}" for name in recordings))
    for path in paths:
        if path not in known and path not in delays:
            raise FitError(unknown_parameter(path, (*known, *delays)))
    return None if paths[0] in delays else known[paths[0]]


def _no_mistake(value: float) -> str:
    """Return "", the error text for a parameter that may have any value."""
    return ""


def _check_start(name: str, one: Unknown, mistake: Callable[[float], str]) -> None:
    """Raise FitError if the initial value is not a number, or not allowed."""
    if not is_number(one.start):
        raise FitError(f"{name}: start must be a number, got {shown_value(one.start)}")
    if text := mistake(one.start):
        raise FitError(f"{name}: start: {text}")


def _is_logarithmic(name: str, one: Unknown, mistake: Callable[[float], str]) -> bool:
    """Return whether the scale is logarithmic, by choice or because the parameter cannot be 0."""
    if one.scale not in (None, *SCALES):
        raise FitError(f"{name}: scale must be linear or log, got {shown_value(one.scale)}")
    return one.scale == "log" or (one.scale is None and bool(mistake(0.0)))


def _check_prior(name: str, one: Unknown, least: float) -> None:
    """Raise FitError if a prior has no positive standard deviation, or an impossible mean."""
    if one.prior is not None and not (one.prior[1] > 0.0 and one.prior[0] > least):
        raise FitError(f"{name}: prior must be a mean and a positive deviation, got {one.prior}")


def _widest(log: bool, mistake: Callable[[float], str]) -> tuple[float, float]:
    """Return the widest bounds that a parameter allows."""
    return 0.0 if log or mistake(-1e-9) else -math.inf, math.inf


def _bounds(name: str, one: Unknown, kind: Parameter | None) -> tuple[float, float, bool]:
    """Return lower bound, upper bound, and whether the scale is log. Raises FitError if invalid."""
    mistake = _no_mistake if kind is None else kind.mistake
    _check_start(name, one, mistake)
    log = _is_logarithmic(name, one, mistake)
    low, high = one.between or _widest(log, mistake)
    if log and low <= 0.0:
        low = math.exp(-50.0) * one.start
    least = 0.0 if log else -math.inf  # lower limit of the values
    if not (low <= one.start <= high and low < high and one.start > least):
        raise FitError(f"{name}: start {one.start:g} must lie between {low:g} and {high:g}")
    _check_prior(name, one, least)
    return low, high, log
