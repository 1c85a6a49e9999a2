# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Fit parameters of engines to recordings in short windows, in the same way for each engine.

Each window begins at a measured state. All samples of the window are compared. scipy's least
squares are used, with finite differences of simulations as derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from scipy.optimize import OptimizeResult, least_squares

from evidence.experiments.framework.experiment import Result
from evidence.experiments.framework.fitting import Parameter, Values
from hrpsim.fitting import Recording
from hrpsim.fitting.intervals import by_windows

Follow = Callable[[Sequence[Values], Sequence[Recording]], list[np.ndarray]]
_CHANGE = 1e-3  # step for derivatives, relative to the distance of the bounds
_CONVERGED = 1e-3
_MOST_STEPS = 15
CONFIDENT = 1.96  # standard deviations: half of a 95 % interval


@dataclass(frozen=True)
class Follower:
    """An engine that simulates recordings in windows.

    Attributes:
        follow: follow(many, recordings) returns the differences of each recording, predicted minus
            measured (values, samples, columns), for each set of values in `many`.
        scales: divisors of the columns (columns,).
    """

    name: str
    follow: Follow
    scales: np.ndarray

    def errors(self, values: Values, recordings: Sequence[Recording]) -> np.ndarray:
        """Return the differences over all recordings (samples, columns)."""
        return np.concatenate([differences[0] for differences in self.follow([values], recordings)])

    def residuals(self, many: Sequence[Values], recordings: Sequence[Recording]) -> np.ndarray:
        """Return scaled differences for each set of values (values, rows)."""
        differences = self.follow(many, recordings)
        return np.hstack([(d / self.scales).reshape(len(d), -1) for d in differences])


@dataclass(frozen=True)
class Fitted:
    """Values of a fit, with standard deviations from clusters (White's sandwich)."""

    values: Values
    deviations: Values

    def agrees_with(self, other: Fitted) -> dict[str, bool]:
        """Return for each parameter whether two fits agree within the 95 % interval."""
        agreement = {}
        for name, value in self.values.items():
            spread = np.hypot(self.deviations[name], other.deviations[name])
            agreement[name] = bool(abs(value - other.values[name]) <= CONFIDENT * spread)
        return agreement


def add_fit(
    result: Result, fits: Mapping[str, Fitted], again: Fitted | None, digits: int, prefix: str = ""
) -> None:
    """Add rows with the values and the 95 % intervals of hrpsim's fit.

    Args:
        result: receives the rows.
        fits: fits of hrpsim and, if installed, of mujoco, by name.
        again: a fit to the last third, which is compared with hrpsim's fit.
        digits: digits of the values.
        prefix: removed from the names of the parameters.
    """
    own, peer = fits["hrpsim"], fits.get("mujoco")
    if again is not None:
        agree = own.agrees_with(again)
        label = "number of intervals that agree with a fit to the last third"
        result.add(label, f"of {len(agree)}", sum(agree.values()))
    for name, value in own.values.items():
        half = CONFIDENT * own.deviations[name]
        low, middle, high = (f"{x:.{digits}g}" for x in (value - half, value, value + half))
        label = f"{name.removeprefix(prefix)}, fitted value"
        result.add(label, "", f"{middle} ({low} to {high})", peer=peer and peer.values[name])


def fit(
    follower: Follower,
    recordings: Sequence[Recording],
    parameters: Mapping[str, Parameter],
    start: Values,
    clusters: np.ndarray,
) -> Fitted:
    """Fit `parameters` within their bounds, from the values `start`.

    clusters: index of the cluster of each difference, (samples,) or (samples, columns). The noise
    in different clusters is independent. There must be more clusters than parameters.
    """
    names = list(parameters)

    def values(shares: np.ndarray) -> Values:
        return {name: parameters[name].at(fraction) for name, fraction in zip(names, shares)}

    def residuals(shares: np.ndarray) -> np.ndarray:
        return follower.residuals([values(shares)], recordings)[0]

    def derivatives(shares: np.ndarray) -> np.ndarray:
        signs = np.where(shares > 0.5, -_CHANGE, _CHANGE)
        many = [values(shares + signs * own) for own in np.eye(len(names))]
        differences = follower.residuals([values(shares), *many], recordings)
        return ((differences[1:] - differences[0]) / signs[:, None]).T

    first = np.array([parameters[name].share(start[name]) for name in names]).clip(0.0, 1.0)
    solution = least_squares(
        residuals,
        first,
        derivatives,
        (0.0, 1.0),
        x_scale="jac",
        ftol=_CONVERGED,
        xtol=_CONVERGED,
        max_nfev=_MOST_STEPS,
    )
    return _result(solution, names, parameters, values(solution.x), clusters)


def _result(
    found: OptimizeResult,
    names: Sequence[str],
    parameters: Mapping[str, Parameter],
    values: Values,
    clusters: np.ndarray,
) -> Fitted:
    rows = np.repeat(clusters.ravel(), len(found.fun) // clusters.size)
    matrix = by_windows(found.jac, found.fun, rows).matrix
    shares = np.sqrt(np.diag(matrix))
    widths = [
        0.5 * abs(parameters[n].at(x + s) - parameters[n].at(x - s))
        for n, x, s in zip(names, found.x, shares)
    ]
    return Fitted(values, dict(zip(names, map(float, widths))))


def runs_of(many: Sequence[Values], prefixes: tuple[str, ...]) -> list[tuple[Values, list[Values]]]:
    """Group consecutive entries of `many` with equal values of some parameters.

    prefixes: beginnings of the names of these parameters. Each group has the equal values, and the
    other values of each entry.
    """

    def shared(values: Values) -> Values:
        return {name: x for name, x in values.items() if name.startswith(prefixes)}

    groups = []
    for common, neighbours in groupby(many, shared):
        others = [{n: x for n, x in entry.items() if n not in common} for entry in neighbours]
        groups.append((common, others))
    return groups


def root_mean_square(differences: np.ndarray) -> float:
    """Return the root mean square of all differences."""
    return float(np.sqrt(np.mean(np.square(differences))))
