# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Plot foot wrenches, centres of pressure and ZMP against time, from a bag to a PNG file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from hrpsim.bag.foot_force_axes import LEFT, RIGHT, SUM, draw_foot_forces, style
from hrpsim.bag.foot_wrenches import Foot, FootWrenches, read_foot_wrenches
from hrpsim.errors import HrpsimError
from hrpsim.figures import new_figure

_AHEAD, _ASIDE = "#6a3d9a", "#2a8a5c"
_LINES = "-", "--", ":"  # x, y, z


def plot_foot_wrenches(
    bag: Path,
    picture: Path,
    left: str = "lfsensor",
    right: str = "rfsensor",
    zmp: str | None = None,
) -> Path:
    """Plot the wrenches of the topics `left` and `right`, their centres of pressure and the ZMP.

    `zmp`: by default the topic zmp in `left`'s namespace; without it there is no such plot. Returns
    `picture`, a PNG file. Raises what `read_foot_wrenches` raises, and HrpsimError where matplotlib
    is missing.
    """
    feet = read_foot_wrenches(bag, left, right, zmp)
    has_zmp = feet.zmp_time.size > 0
    figure = new_figure(9.6, 12.6 if has_zmp else 10.4, dpi=150.0)
    heights = (1.6, 1.0, 1.0, 1.0, 1.0)[: 5 if has_zmp else 4]
    panels = figure.subplots(len(heights), 1, sharex=True, gridspec_kw={"height_ratios": heights})
    names = f"left foot ({left})", f"right foot ({right})"
    draw_foot_forces(panels[0], *feet.vertical_forces(), names)
    panels[0].set_title("Floor on feet", loc="left", fontweight="bold")
    _draw_feet(panels[1], feet, lambda foot: foot.force, "xy")
    panels[1].set_ylabel("horizontal force [N]")
    _draw_feet(panels[2], feet, lambda foot: foot.torque, "xyz")
    panels[2].set_ylabel("torque [Nm]")
    _draw_centers_of_pressure(panels[3], feet)
    if has_zmp:
        _draw_zmp(panels[4], feet)
    panels[-1].set_xlabel("time of the stamps [s]")
    picture.parent.mkdir(parents=True, exist_ok=True)
    try:
        figure.savefig(picture)
    except ValueError as error:  # a suffix of no image format
        raise HrpsimError(f"{picture}: {error}") from error
    return picture


def _draw_feet(axes, feet: FootWrenches, of: Callable[[Foot], np.ndarray], names: str) -> None:
    """Plot named columns of each foot's data."""
    for foot, side, colour in ((feet.left, "left", LEFT), (feet.right, "right", RIGHT)):
        values = of(foot)
        for column, (name, line) in enumerate(zip(names, _LINES)):
            axes.plot(foot.time, values[:, column], line, color=colour, lw=1.0)
            axes.plot([], [], line, color=colour, label=f"{side} {name}")
    style(axes, legend_columns=2 * len(names))


def _draw_centers_of_pressure(axes, feet: FootWrenches) -> None:
    known = feet.left.sole_depth is not None and feet.right.sole_depth is not None
    where = "on the sole" if known else "on the sensors' plane z = 0"
    axes.set_title(f"in the sensor's frame, {where}", loc="left", fontsize="medium")
    axes.set_ylabel("centre of pressure [m]")
    _draw_feet(axes, feet, lambda foot: foot.center_of_pressure(feet.least_force), "xy")


def _draw_zmp(axes, feet: FootWrenches) -> None:
    for column, (name, colour) in enumerate((("x", _AHEAD), ("y", _ASIDE))):
        axes.plot(feet.zmp_time, feet.zmp[:, column], color=colour, lw=1.1, label=name)
    axes.axhline(0.0, color=SUM, lw=0.6)
    axes.set_ylabel("ZMP [m]")
    style(axes, legend_columns=2)
