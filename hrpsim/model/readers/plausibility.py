# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Check the plausibility of angles: degrees instead of radians, and the reverse.

A rule returns the text of a finding, or "" for none. Rules of worlds are in
`hrpsim.world.objects.plausibility`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from hrpsim.model.readers.robot_data import JointData
from hrpsim.model.readers.urdf.joint_types import JOINT_TYPES

DEGREES = "degrees are meant"  # in the text of an angle that is one in degrees
_TURN = 2.0 * math.pi
_ROUNDING = 1e-3  # of a turn that is written with few digits
_MOST = 720.0  # larger whole numbers stand for no limit [rad]


def if_degrees(value: float) -> str:
    """Return advice for an angle that seems to be in degrees: its value in radians."""
    return f"if {value:.6g} {DEGREES}, write {math.radians(value):.4g}"


def wide_turn(what: str, angles: Sequence[float]) -> str:
    """Return a finding if an angle of a placement [rad] exceeds 360 degrees, or else ""."""
    wide = next((angle for angle in angles if abs(angle) > _TURN * (1.0 + _ROUNDING)), None)
    return "" if wide is None else f"{what} {wide:.6g} is more than a turn: {if_degrees(wide)}"


def radians_in_degrees(angles: Sequence[float]) -> bool:
    """Return whether any value in degrees looks like 90, 180 or 270 degrees written in radians."""
    return any(abs(abs(angle) - k * _TURN / 4.0) < 5e-3 for angle in angles for k in (1, 2, 3))


def wide_limits(joint: JointData) -> str:
    """Return a finding if a joint's limits [rad] are integers above two turns, or else ""."""
    ends = joint.lower, joint.upper
    widest = max(ends, key=abs)
    is_range = JOINT_TYPES[joint.type].has_range and JOINT_TYPES[joint.type].is_turn
    if not is_range or not 2.0 * _TURN * (1.0 + _ROUNDING) < abs(widest) <= _MOST:
        return ""
    if not all(end == round(end) for end in ends):
        return ""
    return (
        f"limits such as {ends[0]:.6g} to {ends[1]:.6g} rad are over two turns: "
        f"{if_degrees(widest)}. Without limits, make the joint continuous"
    )


def narrow_limits(joints: Iterable[JointData]) -> str:
    """Return a finding if all joint limits seem to be radians that were read as degrees, or ""."""
    turns = [joint for joint in joints if JOINT_TYPES[joint.type].has_range]
    turns = [turn for turn in turns if JOINT_TYPES[turn.type].is_turn and turn.lower < turn.upper]
    widest = max((max(abs(turn.lower), abs(turn.upper)) for turn in turns), default=math.inf)
    if not turns or widest > math.radians(_TURN) * (1.0 + _ROUNDING):
        return ""
    if len(turns) == 1 and not radians_in_degrees([math.degrees(widest)]):
        return ""
    rotations = f"{len(turns)} rotation{'s' * (len(turns) > 1)}"
    return (
        f"no limit of {rotations} is over {widest:.3g} rad: if they are written in"
        ' radians, write degrees, or say so (MJCF: <compiler angle="radian"/>)'
    )
