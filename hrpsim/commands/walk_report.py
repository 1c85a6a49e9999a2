# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Report a walk, as a mapping for JSON and as readable lines."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hrpsim.control.balance.foot import foot_of
from hrpsim.control.motion.motion_sequence import MotionSequence
from hrpsim.control.walk_trial import Trial, measured_zmp, plan_in_world, sole_motion
from hrpsim.model.model import Model


def report(
    trial: Trial, model: Model, sequence: MotionSequence, asked_for: dict[str, Any]
) -> dict[str, Any]:
    """Return the summary of a walk in a process; SI units, angles in radians.

    zmp_error: horizontal distance between the ZMP of the foot force sensors and the
    sequence's, rms and largest, from the beginning of the motion until the fall.
    creep: largest motion of a sole along the floor in single support.
    None is not known: a sequence does not plan it, or nothing was measured.
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
    """Return the measured and the planned ZMP at the trial's times (n, 2) [m], in the plan's world.

    The plan's is NaN before the motion begins, None for a sequence without ZMP and waist.
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
    """Return the pace of an eased walk relative to its plan, empty if it is as planned."""
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
