# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Report a walk, as a mapping for JSON and as readable lines, and on figures."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.bag.foot_wrenches import SUM, draw_foot_forces, style
from hrpsim.common.figures import new_figure
from hrpsim.control.balance.foot import foot_of
from hrpsim.control.motion.motion_sequence import MotionSequence
from hrpsim.control.walk_trial import Trial, measured_zmp, plan_in_world, sole_motion, step_ends
from hrpsim.model.model import Model
from hrpsim.viewer.film import pixels
from hrpsim.world.objects.robot import Robot

_FRAMES = 9
_BEFORE_TOUCH_DOWN = 0.2  # [s]
_RIGHT = np.array([1.0, 0.6, 0.0])  # direction to the right in the pictures, in the planned world
_AWAY, _ABOVE = 3.9, 0.7  # of the camera from the base, in heights of the base
_MOMENT, _NARROW = (300, 600), 0.42  # size of a picture [pixels], its field of view [rad]
_AHEAD, _ASIDE = "#6a3d9a", "#2a8a5c"


def report(
    trial: Trial, model: Model, sequence: MotionSequence, asked_for: dict[str, Any]
) -> dict[str, Any]:
    """Return the summary of a walk in a process, in SI units with angles in radians.

    zmp_error: horizontal distance between the ZMP of the foot force sensors and the sequence's ZMP,
    rms and largest, from the beginning of the motion until the fall.
    creep: largest motion of a sole along the floor in single support.
    None means not known: a sequence does not plan the quantity, or nothing was measured.
    """
    moved = sole_motion(model, trial)
    return {
        **asked_for,
        "bushes": bool(np.isfinite(foot_of(model, trial.soles[0]).turn_stiffness).all()),
        "verdict": "stands" if trial.fell_at is None else "fell",
        "steps": trial.steps,
        "planned_steps": trial.planned_steps,
        "completed": trial.completed,
        "fell_at": trial.fell_at,
        "simulated_seconds": round(float(trial.times[-1]), 9),
        "greatest_inclination": float(trial.tilt.max()),
        "zmp_error": _zmp_error(trial, model, sequence),
        "distance": moved.distance,
        "turn": moved.turn,
        "creep": moved.creep,
        "touched": list(trial.touched),
        "real_time_factor": round(trial.real_time_factor, 2),
        "files": [],
    }


def zmps_in_plan(
    trial: Trial, model: Model, sequence: MotionSequence
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the measured and the planned ZMP at the trial's times.

    Both are in the frame of the plan. The planned ZMP is NaN before the motion begins.

    Returns:
        (measured (n, 2) [m]; planned (n, 2) [m], or None for a sequence without ZMP or waist).
    """
    plan = plan_in_world(model, trial, sequence)
    measured = (measured_zmp(model, trial) - plan.p[:2]) @ plan.R[:2, :2]
    if sequence.zmp is None or sequence.waist is None:
        return measured, None
    since = trial.times - trial.begin
    at = float(sequence.pos.times[0]) + since
    position, R = sequence.waist_pose_at(at)
    planned = (position + np.einsum("nij,nj->ni", R, sequence.zmp.at(at)))[:, :2]
    planned[since < -1e-9] = np.nan
    return measured, planned


def _zmp_error(trial: Trial, model: Model, sequence: MotionSequence) -> dict[str, float] | None:
    measured, planned = zmps_in_plan(trial, model, sequence)
    if planned is None:
        return None
    errors = np.linalg.norm(measured - planned, axis=1)
    errors = errors[trial.times <= (trial.fell_at or math.inf)]
    errors = errors[np.isfinite(errors)]
    if errors.size == 0:
        return None
    return {"rms": float(np.sqrt(np.mean(errors**2))), "largest": float(errors.max())}


def report_lines(result: dict[str, Any]) -> list[str]:
    """Return `report`'s summary as readable lines."""
    error, creep = result["zmp_error"], result["creep"]
    zmp = slip = "not known"
    if error is not None:
        zmp = f"{1e3 * error['rms']:.1f} mm rms, {1e3 * error['largest']:.1f} mm at most"
    if creep is not None:
        slip = f"{1e3 * creep:.2g} mm in a single support"
    lines = [
        _headline(result, f"{'' if result['bushes'] else 'no '}bushes"),
        f"  simulated             {result['simulated_seconds']:.2f} s",
        f"  greatest inclination  {math.degrees(result['greatest_inclination']):.2f} degrees",
        f"  ZMP error             {zmp}",
    ]
    turn = math.degrees(result["turn"])
    pace = pace_text(result.get("pace", {}))
    if pace:
        lines.append(f"  pace                  {pace}")
    if result["touched"]:
        lines.append(f"  touched something     {', '.join(result['touched'])}")
    lines += [
        f"  distance              {result['distance']:.2f} m, turned by {turn:.0f} degrees",
        f"  worst foot creep      {slip}",
        f"  real-time factor      {result['real_time_factor']:.1f}",
    ]
    return lines + [f"wrote {name}" for name in result["files"]]


def pace_text(pace: Mapping[str, float]) -> str:
    """Return the pace of an eased walk relative to the plan, or "" for the planned pace."""
    pace = {"length": 1.0, "time": 1.0, "inset": 0.0, **pace}
    if pace["length"] == pace["time"] == 1.0:
        return ""
    length, slower = round(100 * pace["length"]), round(100 * pace["time"])
    inside = ", less sway" if pace["inset"] else ""
    return f"{length} % of the lengths in {slower} % of the time{inside}"


def ros_report_lines(summary: dict[str, Any], asked_for: dict[str, Any]) -> list[str]:
    """Return the summary of a walk over ROS as readable lines."""
    lines = []
    if summary["verdict"] is not None:
        lines += [
            _headline({**summary, **asked_for}, "over ROS"),
            f"  simulated             {summary['simulated_seconds']:.2f} s",
            f"  greatest inclination  {math.degrees(summary['greatest_inclination']):.2f} degrees",
            f"  real-time factor      {summary['real_time_factor']:.2f}",
            "recorded messages:",
        ]
    for topic, count in summary["messages"].items():
        lost = summary["lost"].get(topic)
        lines.append(f"  {topic:24s} {count:8d}" + (f"  {lost} lost" if lost else ""))
    lines += [f"wrote {name}" for name in summary["files"]]
    return lines + ([f"FAILED: {problem}" for problem in summary["problems"]] or ["ok"])


def _headline(result: dict[str, Any], where: str) -> str:
    how = "stabilised" if result["stabilizer"] else "no stabiliser"
    if result["verdict"] == "fell":
        end = f"the robot FELL at {result['fell_at']:.2f} s"
    else:
        end = "the robot stands"
    steps = "steps not known"
    if result["planned_steps"] is not None:
        steps = f"{result['steps']} of {result['planned_steps']} steps"
    return f"{result['pattern']}, {where}, {how}: {steps}, {end}"


def draw_walk(trial: Trial, model: Model, sequence: MotionSequence, picture: Path) -> Path:
    """Plot the walk to the PNG file `picture` and return `picture`.

    Raises HrpsimError if matplotlib is missing.
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
    """Draw the robot at some times of a walk, from the side, to the PNG file `picture`.

    The moments are late in the swings of evenly chosen steps, and at the end. For a walk without
    steps, or a walk that ends in a fall, the moments are at equal intervals. The robot stays in the
    state of the last moment. Raises HrpsimError if matplotlib, MuJoCo or EGL is missing.
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
