# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Figures of cases, such as times against sizes on logarithmic axes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evidence.benchmarks.results import CaseResult
from evidence.benchmarks.yardstick import NAME as YARDSTICK


def draw_case(function, result: CaseResult, path: Path) -> None:
    """Call function(result, figure) and write a PNG. Equal data give an identical file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.2), layout="constrained", dpi=110)
    FigureCanvasAgg(figure)
    function(result, figure)
    figure.savefig(path, metadata={"Software": None})


def draw_against_size(result: CaseResult, axes, sizes: dict[str, float], size: str) -> None:
    """Draw medians and quartiles of the times over the sizes, with one line for each subject."""
    drawn: dict[str, list] = {}
    for measurement in result.measurements:
        if measurement.quantity in sizes and measurement.subject != YARDSTICK:
            drawn.setdefault(measurement.subject, []).append(measurement)
    for k, (subject, points) in enumerate(drawn.items()):
        quartiles = [[m.times[name] for name in ("low", "median", "high")] for m in points]
        low, median, high = result.scale * np.array(quartiles).T
        line, marker, colour, width = ":", "^", f"C{1 + k % 9}", 1.0
        if points[0].ours:
            line, marker, colour, width = ("-", "--", "-.", ":")[k % 4], "o", "C0", 1.6
        axes.errorbar(
            [sizes[m.quantity] for m in points],
            median,
            yerr=[median - low, high - median],
            color=colour,
            linestyle=line,
            marker=marker,
            ms=4,
            lw=width,
            label=subject,
        )
    axes.set(xscale="log", yscale="log", xlabel=size, ylabel=f"time [{result.unit}]")
    ticks = sorted(set(sizes.values()))
    axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
    axes.minorticks_off()
    axes.grid(alpha=0.3, lw=0.5)
    axes.legend(fontsize=7, frameon=False)


def draw_bars(result: CaseResult, axes, quantities: list[str]) -> None:
    """Draw medians of every subject as bars, with one group for each quantity."""
    subjects = list(dict.fromkeys(m.subject for m in result.measurements))
    measured = [s for s in subjects if any(result.of(quantity, s) for quantity in quantities)]
    width = 0.8 / len(measured)
    for k, subject in enumerate(measured):
        measurements = [result.of(quantity, subject) for quantity in quantities]
        x = [i + (k - 0.5 * (len(measured) - 1)) * width for i, m in enumerate(measurements) if m]
        y = [result.scale * m.times["median"] for m in measurements if m]
        colour = f"C{subjects.index(subject)}"  # the same colour in all figures of a result
        bars = axes.bar(x, y, width=0.9 * width, label=subject, color=colour)
        axes.bar_label(bars, fmt="{:.3g}", fontsize=6, padding=1)  # the lowest bars have height 0
    axes.margins(y=0.1)
    axes.set_xticks(range(len(quantities)), quantities, fontsize=8)
    axes.set(ylabel=f"time [{result.unit}]")
    axes.legend(fontsize=7, frameon=False)
