# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Fit parameters of a simulation to measurements, in the same way for every engine.

If bodies collide, the loss is discontinuous. For example, a toss that comes to rest on another face
changes the loss by a jump. The fit therefore uses no gradients. Every engine receives the same
number of runs. Errors are reported for trials that the fit has not used.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import differential_evolution
from scipy.stats import qmc

from evidence.experiments.framework.experiment import Options, Result
from evidence.experiments.framework.targets import Target

Values = dict[str, float]
POPULATION = 12  # population size of differential evolution
GENERATIONS = 9  # number of generations after the first


@dataclass(frozen=True)
class Parameter:
    """A parameter to fit: bounds, and whether the search is logarithmic."""

    low: float
    high: float
    logarithmic: bool = False

    def at(self, share: float) -> float:
        """Convert a position from 0 (lower bound) to 1 (upper bound) to a value.

        For logarithmic parameters, positions are proportional to the logarithm.
        """
        if self.logarithmic:
            return float(self.low * (self.high / self.low) ** share)
        return float(self.low + share * (self.high - self.low))

    def share(self, value: float) -> float:
        """Convert a value to a position from 0 (lower bound) to 1 (upper bound)."""
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
    """Minimise `loss` within the bounds by differential evolution. Return the best values.

    The first generation consists of a Latin hypercube sample and `start`. A loss that is not finite
    is replaced by the worst loss.
    """
    names = list(parameters)

    def values(shares: np.ndarray) -> Values:
        return {name: parameters[name].at(fraction) for name, fraction in zip(names, shares)}

    def finite(shares: np.ndarray) -> float:
        cost = loss(values(shares))
        return cost if np.isfinite(cost) else 1e9

    first = qmc.LatinHypercube(len(names), seed=seed).random(POPULATION)
    first[0] = [min(max(parameters[name].share(start[name]), 0.0), 1.0) for name in names]
    best = differential_evolution(
        finite,
        [(0.0, 1.0)] * len(names),
        init=first,
        maxiter=generations,
        seed=seed,
        polish=False,
        tol=0.0,
    )
    return values(best.x)


def held_out(count: int, folds: int) -> list[np.ndarray]:
    """Return the trials that each fold holds out: every `folds`-th of `count` trials."""
    return [np.arange(fold, count, folds) for fold in range(folds)]


def cross_validate(
    loss: Callable[[Values, np.ndarray], np.ndarray],
    parameters: Mapping[str, Parameter],
    start: Values,
    count: int,
    folds: int,
    generations: int = GENERATIONS,
) -> list[Values]:
    """Fit once for each fold, without the trials of the fold. Return the values of each fit.

    `loss(values, trials)` returns the loss of each trial. The fit minimises the mean loss.
    """
    fold_values = []
    for number, out in enumerate(held_out(count, folds)):
        seen = np.setdiff1d(np.arange(count), out)

        def of_seen(values: Values, seen: np.ndarray = seen) -> float:
            return float(np.mean(loss(values, seen)))

        fold_values.append(fit(of_seen, parameters, start, number, generations))
    return fold_values


def spread(found: Sequence[Values]) -> dict[str, tuple[float, float, float]]:
    """Return the mean, the smallest and the largest value of each parameter over the folds."""
    columns = {name: [values[name] for values in found] for name in found[0]}
    return {name: (float(np.mean(c)), min(c), max(c)) for name, c in columns.items()}


