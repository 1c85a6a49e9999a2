# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convert a <joint> of SDF to joints with one axis each, and links between the joints.

A link is added where an axis does not pass through the frame of a link.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from lxml.etree import SubElement

from hrpsim.common.errors import require_name
from hrpsim.model.readers.joint_graph import join
from hrpsim.model.readers.robot_data import ConnectionData, JointData, Notes, RobotData
from hrpsim.model.readers.sdf.frames import MODEL_FRAME, SdfFrame
from hrpsim.model.shapes.placement import Placement, rotation_with_z_along

_UNLIMITED = (-math.inf, math.inf)
_EULER = (("_x", (1.0, 0.0, 0.0)), ("_y", (0.0, 1.0, 0.0)), ("_z", (0.0, 0.0, 1.0)))
_LOOPS = {
    "fixed": "fixed",
    "ball": "ball",
    "revolute": "hinge",
    "continuous": "hinge",
    "prismatic": "slider",
}
_OF_TWO_AXES = ("universal", "revolute2")
_KINDS = (*_LOOPS, *_OF_TWO_AXES, "screw", "gearbox")


class SdfJoint(NamedTuple):
    """A joint between two links of a robot.

    parent, child: names of links in the robot, "world" for the world. frame: frame of the joint, at
    the placement `at` in the frame of the robot.
    """

    frame: SdfFrame
    name: str
    parent: str
    child: str
    at: Placement
    is_reversed: bool = False  # whether `child` is the <parent> of the joint

    @property
    def kind(self) -> str:
        """The type of the joint."""
        kind = self.frame.element.get("type", "").strip()
        require_name("type of joint", kind, _KINDS, self.frame.fail)
        return kind

    def turned(self) -> SdfJoint:
        """Return the same joint with the links exchanged."""
        return self._replace(parent=self.child, child=self.parent, is_reversed=True)


class _Step(NamedTuple):
    """One joint of one coordinate: type, end of the name, axis, <axis> element."""

    type: str
    suffix: str
    axis: np.ndarray  # axis in the frame of the robot
    tag: str = ""


def add_joint(
    robot: RobotData, edge: SdfJoint, place: Callable[[str], Placement], notes: Notes
) -> str:
    """Add a joint to a robot. Return the link right below the joint.

    place: returns the placement of a link. All placements are in one frame.
    """
    steps = _steps(edge, notes)
    made = [JointData(edge.name + step.suffix, step.type, "", "") for step in steps]
    for step, joint in zip(steps, made, strict=True):
        _describe(edge, step, joint, notes)
    if edge.kind == "screw":
        _follow(edge, made[1], made[0].name)
    return join(robot, edge, made, [step.axis for step in steps], edge.at, place)


def _steps(edge: SdfJoint, notes: Notes) -> list[_Step]:
    """Return the joints of one coordinate, from the parent to the child."""
    kind = edge.kind
    if kind == "fixed":
        return []
    if kind == "ball":
        why = "three hinges NAME_x, _y, _z, which lock where y is at 90 degrees"
        notes.add("<joint> ball", why, edge.name)
        R = edge.at.R
        return [_Step("revolute", suffix, R @ np.array(axis)) for suffix, axis in _EULER]
    for tag in ("axis", "axis2")[: 1 + (kind in _OF_TWO_AXES)]:
        if edge.frame.element.find(tag) is None:
            notes.add(f"<{tag}> that is missing", "the default of SDF, z, is used", edge.name)
    first = axis_of(edge, "axis")
    if kind == "screw":
        return [_Step("revolute", "", first, "axis"), _Step("prismatic", "_slide", first)]
    if kind in _OF_TWO_AXES:
        second = axis_of(edge, "axis2")
        steps = [_Step("revolute", "_1", first, "axis"), _Step("revolute", "_2", second, "axis2")]
        return steps[::-1] if edge.is_reversed else steps
    return [_Step(kind, "", first, "axis")]


