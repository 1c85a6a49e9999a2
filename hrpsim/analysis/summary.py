# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Analyse a whole motion, and summarise the results as data, text and CSV."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from time import perf_counter
from typing import Any, TextIO

import numpy as np

from hrpsim.analysis.analyser import Analyser, FixedPhase, Trajectory
from hrpsim.analysis.fixed_links import (
    LIFT_TOLERANCE,
    check_fixed_links,
    detect_fixed_links,
    phases_at,
    starting_pose,
)
from hrpsim.analysis.motion import FixedFrom, Motion
from hrpsim.geometry.link_distances import LinkDistances
from hrpsim.geometry.motion_check import check_motion
from hrpsim.model.model import Model
from hrpsim.model.system import FREE

_VECTORS = (
    *("com", "com_velocity", "com_acceleration", "zmp", "capture_point"),
    *("linear_momentum", "angular_momentum"),
)
_SCALARS = ("margin", "capture_margin", "kinetic_energy", "potential_energy")
_ROUNDING = 1e-9
_SHOWN = 12  # largest number of listed phases and violations


@dataclass(frozen=True)
class Violation:
    """A violation of a limit by one joint or link: first and last time [s], and extreme value."""

    kind: str  # position, velocity, torque, zmp or pressure (margins), lift, friction, collision
    name: str  # of the joint or link, or "LINK - LINK"
    begin: float
    end: float
    worst: float  # value with the largest violation of the limit
    worst_time: float  # [s]
    limit: float
    unit: str  # "" for a ratio

    def __str__(self) -> str:
        return (
            f"{self.kind} of {self.name}: {self.worst:.4g} {self.unit} at {self.worst_time:.3f} s, "
            f"limit {self.limit:.4g} ({self.begin:.3f} to {self.end:.3f} s)"
        )


@dataclass(frozen=True)
class AnalysedMotion:
    """A motion with its analysis and the violations of limits."""

    analyser: Analyser
    motion: Motion
    found: Trajectory
    violations: tuple[Violation, ...]
    fixed_by: str  # "given", "file" or "detected"
    seconds: float  # duration of the analysis, without reading [s]


