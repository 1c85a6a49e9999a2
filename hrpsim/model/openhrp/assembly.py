# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Links, masses and sensors by OpenHRP's convention: a link's frame is its joint's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from hrpsim.model.formats.robot_data import (
    WORLD_LINK,
    JointData,
    KeyframeData,
    Notes,
    RobotData,
    SensorData,
    ShapeData,
)
from hrpsim.model.openhrp.link_geometry import solid_shapes
from hrpsim.model.shapes.placement import IDENTITY, Placement

_MOVING = {"revolute", "prismatic"}


@dataclass
class Part:
    """A link with the joint above it: parts of its mass, visual and collision shapes.

    type: "free", "fixed", "revolute" or "prismatic"; masses: (mass, centre, inertia about it).
    sensors: (name, kind, placement in the link).
    """

    name: str
    parent: str | None
    type: str
    placement: Placement
    axis: np.ndarray
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    rotor_inertia: float = 0.0
    joint_id: int = -1
    start: float = 0.0  # the joint's position at first
    masses: list[tuple[float, np.ndarray, np.ndarray]] = field(default_factory=list)
    shapes: list[ShapeData] = field(default_factory=list)  # both seen and solid
    visuals: list[ShapeData] = field(default_factory=list)
    collisions: list[ShapeData] = field(default_factory=list)
    sensors: list[tuple[str, str, Placement]] = field(default_factory=list)


def copied(part: Part, named: Callable[[str], str], device_prefix: str, id_offset: int) -> Part:
    """Return a copy for another place, with another name and other sensors."""
    return replace(
        part,
        name=named(part.name),
        parent=None if part.parent is None else named(part.parent),
        joint_id=part.joint_id + id_offset if part.joint_id >= 0 else -1,
        masses=list(part.masses),
        shapes=list(part.shapes),
        visuals=list(part.visuals),
        collisions=list(part.collisions),
        sensors=[
            (device_prefix + label, kind, placement) for label, kind, placement in part.sensors
        ],
    )


def assembled(
    name: str, parts: list[Part], pose: list[float], notes: Notes, fail: Callable[[str], object]
) -> RobotData:
    """Return the robot of parts, parents before children; the first is the root.

    pose: joint positions by joint id, a keyframe. `fail` raises the error.
    """
    root = parts[0]
    is_free = root.type == "free" and not any(part.type == "free" for part in parts[1:])
    robot = RobotData(name, root.name if is_free else WORLD_LINK)
    if not is_free:
        robot.add_link(WORLD_LINK)
    at_zero: dict[str, Placement] = {}  # links in the world, all joints at zero
    for part in parts:
        if part.name in robot.links:
            fail(f"two links are called {part.name!r}: rename one")
        link = robot.add_link(part.name)
        link.inertial = _total(part.masses)
        link.visuals = part.shapes + part.visuals
        link.collisions = _collisions(part, notes)
        above = IDENTITY if part.parent is None else at_zero[part.parent]
        at_zero[part.name] = above.then(part.placement)
        if part is root or part.type == "free":
            if not is_free:
                robot.add_joint(_joint(part, WORLD_LINK, at_zero[part.name]))
        else:
            robot.add_joint(_joint(part, str(part.parent), part.placement))
    for part in parts:
        for label, kind, placement in part.sensors:
            if kind == "force_torque" and part.type == "free":
                notes.add("ForceSensor on the base", "no joint above carries a force")
            else:
                names = {sensor.name for sensor in robot.sensors}
                wanted = label if label not in names else f"{part.name}_{label}"
                robot.sensors.append(SensorData(wanted, kind, part.name, placement))
    moving = [part for part in parts if part.type in _MOVING]
    driven = sorted((p for p in moving if p.joint_id >= 0), key=lambda part: part.joint_id)
    robot.commanded = {part.name: ("effort",) for part in driven}
    for part, other in itertools.pairwise(driven):
        if part.joint_id == other.joint_id:
            notes.add("joint_id of two joints", "commanded one after the other")
    base = root.placement if is_free else None
    starts: dict[str, tuple[float, ...]] = {
        part.name: (part.start,) for part in moving if part.start
    }
    if is_free or starts:
        robot.keyframes.append(KeyframeData("initial", base, starts))
    posed: dict[str, tuple[float, ...]] = {
        part.name: (pose[part.joint_id],) for part in driven if part.joint_id < len(pose)
    }
    if posed:
        robot.keyframes.append(KeyframeData("standard_pose", base, posed))
    robot.notes = notes.lines()
    return robot


def _collisions(part: Part, notes: Notes) -> list[ShapeData]:
    """Return the collision shapes of a part; note meshes without volume."""
    has_separate = bool(part.visuals or part.collisions)
    found: list[ShapeData] = []
    for shapes in (part.collisions, part.shapes) if has_separate else (part.shapes,):
        solids, has_flat_mesh = solid_shapes(shapes, part.name)
        found += solids
        if has_flat_mesh:
            notes.add("mesh of a link, without volume", "it does not collide")
    return found


def _joint(part: Part, parent: str, placement: Placement) -> JointData:
    kind = "floating" if part.type == "free" else part.type
    x, y, z = (float(value) for value in part.axis)
    return JointData(
        *(part.name, kind, parent, part.name, placement, (x, y, z)),
        lower=part.lower,
        upper=part.upper,
        velocity=part.velocity,
        effort=part.effort,
        rotor_inertia=part.rotor_inertia if part.type in _MOVING else 0.0,
    )


def _total(
    masses: list[tuple[float, np.ndarray, np.ndarray]],
) -> tuple[float, np.ndarray, np.ndarray] | None:
    """Return mass, centre and inertia about it of rigidly joined parts."""
    mass = sum(m for m, _, _ in masses)
    inertia = sum((I for _, _, I in masses), np.zeros((3, 3)))
    if mass == 0.0:
        return (0.0, np.zeros(3), inertia) if inertia.any() else None
    com = sum((m * c for m, c, _ in masses), np.zeros(3)) / mass
    for m, c, _ in masses:
        d = c - com
        inertia = inertia + m * ((d @ d) * np.eye(3) - np.outer(d, d))
    return mass, com, 0.5 * (inertia + inertia.T)


def placed_mass(
    mass: float, com: np.ndarray, inertia: np.ndarray, T: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass properties under a transform (4, 4)."""
    R = T[:3, :3]
    return mass, R @ com + T[:3, 3], R @ inertia @ R.T


def placement_of(T: np.ndarray) -> Placement:
    """Return a transform (4, 4) that does not scale as a placement."""
    return IDENTITY if np.array_equal(T, np.eye(4)) else Placement(T[:3, :3], T[:3, 3])
