# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Check the numbers of a robot from a format other than URDF."""

from __future__ import annotations

from typing import Any

import numpy as np

from hrpsim.common import limits
from hrpsim.common.errors import ModelError
from hrpsim.common.values import LARGEST
from hrpsim.model.readers.robot_data import (
    JointData,
    LinkData,
    Part,
    RobotData,
    ShapeData,
    TendonData,
)
from hrpsim.model.readers.urdf.joint_types import JOINT_TYPES


def check_robot(robot: RobotData) -> None:
    """Raise ModelError for too many links, and for invalid masses, sizes, limits or gains."""
    if len(robot.links) > limits.LINKS:
        count = len(robot.links)
        raise ModelError(f"{robot.label}: has {count} links, {limits.excess('LINKS', 'links')}")
    for link in robot.links.values():
        _check_link(robot, link)
    for joint in robot.joints.values():
        _check_joint(robot, joint)
    for tendon in robot.tendons:
        _check_tendon(robot, tendon)
    for connection in robot.connections:
        for name, frame in zip(connection.links, connection.frames, strict=True):
            _require_finite(robot, robot.links[name], {f"frame of {connection.name!r}": frame.p})
    for keyframe in robot.keyframes:
        for name, position in keyframe.joints.items():
            named = {f"position in {keyframe.name!r}": position}
            _require_finite(robot, robot.joints[name], named)


def _check_link(robot: RobotData, link: LinkData) -> None:
    if link.inertial is not None:
        mass, centre, inertia = link.inertial
        _require_not_negative(robot, link, {"mass": mass})
        _require_finite(robot, link, {"centre of mass": centre, "inertia": inertia})
    _require_finite(robot, link, {"compensation of gravity": link.gravity_compensation})
    for shape in link.visuals:
        _check_shape(robot, link, shape)
    for shape in link.collisions:
        _check_shape(robot, link, shape)
        if not all(shape.size) and shape.kind != "sphere" and not shape.is_void:
            robot.fail(link, f"size {shape.size} of a {shape.kind} must be positive")


def _check_shape(robot: RobotData, link: LinkData, shape: ShapeData) -> None:
    _require_not_negative(robot, link, {f"size of a {shape.kind}": shape.size})
    _require_finite(robot, link, {f"position of a {shape.kind}": shape.placement.p})


def _check_joint(robot: RobotData, joint: JointData) -> None:
    _require_finite(robot, joint, {"origin": joint.origin.p, "rest": joint.rest})
    names = ("damping", "friction", "stiffness", "rotor_inertia")
    _require_not_negative(robot, joint, {name: getattr(joint, name) for name in names})
    _require_not_negative(robot, joint, {"gains": joint.gains or 0.0})
    if joint.mimic is not None:
        _require_finite(robot, joint, {"mimic": joint.mimic[1:]})
    if JOINT_TYPES[joint.type].needs_axis:
        _require_finite(robot, joint, {"axis": joint.axis})
        if not any(joint.axis):
            robot.fail(joint, "the axis is zero")
    if not joint.lower <= joint.upper:
        text = f"the lower limit {joint.lower:g} is above the upper limit {joint.upper:g}"
        robot.fail(joint, text)
    for name in ("effort", "velocity"):
        if not getattr(joint, name) >= 0.0:
            robot.fail(joint, f"the {name} limit {getattr(joint, name)} is negative")


def _check_tendon(robot: RobotData, tendon: TendonData) -> None:
    joint = robot.joints[tendon.joints[0]]
    _require_finite(robot, joint, {"coefficients of the tendon": tendon.coefficients})
    _require_not_negative(robot, joint, {"gains of the tendon": tendon.gains or 0.0})
    if 0.0 in tendon.coefficients:
        robot.fail(joint, f"a coefficient of tendon {tendon.name!r} is zero")


def _require_finite(robot: RobotData, part: Part, values: dict[str, Any]) -> None:
    for name, value in values.items():
        numbers = np.ravel(value)
        wrong = numbers[~(np.abs(numbers) <= LARGEST)]
        if wrong.size:
            why = "too large a" if np.isfinite(wrong[0]) else "not a finite"
            robot.fail(part, f"{name}: {wrong[0]:g} is {why} number")


def _require_not_negative(robot: RobotData, part: Part, values: dict[str, Any]) -> None:
    _require_finite(robot, part, values)
    for name, value in values.items():
        if np.min(value, initial=0.0) < 0.0:
            robot.fail(part, f"{name} {np.min(value):g} is negative")
