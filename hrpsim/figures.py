# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pictures that need no display."""

from __future__ import annotations

from hrpsim.errors import HrpsimError


def new_figure(width: float, height: float, dpi: float = 100.0):
    """Return an empty figure of matplotlib's [inch]; HrpsimError without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise HrpsimError(f"pictures need 'hrpsim[plot]': {error}") from error
    figure = Figure(figsize=(width, height), dpi=dpi, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def fill_between(axes, x, low, high, **options) -> None:
    """Fill between two curves: `axes.fill_between`, with matplotlib 3.5 beside NumPy 1.24 as well.

    There, without `where`, arrays that are finite throughout end in an IndexError.
    """
    axes.fill_between(x, low, high, where=[True] * len(x), **options)
