# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Figures of a walk: forces, ZMP and inclination against time; moments of it."""

from pathlib import Path

import numpy as np

from hrpsim.bag.foot_force_axes import SUM, draw_foot_forces, style
from hrpsim.commands.walk_report import zmps_in_plan
from hrpsim.control.balance.foot import foot_of
from hrpsim.control.motion.motion_sequence import MotionSequence
from hrpsim.control.walk_trial import Trial, plan_in_world, step_ends
from hrpsim.figures import new_figure
from hrpsim.model.model import Model
from hrpsim.viewer.film import pixels
from hrpsim.world.objects.robot import Robot

_FRAMES = 9
_BEFORE_TOUCH_DOWN = 0.2  # [s]
_RIGHT = np.array([1.0, 0.6, 0.0])  # in the pictures, in the plan's world: it walks there
_AWAY, _ABOVE = 3.9, 0.7  # of the camera from the base, in heights of the base
_MOMENT, _NARROW = (300, 600), 0.42  # size of a picture [pixels], its field of view [rad]
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


def draw_moments(trial: Trial, robot: Robot, sequence: MotionSequence, picture: Path) -> Path:
    """Draw moments of a walk, from the side, to the PNG file `picture` and return it.

    Moments late in swings, of steps chosen evenly, and at the end; for a walk without steps or that
    ends in a fall: at equal intervals. The robot is left at the last one. Raises HrpsimError where
    matplotlib, MuJoCo or EGL is missing.
    """
    end = float(trial.times[-1])
    times = np.linspace(0.0, end, _FRAMES)
    late_in_swings = trial.begin + step_ends(sequence) - _BEFORE_TOUCH_DOWN
    if trial.completed and len(late_in_swings):
        chosen = np.linspace(0, len(late_in_swings) - 1, min(_FRAMES - 1, len(late_in_swings)))
        times = np.append(late_in_swings[np.round(chosen).astype(int)], end)
    rows = np.minimum(np.searchsorted(trial.times, times), len(trial.times) - 1)
    plan = plan_in_world(robot.model, trial, sequence)
    right = plan.R @ _RIGHT / np.linalg.norm(_RIGHT)
    height = float(trial.q[0, 2] - plan.p[2])  # of the base
    figure = new_figure(1.0 * len(rows), 2.4, dpi=150.0)
    figure.set_layout_engine("constrained", w_pad=0.0, h_pad=0.02, wspace=0.0)
    for axes, row in zip(figure.subplots(1, len(rows)), rows):
        robot.q = trial.q[row]
        middle = np.array([*trial.q[row, :2], plan.p[2] + height])
        camera = middle + height * (_AWAY * np.cross(right, plan.R[:, 2]) + _ABOVE * plan.R[:, 2])
        axes.imshow(pixels(robot.world, camera, middle, _MOMENT, fov=_NARROW))
        axes.set_title(f"{trial.times[row]:.1f} s", fontsize="small")
        axes.set_axis_off()
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
