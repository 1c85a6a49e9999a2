# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Check the plausibility of input. All entry points use the same rules and texts.

A rule returns the text of a finding, or "" for none. An entry point raises an error with the text,
or warns once. Entry points are Python commands and states, world files, topics, goals, recordings
and policies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from hrpsim.engine.kinematics.forward import new_kinematics, update_poses
from hrpsim.model.model import CollisionShape, Joint
from hrpsim.model.shapes.convex_hull import farthest_against
from hrpsim.model.system import FREE, PRISMATIC, System
from hrpsim.world.objects.entity import Entity, shape_radius

ROUNDING = 1e-9  # of a limit that a target is not beyond, relative and absolute
STATE_SLACK = 1e-3  # of a limit that a state is not beyond [rad or m]
LONGEST_PERIOD = 0.05  # of servos and contacts [s]
SLOWEST_SAMPLES = 0.5  # of a motion [s]
DEGREES = "degrees are meant"  # in the text of a position that is one in degrees
_DEEP = 5e-3  # inside the ground [m]
_SHOWN = 3  # findings in a text
_TIMES = 3.0  # as fast as positions change, velocities contradict them
_ALIKE = 0.7  # least correlation at which their ratio says something
_UNITS = {"positions": "position", "velocities": "velocity", "efforts": "effort"}


class JointLimits:
    """The limits of joints, to compare with values given by the arguments of `Robot.command`.

    reach: lower and upper position, largest velocity and largest effort (n, 4), with a margin for
    rounding, of all joints but free bases.
    """

    def __init__(self, system: System, joints: Iterable[Joint]):
        self._joints = [one for one in joints if one.joint_type != FREE]
        self._row = {one.name: k for k, one in enumerate(self._joints)}
        at = np.array([one.v_index for one in self._joints], dtype=np.int64)
        ends = system.lower, system.upper, system.velocity_limit, system.effort_limit
        self._ends = np.column_stack([end[at] for end in ends])
        away = np.array([-1.0, 1.0, 1.0, 1.0])
        self.reach = self._ends + away * (ROUNDING * (1.0 + np.abs(self._ends)))
        self._names: Sequence[str] | None = None
        self._rows = np.zeros(0, dtype=np.int64)  # of these names

    def beyond(
        self, names: Sequence[str], values: Mapping[str, np.ndarray], slack: float = 0.0
    ) -> list[str]:
        """Return a text for each value beyond a limit. NaN and other arguments are never beyond.

        Args:
            names: names of k joints.
            values: positions, velocities or efforts (k,), by these names.
            slack: allowed excess over a limit, besides rounding.
        """
        if names != self._names:
            self._names = list(names)
            self._rows = np.array([self._row[name] for name in names], dtype=np.int64)
        reach, found = self.reach[self._rows], []
        for column, argument in enumerate(_UNITS, 1):
            given = values.get(argument)
            if given is not None:
                low = reach[:, 0] if column == 1 else -reach[:, column]
                off = (given < low - slack) | (given > reach[:, column] + slack)
                found += [
                    self._text(column, self._rows[k], given[k], argument)
                    for k in np.flatnonzero(off)
                ]
        return found

    def _text(self, column: int, row: int, value: float, argument: str) -> str:
        joint, ends = self._joints[row], self._ends[row]
        low, high = ends[0] if column == 1 else -ends[column], ends[column]
        text = f"{_UNITS[argument]} {value:.6g} of {joint.name!r} is not within {low:.6g} to "
        text += f"{high:.6g}"
        is_angle = argument == "positions" and joint.joint_type != PRISMATIC
        if is_angle and abs(value) > math.pi and low <= math.radians(value) <= high:
            text += f" (if {value:.6g} {DEGREES}, write {math.radians(value):.4g})"
        return text


def listed(found: Sequence[str], shown: int = _SHOWN) -> str:
    """Return findings as one text that names some of them, "" if there is no finding."""
    more = f", and {len(found) - shown} more" if len(found) > shown else ""
    return f"{'; '.join(found[:shown])}{more}"


def long_period(what: str, period: float, longest: float = LONGEST_PERIOD) -> str:
    """Return a text if a time [s] exceeds `longest`, or else "".

    The text says that the value may be in milliseconds, or a rate.
    """
    if period <= longest:
        return ""
    rate = f", if {period:g} Hz {1.0 / period:g}" if period > 10.0 else ""
    return (
        f"{what} is {period:g} s, too long for contacts and servos: if {period:g} ms are meant, "
        f"write {period / 1000.0:g}{rate}"
    )


def contradiction(time: np.ndarray, positions: np.ndarray, velocities: np.ndarray) -> str:
    """Return a text if velocities (n,) contradict positions (n,) at the same times [s], or else "".

    The changes of positions are compared with the mean velocities between two times, by least
    squares. Only a wrong factor counts, such as 57.3 from degrees or 1000 from milliseconds.
    """
    change, travel = np.diff(positions), 0.5 * (velocities[1:] + velocities[:-1]) * np.diff(time)
    if len(change) < 2 or not (travel.any() and change.any()):
        return ""
    alike = float(change @ travel / (np.linalg.norm(change) * np.linalg.norm(travel)))
    ratio = float(np.linalg.norm(change) / np.linalg.norm(travel))
    if abs(alike) < _ALIKE or (1.0 / _TIMES < ratio < _TIMES and alike > 0.0):
        return ""
    sign = "-" if alike < 0.0 else ""
    return (
        f"velocities contradict positions, which change {sign}{ratio:.3g} times as fast: both are "
        "in rad and s, or m and s"
    )


def depth_in_ground(
    entity: Entity, first: int, planes: Mapping[int, CollisionShape], apart: set[tuple[int, int]]
) -> str:
    """Return a text with the depth of an entity inside a plane, or "" for an entity outside.

    Args:
        entity: robot or body.
        first: the number of its first shape.
        planes: fixed planes by their numbers.
        apart: pairs of numbers of shapes that never touch.
    """
    if not planes:
        return ""
    poses = new_kinematics(len(entity.system.parent))
    update_poses(entity.forest, entity.q.copy(), poses)
    deepest, text = _DEEP, ""
    for number, plane in planes.items():
        normal = plane.R[:, 2]
        for k, shape in enumerate(entity.shapes, first):
            if shape.body < 0 or (number, k) in apart:
                continue
            R = poses[shape.body]["R"]
            origin = poses[entity.system.root[shape.body]]["origin"] + poses[shape.body]["p"]
            if (origin + R @ shape.p - plane.p) @ normal > shape_radius(shape):
                continue
            lowest = farthest_against(shape.geometry, (R @ shape.R).T @ normal)
            point = origin + R @ (shape.p + shape.R @ lowest)
            depth = float((plane.p - point) @ normal)
            if depth > deepest:
                deepest = depth
                text = (
                    f"{depth:.3g} m inside 'world/{plane.link}', with {shape.link!r}: set its "
                    f"position {depth:.3g} m higher, or it is pushed out and may fall"
                )
    return text
