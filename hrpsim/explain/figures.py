# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Figures of an explanation: superimposed motions and foot forces, and explained shares."""

from __future__ import annotations

from typing import Any

import numpy as np

from hrpsim.common.figures import new_figure, style
from hrpsim.explain.explanation import Explanation

_THERE, _HERE, _REPAIRED = "#1f6f8b", "#b3261e", "#276b45"
_MOST_CHANNELS, _MOST_FEET, _MOST_BARS = 4, 4, 10


def figures(found: Explanation) -> dict[str, tuple[str, Any]]:
    """Return matplotlib figures and captions by short names.

    Raises HrpsimError without matplotlib.
    """
    drawn = {
        "motion": ("The quantities that depart most, from the first start.", _motion(found)),
        "forces": ("Upward forces on the feet, from the first start.", _forces(found)),
    }
    if found.ranked:
        drawn["shares"] = ("Shares that each difference explains.", _shares(found))
    return {name: pair for name, pair in drawn.items() if pair[1] is not None}


def _courses(found: Explanation) -> list[tuple[str, str, Any]]:
    courses = [(found.reference, _THERE, found.there), ("hrpsim", _HERE, found.here)]
    if found.repaired:
        label = "hrpsim, with the smallest change" if found.smallest else "hrpsim, best of tried"
        courses.append((label, _REPAIRED, found.repaired))
    return courses


def _motion(found: Explanation) -> Any:
    names, sizes, _ = found.yardstick
    apart = np.abs(found.here[0].motion - found.there[0].motion) / sizes
    known = apart[~np.isnan(apart).any(axis=1)]
    order = np.argsort(-known.mean(axis=0)) if len(known) else np.arange(len(names))
    chosen = order[:_MOST_CHANNELS].tolist()
    figure = new_figure(9.0, 1.9 * len(chosen))
    for row, channel in enumerate(chosen):
        axes = figure.add_subplot(len(chosen), 1, row + 1)
        style(axes)
        for label, color, runs in _courses(found):
            axes.plot(found.times, runs[0].motion[:, channel], color=color, label=label, lw=1.3)
        if found.parting is not None:
            axes.axvline(found.parting.time, color="#7a7f87", lw=0.8, ls="--")
        axes.set_ylabel(names[channel], fontsize=8)
        if row == 0:
            axes.legend(fontsize=8, frameon=False, ncols=3)
    axes.set_xlabel("time [s]")
    return figure


def _forces(found: Explanation) -> Any:
    feet = found.feet[:_MOST_FEET]
    if not feet:
        return None
    figure = new_figure(9.0, 1.7 * len(feet))
    for row, foot in enumerate(feet):
        axes = figure.add_subplot(len(feet), 1, row + 1)
        style(axes)
        for label, color, runs in _courses(found):
            forces = runs[0].forces[:, found.links.index(foot)]
            axes.plot(found.times, forces, color=color, label=label, lw=1.1)
        axes.set_ylabel(f"{foot} [N]", fontsize=8)
        if row == 0:
            axes.legend(fontsize=8, frameon=False, ncols=3)
    axes.set_xlabel("time [s]")
    return figure


def _shares(found: Explanation) -> Any:
    shown = found.ranked[:_MOST_BARS][::-1]
    figure = new_figure(9.0, 0.6 + 0.4 * len(shown))
    axes = figure.add_subplot()
    style(axes)
    at = np.arange(len(shown))
    axes.barh(at + 0.2, [one.by_gap for one in shown], 0.36, color=_THERE, label="of the gap")
    predicted = [one.by_predictions for one in shown]
    axes.barh(at - 0.2, predicted, 0.36, color="#8fb8c6", label="of the error of predictions")
    axes.set_yticks(at, [one.changes[0].difference for one in shown], fontsize=8)
    axes.set_xlim(-0.3, 1.0)
    axes.legend(fontsize=8, frameon=False, loc="lower right")
    return figure