def profile(
    loss: Callable[[Values], np.ndarray],
    parameters: Mapping[str, Parameter],
    best: Values,
    points: int = 9,
) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Vary each parameter alone over its bounds, and compute the increase of the loss.

    The values are `points` evenly spaced values, and four values close to the best value. The
    increase is the mean over trials of the loss minus the loss at `best`. If the increase is within
    two standard errors, the data do not distinguish a value from the best value.

    Returns:
        {parameter: (values, increases of the loss, standard errors)}.
    """
    reference = loss(best)
    curves = {}
    for name, parameter in parameters.items():
        near = parameter.share(best[name]) + np.array([-0.04, -0.01, 0.01, 0.04])
        shares = np.sort(np.concatenate([np.linspace(0.0, 1.0, points), near.clip(0.0, 1.0)]))
        values = np.array([parameter.at(fraction) for fraction in shares])
        extra = np.array([loss({**best, name: float(value)}) - reference for value in values])
        curves[name] = (values, extra.mean(1), extra.std(1, ddof=1) / np.sqrt(extra.shape[1]))
    return curves


def undecided(
    best: float, values: np.ndarray, extra: np.ndarray, error: np.ndarray
) -> tuple[float, float]:
    """Return the range of values in a profile that fit as well as `best`.

    The range includes `best`.
    """
    good = [best, *values[extra <= 2.0 * error]]
    return float(min(good)), float(max(good))


@dataclass(frozen=True)
class Contestant:
    """A simulation and its fitted parameters.

    Attributes:
        errors: errors(values, trials) simulates trials (a list of indices), and returns an error of
            each kind (trials, kinds).
        loss: loss(errors) returns the minimised loss (trials,).
    """

    name: str
    errors: Callable[[Values, Sequence[int]], np.ndarray]
    loss: Callable[[np.ndarray], np.ndarray]
    parameters: Mapping[str, Parameter]
    start: Values

    def losses(self, values: Values, trials: Sequence[int]) -> np.ndarray:
        """Return the loss of each trial (trials,)."""
        return self.loss(self.errors(values, trials))

    def fitted(self, count: int, folds: int) -> list[Values]:
        """Fit to `count` trials, leaving out the trials of each fold in turn.

        Return all results.
        """
        return cross_validate(self.losses, self.parameters, self.start, count, folds)

    def held_out_errors(self, found: Sequence[Values], count: int) -> np.ndarray:
        """Return the errors (count, kinds) of each trial, from the fit without the trial."""
        parts = held_out(count, len(found))
        judged = [self.errors(values, list(out)) for values, out in zip(found, parts)]
        errors = np.empty((count, judged[0].shape[1]))
        for out, part in zip(parts, judged):
            errors[out] = part
        return errors


def values_of(
    contestants: Sequence[Contestant],
    stored: Mapping[str, list[Values]],
    options: Options,
    count: int,
    folds: int,
    result: Result,
) -> dict[str, list[Values]]:
    """Return each contestant's values by fold: the stored values, or new values if `options.fit`.

    Notes describe the values. Raises KeyError if no values of a contestant are stored.
    """
    fold_values: dict[str, list[Values]] = {}
    for contestant in contestants:
        if options.fit:
            fold_values[contestant.name] = contestant.fitted(count, folds)
            short = [
                {k: float(f"{v:.5g}") for k, v in fold.items()}
                for fold in fold_values[contestant.name]
            ]
            result.notes.append(f"fitted, {contestant.name!r}: {short}")
        else:
            fold_values[contestant.name] = stored[contestant.name]
        parts = [
            f"{name} {mean:.4g} ({low:.4g} to {high:.4g})"
            for name, (mean, low, high) in spread(fold_values[contestant.name]).items()
        ]
        result.notes.append(
            f"{contestant.name}, mean of the folds (smallest to largest): {', '.join(parts)}"
        )
    return fold_values


def add_difference(
    result: Result, what: str, unit: str, first, second, bound: Target | None = None
) -> None:
    """Add a row with the mean of first - second over the trials, and its standard error.

    first, second: errors (trials,).
    """
    away = first - second
    error = float(away.std(ddof=1) / np.sqrt(len(away)))
    result.add(f"{what}: mean", unit, float(away.mean()), bound)
    result.add(f"{what}: standard error of the mean", unit, error)


def add_profiles(
    result: Result, contestants: Sequence[Contestant], found: Mapping[str, list[Values]], count: int
) -> None:
    """Add rows with the range of each parameter that fits as well as the best value.

    The other parameters keep their best values. The best values are from the first fold, and the
    loss is over all trials.
    """
    result.data["profiles"] = {}
    for contestant in contestants:
        best = found[contestant.name][0]
        losses = partial(contestant.losses, trials=range(count))
        profiles = profile(losses, contestant.parameters, best)
        result.data["profiles"][contestant.name] = (contestant.parameters, profiles)
        for name, curve in profiles.items():
            low, high = undecided(best[name], *curve)
            label = f"{contestant.name} contact, {name}: fitted value (range with as good a fit)"
            result.add(label, "", f"{best[name]:.3g} ({low:.3g} to {high:.3g})")


def draw_profiles(axes, result: Result, what: str, limits: tuple[float, float]) -> None:
    """Draw the profiles of `add_profiles`. what: name of the loss."""
    for style, (name, profiles) in zip("-:", result.data.get("profiles", {}).items()):
        parameters, curves = profiles
        for colour, (parameter, (values, extra, _)) in enumerate(curves.items()):
            shares = [parameters[parameter].share(value) for value in values]
            label = f"{parameter}, {name}"
            axes.plot(shares, extra, style, color=f"C{colour}", label=label, lw=1.2)
    axes.set_title("One parameter moved, others kept", fontsize=11)
    axes.set_xlabel("where between its bounds")
    axes.set(ylabel=what, ylim=limits)
    axes.legend(fontsize=6.5, loc="upper right", edgecolor="none")
