# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Measured and simulated motion on one figure."""

from pathlib import Path

import numpy as np

from hrpsim.figures import new_figure, style
from hrpsim.fitting.measured_motion import KINDS
from hrpsim.fitting.result import FitResult, Trace

_MEASURED, _BEFORE, _AFTER = "#4f5d75", "#d1495b", "#1f6fb4"
_SHOWN = 6  # quantities, those whose error fell most


def draw_fit(result: FitResult, path: str | Path) -> None:
    """Draw what was measured, and predicted before and after, of those that changed most.

    Held-out recordings are drawn where there are any.
    """
    traces = [t for t in result.traces if t.held_out] or list(result.traces)
    gains = sorted(
        (
            (_size(t.before[:, k]) - _size(t.after[:, k]), n, k)
            for n, t in enumerate(traces)
            for k in range(len(t.kinds))
        ),
        reverse=True,
    )[:_SHOWN]
    figure = new_figure(9.0, 2.0 * len(gains) + 0.6)
    for row, (_, n, k) in enumerate(gains):
        _draw(figure.add_subplot(len(gains), 1, row + 1), traces[n], k, row == 0)
    figure.savefig(path)


def _draw(axes, trace: Trace, k: int, with_legend: bool) -> None:
    time, measured = trace.time.copy(), trace.measured[:, k]
    ends = np.flatnonzero(np.diff(trace.window)) + 1
    for name, colour, off in (("before", _BEFORE, trace.before), ("after", _AFTER, trace.after)):
        predicted = np.insert(measured + off[:, k], ends, np.nan)
        axes.plot(np.insert(time, ends, np.nan), predicted, color=colour, lw=1.0, label=name)
    axes.plot(time, measured, ".", color=_MEASURED, ms=2.0, label="measured", zorder=1)
    kind = trace.kinds[k]
    axes.set(ylabel=f"{kind} [{KINDS[kind]}]".replace("_", " "), xlabel="time [s]")
    axes.set_title(f"{trace.name}: {trace.labels[k]}", fontsize=8, loc="left")
    axes.title.set_parse_math(False)
    style(axes)
    if with_legend:
        axes.legend(fontsize=7, frameon=False, ncols=3)


def _size(differences: np.ndarray) -> float:
    return float(np.sqrt(np.mean(differences**2)))
