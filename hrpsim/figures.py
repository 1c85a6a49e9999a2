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
