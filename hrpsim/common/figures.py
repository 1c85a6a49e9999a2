# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Figures without a display."""

from hrpsim.common.errors import HrpsimError


def new_figure(width: float, height: float, dpi: float = 100.0):
    """Return an empty matplotlib figure [inch]. Raise HrpsimError without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise HrpsimError(
            f"pictures need matplotlib ({error}): pip install 'hrpsim[plot]'"
        ) from error
    figure = Figure(figsize=(width, height), dpi=dpi, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def style(axes) -> None:
    """Draw a faint grid behind the curves, and remove the upper and right border of the axes."""
    axes.grid(color="#e3e5e8", lw=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def fill_between(axes, x, low, high, **options) -> None:
    """Fill between two curves, as `axes.fill_between` does.

    Without `where`, matplotlib 3.5 with NumPy 1.24 raises IndexError for arrays without NaN. This
    function avoids the error.
    """
    axes.fill_between(x, low, high, where=[True] * len(x), **options)
