# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The analysis of a motion file as a whole: what the command prints, writes and draws."""

from __future__ import annotations

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
from hrpsim.analysis.violations import Violation, violations
from hrpsim.geometry.link_distances import LinkDistances
from hrpsim.model.system import FREE

_SHOWN = 12  # phases, and violations, that the text lists


@dataclass(frozen=True)
class AnalysedMotion:
    """A motion, its analysis, and what it violates."""

    analyser: Analyser
    motion: Motion
    found: Trajectory
    violations: tuple[Violation, ...]
    fixed_by: str  # "given", "file" or "detected"
    seconds: float  # that the analysis took, without reading [s]


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
    """Return the analysis of a motion.

    Args:
        analyser: of the robot.
        motion: of its joints.
        fixed: links that are fixed from given times on; by default those that the motion's file
            names, else they are found.
        friction: coefficient, for the list of violations.
        lift_tolerance: largest displacement of a fixed link [m].
        distances: of the model's links, to list self-collisions.
        progress: called with the name of the task, the number of samples that are done, and of all.

    Raises:
        SequenceError: where a link that should be fixed moves by more than `lift_tolerance`.
    """
    told = tuple(fixed) or motion.fixed
    if told:
        first = analyser.soles[analyser.links.index(told[0].links[0])]
        phases = phases_at(told, motion.times, starting_pose(analyser.model, first, motion))
    else:
        follow = progress and partial(progress, "looking for fixed links in")
        phases = detect_fixed_links(analyser, motion, progress=follow)
    begin = perf_counter()
    follow = progress and partial(progress, "analysing")
    found = analyser.analyse(motion.q, motion.v, motion.dv, phases, progress=follow)
    took = perf_counter() - begin
    if told:
        check_fixed_links(motion, told, analyser, found, lift_tolerance)
    listed = violations(analyser, motion.times, found, friction=friction, distances=distances)
    by = "given" if fixed else "file" if told else "detected"
    return AnalysedMotion(analyser, motion, found, tuple(listed), by, took)


def as_data(result: AnalysedMotion) -> dict[str, Any]:
    """Return the summary that --json prints: numbers, names and lists only."""
    found, times = result.found, result.motion.times
    samples = found.samples
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
                for phase in found.phases
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
        "supports": {link: _support_data(result, link) for link in found.links},
        "violations": [asdict(violation) for violation in result.violations],
    }


def joint_rows(result: AnalysedMotion) -> list[dict[str, Any]]:
    """Return one row a joint: largest torque and rate beside their limits, None where no limit."""
    model, found, times = result.analyser.model, result.found, result.motion.times
    rows = []
    for joint in model.joints:
        if joint.joint_type == FREE:
            continue
        k = joint.v_index
        torque, rate = np.abs(found.tau[:, k]), np.abs(found.v[:, k])
        worst = int(np.argmax(torque))
        rows.append(
            {
                "joint": joint.name,
                "torque": float(found.tau[worst, k]),
                "torque_time": float(times[worst]),
                "torque_limit": _limit(model.system.effort_limit[k]),
                "velocity": float(rate.max()),
                "velocity_limit": _limit(model.system.velocity_limit[k]),
                "lowest": float(found.q[:, joint.q_index].min()),
                "highest": float(found.q[:, joint.q_index].max()),
            }
        )
    return rows


def _limit(value) -> float | None:
    return float(value) if np.isfinite(value) else None


def _extreme(times, values, least: bool = False) -> dict[str, float] | None:
    """Return the extreme value and its time; None where there is no value at all."""
    if np.isnan(values).all():
        return None
    k = int(np.nanargmin(values) if least else np.nanargmax(values))
    return {"value": float(values[k]), "time": float(times[k])}


def _support_data(result: AnalysedMotion, link: str) -> dict[str, Any] | None:
    """Return the extremes of the wrench on a link while it is fixed; None if it never is."""
    found = result.found
    bears = found.fixed[:, found.links.index(link)]
    if not bears.any():
        return None
    at, times = found.support(link)[bears], result.motion.times[bears]
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
    """Return the summary that the command prints."""
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
        share = "" if limit is None else f"  {100 * _load(row):5.1f} % of {limit:g}"
        lines.append(
            f"  {row['joint']:16s} {row['torque']:9.2f} at {row['torque_time']:.3f} s{share}"
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
    """Return the torque's part of its limit, 0 where there is none."""
    return abs(row["torque"]) / row["torque_limit"] if row["torque_limit"] else 0.0


def _margin_text(margin: dict[str, float]) -> str:
    where = "inside" if margin["value"] >= 0.0 else "OUTSIDE"
    return f"at worst {1e3 * abs(margin['value']):.1f} mm {where}, at {margin['time']:.3f} s"


def write_csv(result: AnalysedMotion, file: TextIO) -> None:
    """Write one line a sample: time, centre of mass, ZMP, margins, wrenches, torques."""
    found, times = result.found, result.motion.times
    names, columns = ["time"], [times]
    for name in ("com", "com_velocity", "com_acceleration", "zmp", "capture_point",
                 "linear_momentum", "angular_momentum"):  # fmt: skip
        for axis, letter in enumerate("xyz"):
            names.append(f"{name}_{letter}")
            columns.append(found.samples[name][:, axis])
    for name in ("margin", "capture_margin", "kinetic_energy", "potential_energy"):
        names.append(name)
        columns.append(found.samples[name])
    for link in found.links:
        at = found.support(link)
        for name, field in (("f", "force"), ("n", "torque"), ("cop_", "cop")):
            for axis, letter in enumerate("xyz"):
                names.append(f"{link}_{name}{letter}")
                columns.append(at[field][:, axis])
    for joint in result.analyser.model.joints:
        if joint.joint_type != FREE:
            names.append(f"{joint.name}_torque")
            columns.append(found.tau[:, joint.v_index])
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*names, "fixed_links"])
    links = [" ".join(phase.links) for phase in found.phases]
    for k, row in enumerate(np.column_stack(columns).tolist()):
        writer.writerow([*(f"{x:.9g}" for x in row), links[found.phase_of[k]]])


def phase_spans(result: AnalysedMotion) -> list[tuple[float, float, FixedPhase]]:
    """Return begin and end [s] of every phase."""
    times, phases = result.motion.times, result.found.phases
    ends = [float(times[phase.begin]) for phase in phases[1:]] + [float(times[-1])]
    return [(float(times[phase.begin]), end, phase) for phase, end in zip(phases, ends)]