def analyse_motion(
    analyser: Analyser,
    motion: Motion,
    fixed: Sequence[FixedFrom] = (),
    *,
    friction: float | None = None,
    lift_tolerance: float = LIFT_TOLERANCE,
    distances: LinkDistances | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> AnalysedMotion:
    """Analyse a motion, and list the violations of limits.

    Args:
        analyser: analyser of the robot.
        motion: motion of the robot's joints.
        fixed: fixed links with their starting times. The default is the fixed links in the motion's
            file. If the file has none, the fixed links are detected.
        friction: friction coefficient, for the list of violations.
        lift_tolerance: largest displacement of a fixed link [m].
        distances: distances of the model's links, to list self-collisions.
        progress: called with the name of the task, the number of finished samples, and the total
            number of samples.

    Raises:
        SequenceError: if a link that should be fixed moves by more than `lift_tolerance`.
    """
    known = tuple(fixed) or motion.fixed
    if known:
        first = analyser.soles[analyser.links.index(known[0].links[0])]
        phases = phases_at(known, motion.times, starting_pose(analyser.model, first, motion))
    else:
        follow = progress and partial(progress, "looking for fixed links in")
        phases = detect_fixed_links(analyser, motion, progress=follow)
    begin = perf_counter()
    follow = progress and partial(progress, "analysing")
    trajectory = analyser.analyse(motion.q, motion.v, motion.dv, phases, progress=follow)
    took = perf_counter() - begin
    if known:
        check_fixed_links(motion, known, analyser, trajectory, lift_tolerance)
    listed = violations(analyser, motion.times, trajectory, friction=friction, distances=distances)
    by = "given" if fixed else "file" if known else "detected"
    return AnalysedMotion(analyser, motion, trajectory, tuple(listed), by, took)


def as_data(result: AnalysedMotion) -> dict[str, Any]:
    """Return the summary that --json prints: numbers, names and lists only."""
    trajectory, times = result.found, result.motion.times
    samples = trajectory.samples
    return {
        "motion": result.motion.source,
        "robot": result.analyser.model.name,
        "samples": len(times),
        "begin": float(times[0]),
        "end": float(times[-1]),
        "microseconds_per_sample": 1e6 * result.seconds / len(times),
        "split": result.analyser.split,
        "fixed_links": {
            "from": result.fixed_by,
            "phases": [
                {"time": float(times[phase.begin]), "links": list(phase.links)}
                for phase in trajectory.phases
            ],
        },
        "joints": {row["joint"]: row for row in joint_rows(result)},
        "zmp_margin": _extreme(times, samples["margin"], least=True),
        "capture_point_margin": _extreme(times, samples["capture_margin"], least=True),
        "com_height": {
            "lowest": float(samples["com"][:, 2].min()),
            "highest": float(samples["com"][:, 2].max()),
        },
        "com_speed": _extreme(times, np.linalg.norm(samples["com_velocity"], axis=1)),
        "supports": {link: _support_data(result, link) for link in trajectory.links},
        "violations": [asdict(violation) for violation in result.violations],
    }


def joint_rows(result: AnalysedMotion) -> list[dict[str, Any]]:
    """Return one row per joint: largest torque and rate with their limits, or None for no limit."""
    model, trajectory, times = result.analyser.model, result.found, result.motion.times
    rows = []
    for joint in model.joints:
        if joint.joint_type == FREE:
            continue
        k = joint.v_index
        torque, rate = np.abs(trajectory.tau[:, k]), np.abs(trajectory.v[:, k])
        worst = int(np.argmax(torque))
        rows.append(
            {
                "joint": joint.name,
                "torque": float(trajectory.tau[worst, k]),
                "torque_time": float(times[worst]),
                "torque_limit": _limit(model.system.effort_limit[k]),
                "velocity": float(rate.max()),
                "velocity_limit": _limit(model.system.velocity_limit[k]),
                "lowest": float(trajectory.q[:, joint.q_index].min()),
                "highest": float(trajectory.q[:, joint.q_index].max()),
            }
        )
    return rows


def _limit(value) -> float | None:
    return float(value) if np.isfinite(value) else None


def _extreme(times, values, least: bool = False) -> dict[str, float] | None:
    """Return the extreme value and its time [s], or None if all values are NaN."""
    if np.isnan(values).all():
        return None
    k = int(np.nanargmin(values) if least else np.nanargmax(values))
    return {"value": float(values[k]), "time": float(times[k])}


def _support_data(result: AnalysedMotion, link: str) -> dict[str, Any] | None:
    """Return the extremes of the wrench on a link while fixed, or None if it is never fixed."""
    trajectory = result.found
    bears = trajectory.fixed[:, trajectory.links.index(link)]
    if not bears.any():
        return None
    at, times = trajectory.support(link)[bears], result.motion.times[bears]
    return {
        "fixed_for": float(bears.mean() * (result.motion.times[-1] - result.motion.times[0])),
        "normal_force": {
            "least": _extreme(times, at["force"][:, 2], least=True),
            "most": _extreme(times, at["force"][:, 2]),
        },
        "cop_margin": _extreme(times, at["cop_margin"], least=True),
        "friction": _extreme(times, at["friction"]),
    }


def as_text(result: AnalysedMotion) -> str:
    """Return the summary that the command prints as text."""
    data = as_data(result)
    lines = [
        f"{data['motion']}: {data['samples']} samples, {data['begin']:g} to {data['end']:g} s, "
        f"{data['robot']}, {data['microseconds_per_sample']:.1f} us a sample"
    ]
    lines.append(f"fixed links ({data['fixed_links']['from']}):")
    lines += _shortened(
        [
            f"  from {phase['time']:8.3f} s  {' + '.join(phase['links'])}"
            for phase in data["fixed_links"]["phases"]
        ]
    )
    lines.append("largest torques:")
    rows = sorted(data["joints"].values(), key=_load, reverse=True)
    for row in rows[:8]:
        limit = row["torque_limit"]
        load_text = "" if limit is None else f"  {100 * _load(row):5.1f} % of {limit:g}"
        lines.append(
            f"  {row['joint']:16s} {row['torque']:9.2f} at {row['torque_time']:.3f} s{load_text}"
        )
    for name, key in (("ZMP", "zmp_margin"), ("capture point", "capture_point_margin")):
        margin = data[key]
        text = "no outline" if margin is None else _margin_text(margin)
        lines.append(f"{name} in the support polygon: {text}")
    com = data["com_height"]
    lines.append(f"centre of mass: {com['lowest']:.4f} to {com['highest']:.4f} m above the floor")
    if result.violations:
        lines.append(f"violations: {len(result.violations)}")
        lines += _shortened([f"  {violation}" for violation in result.violations])
    else:
        lines.append("violations: none")
    return "\n".join(lines)


def _shortened(lines: list[str]) -> list[str]:
    left = len(lines) - _SHOWN
    return lines if left <= 0 else [*lines[:_SHOWN], f"  and {left} more (--json lists all)"]


def _load(row: dict[str, Any]) -> float:
    """Return the torque as a fraction of its limit, or 0 without a limit."""
    return abs(row["torque"]) / row["torque_limit"] if row["torque_limit"] else 0.0


def _margin_text(margin: dict[str, float]) -> str:
    where = "inside" if margin["value"] >= 0.0 else "OUTSIDE"
    return f"at worst {1e3 * abs(margin['value']):.1f} mm {where}, at {margin['time']:.3f} s"


def _by_axis(name: str, vectors: np.ndarray) -> dict[str, np.ndarray]:
    """Split vectors (n, 3) into three columns, named by `name` and axis."""
    return {f"{name}{letter}": vectors[:, axis] for axis, letter in enumerate("xyz")}


def write_csv(result: AnalysedMotion, file: TextIO) -> None:
    """Write one CSV line per sample: time, centre of mass, ZMP, margins, wrenches, torques."""
    trajectory, times = result.found, result.motion.times
    named = {"time": times}
    for name in _VECTORS:
        named |= _by_axis(f"{name}_", trajectory.samples[name])
    named |= {name: trajectory.samples[name] for name in _SCALARS}
    for link in trajectory.links:
        at = trajectory.support(link)
        for name, field in (("f", "force"), ("n", "torque"), ("cop_", "cop")):
            named |= _by_axis(f"{link}_{name}", at[field])
    for joint in result.analyser.model.joints:
        if joint.joint_type != FREE:
            named[f"{joint.name}_torque"] = trajectory.tau[:, joint.v_index]
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*named, "fixed_links"])
    links = [" ".join(phase.links) for phase in trajectory.phases]
    for k, row in enumerate(np.column_stack(list(named.values())).tolist()):
        writer.writerow([*(f"{x:.9g}" for x in row), links[trajectory.phase_of[k]]])


