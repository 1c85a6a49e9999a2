"""A picture of a walk: forces under the feet, ZMP beside its plan, inclination."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hrpsim.commands.walk_report import planned_zmp
from hrpsim.control.motion_sequence import MotionSequence
from hrpsim.control.walk_trial import Trial
from hrpsim.errors import HrpsimError
from hrpsim.experiments.e05_walking import measured_zmp
from hrpsim.model.model import Model
from hrpsim.ros.foot_force_axes import SUM, draw_foot_forces

_AHEAD, _ASIDE = "#6a3d9a", "#2a8a5c"


def draw_walk(trial: Trial, model: Model, sequence: MotionSequence, picture: Path) -> Path:
    """Draw the walk to the PNG file `picture` and return it.

    Raises HrpsimError where matplotlib is missing.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise HrpsimError(f"--plot needs 'hrpsim[plot]': {error}") from error
    figure = Figure(figsize=(9.6, 8.4), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    forces, zmp, tilt = figure.subplots(3, 1, sharex=True, height_ratios=(1.4, 1.3, 0.8))
    left, right = (trial.wrenches[name][:, 2] for name in ("lfsensor", "rfsensor"))
    draw_foot_forces(forces, trial.times, left, right)
    _draw_zmp(zmp, trial, model, sequence)
    tilt.plot(trial.times, np.degrees(trial.tilt), color=_AHEAD, lw=1.2)
    tilt.set(xlabel="time [s]", ylabel="inclination [degree]")
    tilt.set_ylim(bottom=0.0)
    for axes in (zmp, tilt):
        axes.margins(x=0.0)
        axes.grid(color="#e3e5e8", lw=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    if trial.fell_at is not None:
        for axes in (forces, zmp, tilt):
            axes.axvline(trial.fell_at, color="k", lw=1.0, ls=":")
        tilt.set_title(f"fell at {trial.fell_at:.2f} s", fontsize="medium", loc="right")
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture)
    return picture


def _draw_zmp(axes, trial: Trial, model: Model, sequence: MotionSequence) -> None:
    measured, planned = measured_zmp(model, trial), planned_zmp(sequence, trial.times)
    for k, (name, colour) in enumerate((("x", _AHEAD), ("y", _ASIDE))):
        axes.plot(trial.times, measured[:, k], color=colour, lw=1.1, label=f"{name}, measured")
    if planned is not None:
        low, high = planned.min() - 0.1, planned.max() + 0.1
        axes.plot(trial.times, planned[:, 0], color="k", lw=0.7, ls="--", label="planned")
        axes.plot(trial.times, planned[:, 1], color="k", lw=0.7, ls="--")
        axes.set_ylim(low, high)
    axes.axhline(0.0, color=SUM, lw=0.6)
    axes.set_ylabel("ZMP in the world [m]")
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False, borderaxespad=0.2
    )
