# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Fits parameters of a simulation to measurements, the same way for every engine.

Where bodies collide the loss is rough: a toss that comes to lie on another face changes it by a
jump. So no gradients are taken, every engine gets the same number of runs, and errors are reported
for trials that the fit has not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import differential_evolution
from scipy.stats import qmc

Values = dict[str, float]
POPULATION = 12  # of differential evolution
GENERATIONS = 9  # after the first


@dataclass(frozen=True)
class Parameter:
    """What may be fitted: bounds, and whether orders of magnitude are searched."""

    low: float
    high: float
    logarithmic: bool = False

    def at(self, share: float) -> float:
        """Return the value at `share` (0 to 1) of the way from low to high."""
        if self.logarithmic:
            return float(self.low * (self.high / self.low) ** share)
        return float(self.low + share * (self.high - self.low))

    def share(self, value: float) -> float:
        """Return where `value` is between low (0) and high (1)."""
        if self.logarithmic:
            return float(np.log(value / self.low) / np.log(self.high / self.low))
        return float((value - self.low) / (self.high - self.low))


def fit(
    loss: Callable[[Values], float],
    parameters: Mapping[str, Parameter],
    start: Values,
    seed: int = 0,
    generations: int = GENERATIONS,
) -> Values:
    """Return the values within bounds at which `loss` is least, by differential evolution.

    The first generation is a Latin hypercube and `start`. A loss that is not finite is the worst.
    """
    names = list(parameters)

    def values(shares: np.ndarray) -> Values:
        return {name: parameters[name].at(share) for name, share in zip(names, shares)}

    def finite(shares: np.ndarray) -> float:
        found = loss(values(shares))
        return found if np.isfinite(found) else 1e9

    first = qmc.LatinHypercube(len(names), seed=seed).random(POPULATION)
    first[0] = [min(max(parameters[name].share(start[name]), 0.0), 1.0) for name in names]
    found = differential_evolution(
        finite,
        [(0.0, 1.0)] * len(names),
        init=first,
        maxiter=generations,
        seed=seed,
        polish=False,
        tol=0.0,
    )
    return values(found.x)


def held_out(count: int, folds: int) -> list[np.ndarray]:
    """Return which of `count` trials each fold holds out: every `folds`-th, each trial once."""
    return [np.arange(fold, count, folds) for fold in range(folds)]


def cross_validate(
    loss: Callable[[Values, np.ndarray], np.ndarray],
    parameters: Mapping[str, Parameter],
    start: Values,
    count: int,
    folds: int,
    generations: int = GENERATIONS,
) -> list[Values]:
    """Fit once for each fold to the trials that it does not hold out; return the values of each.

    `loss(values, trials)` returns the loss of each of these trials; their mean is minimised.
    """
    found = []
    for number, out in enumerate(held_out(count, folds)):
        seen = np.setdiff1d(np.arange(count), out)

        def of_seen(values: Values, seen: np.ndarray = seen) -> float:
            return float(np.mean(loss(values, seen)))

        found.append(fit(of_seen, parameters, start, number, generations))
    return found


def spread(found: Sequence[Values]) -> dict[str, tuple[float, float, float]]:
    """Return the mean of each parameter over the folds, the least and the largest."""
    columns = {name: [values[name] for values in found] for name in found[0]}
    return {name: (float(np.mean(c)), min(c), max(c)) for name, c in columns.items()}


def profile(
    loss: Callable[[Values], np.ndarray],
    parameters: Mapping[str, Parameter],
    best: Values,
    points: int = 9,
) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Vary each parameter alone over its bounds; return values, extra loss and its standard error.

    `points` values are evenly spaced, four more are close to the best.

    The extra loss is the mean over trials of the loss less that at `best`, trial by trial. Values
    whose extra loss is within two standard errors are as good as the best by these data.
    """
    reference = loss(best)
    found = {}
    for name, parameter in parameters.items():
        near = parameter.share(best[name]) + np.array([-0.04, -0.01, 0.01, 0.04])
        shares = np.sort(np.concatenate([np.linspace(0.0, 1.0, points), near.clip(0.0, 1.0)]))
        values = np.array([parameter.at(share) for share in shares])
        extra = np.array([loss({**best, name: float(value)}) - reference for value in values])
        found[name] = (values, extra.mean(1), extra.std(1, ddof=1) / np.sqrt(extra.shape[1]))
    return found


def undecided(
    best: float, values: np.ndarray, extra: np.ndarray, error: np.ndarray
) -> tuple[float, float]:
    """Return the least and the largest of `best` and a profile's values that are as good."""
    good = [best, *values[extra <= 2.0 * error]]
    return float(min(good)), float(max(good))
