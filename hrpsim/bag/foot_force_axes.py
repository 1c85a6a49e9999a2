# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Plot forces under both feet against time, with the steps that they show. Needs no ROS."""

from __future__ import annotations

import numpy as np

from hrpsim import figures

LEFT, RIGHT, SUM = "#0b6fa4", "#d1611b", "#8a8f98"
_LOADED = 0.05  # of the weight: a foot that bears more is in support
_BEARING = 0.5  # load of the other foot in a step
_SHORTEST_SWING = 0.2  # [s]


def swings(times, force, other) -> np.ndarray:
    """Return the swing intervals of a foot, from lift-off to touch-down (k, 2) [s].

    times (n,) [s]; force, other (n,): vertical force on this foot and on the other one [N]. Short
    gaps, and those in which the other foot does not bear the weight, are no steps.
    """
    times, force, other = map(np.asarray, (times, force, other))
    weight = float(np.median(force + other))
    up = np.concatenate([[False], force < _LOADED * weight, [False]])
    begins, ends = np.flatnonzero(up[1:] & ~up[:-1]), np.flatnonzero(~up[1:] & up[:-1])
    kept = [
        (times[a], times[b])
        for a, b in zip(begins, np.minimum(ends, len(times) - 1))
        if a > 0
        and ends.size
        and times[b] - times[a] >= _SHORTEST_SWING
        and np.median(other[a:b]) > _BEARING * weight
    ]
    return np.array(kept).reshape(-1, 2)


def draw_foot_forces(axes, times, left, right, labels=("left foot", "right foot")) -> None:
    """Plot F_z on both feet (n,) [N] and their sum; number steps in the swing foot's colour."""
    both = np.add(left, right)
    axes.plot(times, both, color=SUM, lw=0.8, label="both feet", zorder=1)
    steps = []
    for force, other, colour, label in (
        (left, right, LEFT, labels[0]),
        (right, left, RIGHT, labels[1]),
    ):
        axes.plot(times, force, color=colour, lw=1.3, label=label)
        figures.fill_between(axes, times, 0.0, force, color=colour, alpha=0.13, lw=0.0)
        steps += [(begin, end, colour) for begin, end in swings(times, force, other)]
    top = 1.12 * max(np.percentile(both, 99.5), 1.0)
    for number, (begin, end, colour) in enumerate(sorted(steps), 1):
        axes.text(0.5 * (begin + end), top, number, color=colour, ha="center", va="center")
    limit = (1.08 if steps else 1.0) * top
    axes.set_ylim(-0.04 * top, limit)
    peak = int(np.argmax(both))
    if both[peak] > limit:
        said = f" \u2191 {both[peak]:.0f} N"
        axes.annotate(said, (times[peak], limit), color=SUM, va="top", fontsize="small")
    axes.set_ylabel("vertical force [N]")
    style(axes, legend_columns=3)


def style(axes, legend_columns: int = 0) -> None:
    """Style time axes: a grid, no box, and a legend above, if it has columns."""
    axes.margins(x=0.0)
    figures.style(axes)
    if legend_columns:
        position = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
        axes.legend(ncol=legend_columns, frameon=False, **position)
