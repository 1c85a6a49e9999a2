# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Models of the same measured trials, each fitted and judged the same way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hrpsim.experiments.framework.experiment import Options, Result, Row
from hrpsim.experiments.framework.fitting import (
    Parameter,
    Values,
    cross_validate,
    held_out,
    profile,
    spread,
    undecided,
)


@dataclass(frozen=True)
class Contestant:
    """A simulation and what of it is fitted.

    `errors(values, trials)` simulates these trials (a list of their indices) and returns an error
    (trials, kinds) of each kind; `loss(errors)` is what the fit makes least, (trials,).
    """

    name: str
    errors: Callable[[Values, Sequence[int]], np.ndarray]
    loss: Callable[[np.ndarray], np.ndarray]
    parameters: Mapping[str, Parameter]
    start: Values

    def losses(self, values: Values, trials: Sequence[int]) -> np.ndarray:
        """Return the loss of each of these trials (trials,)."""
        return self.loss(self.errors(values, trials))

    def fitted(self, count: int, folds: int) -> list[Values]:
        """Fit to `count` trials without those that each fold holds out; return what each found."""
        return cross_validate(self.losses, self.parameters, self.start, count, folds)

    def held_out_errors(self, found: Sequence[Values], count: int) -> np.ndarray:
        """Return the errors (count, kinds) of each trial with values that have not seen it."""
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
    """Return each contestant's values, fold by fold: those stored, or fitted anew if asked for.

    Notes say what they are. Raises KeyError for a contestant that is not stored.
    """
    found: dict[str, list[Values]] = {}
    for one in contestants:
        if options.fit:
            found[one.name] = one.fitted(count, folds)
            result.notes.append(f"fitted, {one.name!r}: {_literal(found[one.name])}")
        else:
            found[one.name] = stored[one.name]
        parts = [
            f"{name} {mean:.4g} ({low:.4g} to {high:.4g})"
            for name, (mean, low, high) in spread(found[one.name]).items()
        ]
        result.notes.append(f"{one.name}, mean of the folds (least to largest): {', '.join(parts)}")
    return found


def _literal(found: Sequence[Values]) -> Any:
    """Return values to five digits, as they can be stored."""
    return [{name: float(f"{value:.5g}") for name, value in values.items()} for values in found]


def difference(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Return the mean of first - second over the same trials, and its standard error."""
    away = first - second
    return float(away.mean()), float(away.std(ddof=1) / np.sqrt(len(away)))


def add_profiles(
    result: Result,
    contestants: Sequence[Contestant],
    found: Mapping[str, list[Values]],
    count: int,
) -> None:
    """Add rows that say which values of each parameter are as good as the best, others unchanged.

    The best are those of the first fold; the loss is that of all trials.
    """
    result.data["profiles"] = {}
    for one in contestants:
        best = found[one.name][0]
        losses = partial(one.losses, trials=range(count))
        profiles = profile(losses, one.parameters, best)
        result.data["profiles"][one.name] = (one.parameters, profiles)
        for name, curve in profiles.items():
            low, high = undecided(best[name], *curve)
            what = f"{one.name} contact, {name}: fitted (as good)"
            result.rows.append(Row(what, "", f"{best[name]:.3g} ({low:.3g} to {high:.3g})"))


def draw_profiles(axes, result: Result, what: str, limits: tuple[float, float]) -> None:
    """Draw the profiles that `add_profiles` found, `what` being the loss."""
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