def phase_spans(result: AnalysedMotion) -> list[tuple[float, float, FixedPhase]]:
    """Return begin and end [s] of every phase, with the phase."""
    times, phases = result.motion.times, result.found.phases
    ends = [float(times[phase.begin]) for phase in phases[1:]] + [float(times[-1])]
    return [(float(times[phase.begin]), end, phase) for phase, end in zip(phases, ends)]


def violations(
    analyser: Analyser,
    times,
    found: Trajectory,
    *,
    friction: float | None = None,
    distances: LinkDistances | None = None,
) -> list[Violation]:
    """List the violations of limits in order of time, one for each continuous interval.

    Checked limits:

    - Joints: positions, rates and torques beyond the description's limits.
    - Floor: a zero-moment point outside the support polygon, a sole that would have to pull, and a
      centre of pressure outside its sole.
    - Friction, if `friction` is given: a tangential force above `friction` times the normal force.
    - Collisions, if `distances` is given: overlapping links, also between samples.
    """
    listed = _of_joints(analyser.model, times, found) + _of_floor(times, found)
    for sole in analyser.soles:
        if len(sole.vertices):
            listed += _of_sole(sole.link, times, found, friction)
    if distances is not None:
        listed += _of_links(distances, times, found)
    return sorted(listed, key=lambda violation: (violation.begin, violation.kind, violation.name))