def axis_of(edge: SdfJoint, tag: str) -> np.ndarray:
    """Return the unit vector of an <axis> in the frame of the robot.

    The vector is reversed if the links of the joint were exchanged.
    """
    frame = edge.frame
    file, element = frame.file, frame.element.find(tag)
    if element is None:
        element = SubElement(frame.element, tag)  # of default values
    vector = np.array(file.values(element, "xyz", (0.0, 0.0, 1.0)))
    length = float(np.linalg.norm(vector))
    if length == 0.0:
        file.fail(element, "<xyz> is zero")
    xyz = element.find("xyz")
    name = "" if xyz is None else xyz.get("expressed_in", "").strip()
    old = file.version < (1, 5) or file.content(element, "use_parent_model_frame") in ("true", "1")
    if not name and old and file.version < (1, 7):
        name = MODEL_FRAME
    R = edge.at.R
    if name:
        scope = frame.scope
        to_robot = edge.at.R @ scope.in_scope(frame).R.T
        R = to_robot @ scope.in_scope(scope.find(name, frame)).R
    vector = R @ (vector / length)
    return -vector if edge.is_reversed else vector


def _describe(edge: SdfJoint, step: _Step, joint: JointData, notes: Notes) -> None:
    """Read limits, losses, spring and leader of one <axis>."""
    element = edge.frame.element.find(step.tag) if step.tag else None
    if element is None:
        return
    file = edge.frame.file
    lower, upper = (
        file.bound(element, f"limit/{key}", end)
        for key, end in zip(("lower", "upper"), _UNLIMITED, strict=True)
    )
    if joint.type == "continuous":
        joint.type, (lower, upper) = "revolute", _UNLIMITED
    if lower > upper:
        notes.add("<limit>, not from lower to upper", "no limit", joint.name)
        lower, upper = _UNLIMITED
    joint.lower, joint.upper = lower, upper
    for key in ("effort", "velocity"):
        value = file.bound(element, f"limit/{key}", -1.0)
        setattr(joint, key, math.inf if value < 0.0 else value)
    joint.damping = file.value(element, "dynamics/damping", 0.0)
    joint.friction = file.value(element, "dynamics/friction", 0.0)
    joint.stiffness = file.value(element, "dynamics/spring_stiffness", 0.0)
    joint.rest = file.value(element, "dynamics/spring_reference", 0.0)
    if file.content(element, "initial_position"):
        joint.start = file.value(element, "initial_position", 0.0)
    mimic = element.find("mimic")
    if mimic is not None:
        _mimic(edge, element, mimic, joint, notes)


def _mimic(edge: SdfJoint, axis: Any, mimic: Any, joint: JointData, notes: Notes) -> None:
    """Let a joint follow a leader: multiplier (q - reference) + offset."""
    file, scope = edge.frame.file, edge.frame.scope
    leader = scope.find(file.text(mimic, "joint"), edge.frame)
    if leader.kind != "joint" or leader.element.get("type") not in ("revolute", "prismatic"):
        notes.add("<mimic> of no joint of one axis", "not simulated", joint.name)
        return
    ratio = file.value(mimic, "multiplier", 1.0)
    offset = file.value(mimic, "offset", 0.0) - ratio * file.value(mimic, "reference", 0.0)
    joint.mimic = (leader.scope.path + leader.name, ratio, offset)


def _follow(edge: SdfJoint, slide: JointData, leader: str) -> None:
    """Couple the slide of a screw joint to the rotation by the thread pitch."""
    file, element = edge.frame.file, edge.frame.element
    advance = file.value(element, "screw_thread_pitch", 0.0)
    if element.find("screw_thread_pitch") is None:
        old = file.value(element, "thread_pitch", 1.0)  # [rad/m], of the opposite sign
        if old == 0.0:
            file.fail(element, "<thread_pitch> is zero")
        advance = -2.0 * math.pi / old
    slide.mimic = (leader, advance / (2.0 * math.pi), 0.0)


def loop_of(
    edge: SdfJoint, place: Callable[[str], Placement], notes: Notes
) -> ConnectionData | None:
    """Return a joint that closes a loop as a connection.

    The result is None, with a note, for types that cannot be connections.
    """
    kind = edge.kind
    if kind not in _LOOPS:
        notes.add(f"<joint> {kind} that closes a loop", "left out", edge.name)
        return None
    frame = edge.at
    if kind not in ("fixed", "ball"):
        frame = Placement(rotation_with_z_along(axis_of(edge, "axis")), frame.p)
    first, second = (place(link).inverse().then(frame) for link in (edge.parent, edge.child))
    links = edge.parent, edge.child
    return ConnectionData(edge.name, _LOOPS[kind], None, links, (first, second))
