# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a motion asks of the robot and the floor that they cannot give, and when."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hrpsim.analysis.analyser import Analyser, Trajectory
from hrpsim.geometry.link_distances import LinkDistances
from hrpsim.geometry.motion_check import check_motion
from hrpsim.model.model import Model
from hrpsim.model.system import FREE, REVOLUTE

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Violation:
    """One limit that is exceeded by one joint or link, from a first to a last time [s]."""

    kind: str  # position, velocity, torque, zmp or pressure (margins), lift, friction, collision
    name: str  # of the joint or link, or "LINK - LINK"
    begin: float
    end: float
    worst: float  # the value that exceeds the limit most
    worst_time: float  # [s]
    limit: float
    unit: str  # "" for a ratio

    def __str__(self) -> str:
        return (
            f"{self.kind} of {self.name}: {self.worst:.4g} {self.unit} at {self.worst_time:.3f} s, "
            f"limit {self.limit:.4g} ({self.begin:.3f} to {self.end:.3f} s)"
        )


def violations(
    analyser: Analyser,
    times,
    found: Trajectory,
    *,
    friction: float | None = None,
    distances: LinkDistances | None = None,
) -> list[Violation]:
    """Return what exceeds its limit, each continuous stretch once, in the order of time.

    Joints: positions, rates and torques beyond the description's limits. The floor: a zero-moment
    point outside the support polygon, a sole that would have to pull, a centre of pressure outside
    its sole, and, with `friction`, a tangential force beyond that many times the normal force. With
    `distances`, links that overlap each other, between samples too, and how deep.
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
            "collision", " - ".join(one.links), one.begin, one.end, one.depth, one.time, 0.0, "m"
        )
        for one in check_motion(distances, times, found.q)
    ]


def _of_joints(model: Model, times, found: Trajectory) -> list[Violation]:
    system, listed = model.system, []
    for joint in model.joints:
        if joint.joint_type == FREE:
            continue
        k, q = joint.v_index, found.q[:, joint.q_index]
        unit, effort = ("rad", "Nm") if joint.joint_type == REVOLUTE else ("m", "N")
        rate, torque = np.abs(found.v[:, k]), np.abs(found.tau[:, k])
        name, lower, upper = joint.name, float(system.lower[k]), float(system.upper[k])
        fastest, strongest = float(system.velocity_limit[k]), float(system.effort_limit[k])
        listed += _stretches("position", name, times, q, upper, unit)
        listed += _stretches("position", name, times, -q, -lower, unit, turned=True)
        listed += _stretches("velocity", name, times, rate, fastest, f"{unit}/s")
        listed += _stretches("torque", name, times, torque, strongest, effort)
    return listed


def _of_floor(times, found: Trajectory) -> list[Violation]:
    """Return where the ZMP is outside; where there is none, a sole pulls, which is told of it."""
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
    """Return one violation for each stretch of samples with values > limit.

    turned: both have the other sign than what they are told as.
    """
    sign = -1.0 if turned else 1.0
    beyond = values > limit + _ROUNDING * max(1.0, abs(limit))
    if not beyond.any():
        return []
    edges = np.flatnonzero(np.diff(np.concatenate([[False], beyond, [False]]).astype(int)))
    found = []
    for begin, end in edges.reshape(-1, 2):
        worst = begin + int(np.argmax(values[begin:end]))
        found.append(
            Violation(
                kind=kind,
                name=name,
                begin=float(times[begin]),
                end=float(times[end - 1]),
                worst=float(sign * values[worst]),
                worst_time=float(times[worst]),
                limit=float(sign * limit) + 0.0,  # not -0
                unit=unit,
            )
        )
    return found