def _of_links(distances: LinkDistances, times, found: Trajectory) -> list[Violation]:
    return [
        Violation(
            "collision", " - ".join(hit.links), hit.begin, hit.end, hit.depth, hit.time, 0.0, "m"
        )
        for hit in check_motion(distances, times, found.q)
    ]


def _of_joints(model: Model, times, found: Trajectory) -> list[Violation]:
    system, listed = model.system, []
    for joint in model.joints:
        if joint.joint_type == FREE:
            continue
        k, q = joint.v_index, found.q[:, joint.q_index]
        unit, effort = joint.motion.unit, joint.motion.effort_unit
        rate, torque = np.abs(found.v[:, k]), np.abs(found.tau[:, k])
        name, lower, upper = joint.name, float(system.lower[k]), float(system.upper[k])
        fastest, strongest = float(system.velocity_limit[k]), float(system.effort_limit[k])
        listed += _stretches("position", name, times, q, upper, unit)
        listed += _stretches("position", name, times, -q, -lower, unit, turned=True)
        listed += _stretches("velocity", name, times, rate, fastest, f"{unit}/s")
        listed += _stretches("torque", name, times, torque, strongest, effort)
    return listed


def _of_floor(times, found: Trajectory) -> list[Violation]:
    """Return the intervals with the ZMP outside the support polygon.

    Samples without a ZMP do not count. `_of_sole` reports the pulling sole in these samples.
    """
    margin = np.nan_to_num(found.samples["margin"], nan=np.inf)
    return _stretches("zmp", "the robot", times, -margin, 0.0, "m", turned=True)


def _of_sole(link: str, times, found: Trajectory, friction: float | None) -> list[Violation]:
    at = found.support(link)
    bears = found.fixed[:, found.links.index(link)]
    normal = np.where(bears, at["force"][:, 2], np.inf)
    pressed = bears & (normal > 0.0)
    margin = np.where(pressed, at["cop_margin"], np.inf)
    listed = _stretches("lift", link, times, -normal, 0.0, "N", turned=True)
    listed += _stretches("pressure", link, times, -margin, 0.0, "m", turned=True)
    if friction is not None:
        needed = np.where(pressed, at["friction"], 0.0)
        listed += _stretches("friction", link, times, needed, friction, "")
    return listed


def _stretches(kind, name, times, values, limit, unit, turned=False) -> list[Violation]:
    """Return one violation for each interval of samples with values > limit.

    turned: change the sign of the reported value and limit, for a lower limit.
    """
    sign = -1.0 if turned else 1.0
    beyond = values > limit + _ROUNDING * max(1.0, abs(limit))
    if not beyond.any():
        return []
    edges = np.flatnonzero(np.diff(np.concatenate([[False], beyond, [False]]).astype(int)))
    result, limit = [], float(sign * limit) + 0.0  # not -0
    for begin, end in edges.reshape(-1, 2):
        worst = begin + int(np.argmax(values[begin:end]))
        most, at = float(sign * values[worst]), float(times[worst])
        span = float(times[begin]), float(times[end - 1])
        result.append(Violation(kind, name, *span, most, at, limit, unit))
    return result
