# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Figures of a walk: forces, ZMP and inclination against time; a film strip of the robot."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hrpsim.bag.foot_force_axes import SUM, draw_foot_forces, style
from hrpsim.commands.walk_report import zmps_in_plan
from hrpsim.control.balance.foot import foot_of
from hrpsim.control.motion.motion_sequence import MotionSequence
from hrpsim.control.walk_trial import Trial, plan_in_world, step_ends
from hrpsim.experiments.framework.film_strip import draw_film_strip
from hrpsim.figures import new_figure
from hrpsim.model.model import Model

_FRAMES = 9
_BEFORE_TOUCH_DOWN = 0.2  # [s]
_VIEW = (1.0, 0.6)  # to the right in the film strip, in the plan's world: it walks towards it
_AHEAD, _ASIDE = "#6a3d9a", "#2a8a5c"


def draw_walk(trial: Trial, model: Model, sequence: MotionSequence, picture: Path) -> Path:
    """Plot the walk to the PNG file `picture` and return it.

    Raises HrpsimError where matplotlib is missing.
    """
    figure = new_figure(9.6, 8.4, dpi=150.0)
    forces, zmp, tilt = figure.subplots(
        3, 1, sharex=True, gridspec_kw={"height_ratios": (1.4, 1.3, 0.8)}
    )
    left, right = (trial.wrenches[foot_of(model, sole).sensor.name][:, 2] for sole in trial.soles)
    draw_foot_forces(forces, trial.times, left, right)
    _draw_zmp(zmp, trial, model, sequence)
    tilt.plot(trial.times, np.degrees(trial.tilt), color=_AHEAD, lw=1.2)
    tilt.set(xlabel="time [s]", ylabel="inclination [degree]")
    tilt.set_ylim(bottom=0.0)
    style(tilt)
    if trial.fell_at is not None:
        for axes in (forces, zmp, tilt):
            axes.axvline(trial.fell_at, color="k", lw=1.0, ls=":")
        tilt.set_title(f"fell at {trial.fell_at:.2f} s", fontsize="medium", loc="right")
    return _saved(figure, picture)


def draw_film(trial: Trial, model: Model, sequence: MotionSequence, picture: Path) -> Path:
    """Draw a sequence of postures from the side to `picture` and return it.

    Postures late in swings, of steps chosen evenly, and at the end; a walk without steps or that
    ends in a fall: at equal intervals. Raises HrpsimError where matplotlib is missing.
    """
    end = float(trial.times[-1])
    times = np.linspace(0.0, end, _FRAMES)
    late_in_swings = trial.begin + step_ends(sequence) - _BEFORE_TOUCH_DOWN
    if trial.completed and len(late_in_swings):
        chosen = np.linspace(0, len(late_in_swings) - 1, min(_FRAMES - 1, len(late_in_swings)))
        times = np.append(late_in_swings[np.round(chosen).astype(int)], end)
    rows = np.minimum(np.searchsorted(trial.times, times), len(trial.times) - 1)
    figure = new_figure(9.0, 2.75, dpi=150.0)
    axes = figure.add_subplot()
    labels = [f"{t:.1f} s" for t in trial.times[rows]]
    plan, frames = plan_in_world(model, trial, sequence), trial.q[rows]
    frames[:, 2] -= plan.p[2]
    draw_film_strip(axes, model, frames, labels, plan.R[:2, :2] @ _VIEW, spacing=0.66)
    return _saved(figure, picture)


def _saved(figure, picture: Path) -> Path:
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture)
    return picture


def _draw_zmp(axes, trial: Trial, model: Model, sequence: MotionSequence) -> None:
    measured, planned = zmps_in_plan(trial, model, sequence)
    for k, (name, colour) in enumerate((("x", _AHEAD), ("y", _ASIDE))):
        axes.plot(trial.times, measured[:, k], color=colour, lw=1.1, label=f"{name}, measured")
    if planned is not None and np.isfinite(planned).any():
        low, high = np.nanmin(planned) - 0.1, np.nanmax(planned) + 0.1
        axes.plot(trial.times, planned[:, 0], color="k", lw=0.7, ls="--", label="planned")
        axes.plot(trial.times, planned[:, 1], color="k", lw=0.7, ls="--")
        axes.set_ylim(low, high)
    axes.axhline(0.0, color=SUM, lw=0.6)
    axes.set_ylabel("ZMP in the plan's world [m]")
    style(axes, legend_columns=3)
