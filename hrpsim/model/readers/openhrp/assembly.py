# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Assemble robots from OpenHRP's links. The frame of a link is the frame of its joint."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path

import numpy as np

from hrpsim.model.readers.openhrp.joint_order import joint_order
from hrpsim.model.readers.robot_data import (
    WORLD_LINK,
    JointData,
    KeyframeData,
    MeshData,
    MeshFile,
    Notes,
    RobotData,
    SensorData,
    ShapeData,
)
from hrpsim.model.readers.stored_meshes import file_uri
from hrpsim.model.readers.urdf.joint_types import MOVING_TYPES
from hrpsim.model.sensors.kinds import SENSOR_KINDS
from hrpsim.model.shapes.convex_hull import is_flat, own_extents
from hrpsim.model.shapes.placement import IDENTITY, Placement
from hrpsim.model.shapes.solid_inertia import BodyInertia, total

_ABOUT_X = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # takes z to -y
MESH_SUFFIXES = (".stl", ".obj", ".dae", ".ply")
_CORNERS = 24  # of the polygon in place of a circle
_UNIT = 1e-9  # up to which the columns of a transform are those of a rotation

Color = tuple[float, float, float, float]
_STRAIGHT = 1e-9  # sine up to which three points of a spine are on a line


def axis_angle(values: Iterable[float]) -> np.ndarray:
    """Return the rotation (3, 3) about an axis (x, y, z) by an angle [rad]."""
    *axis, angle = (float(value) for value in values)
    length = np.linalg.norm(axis)
    if length == 0.0:
        return np.eye(3)
    x, y, z = np.array(axis) / length
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def affine(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the transform (4, 4) of a linear map and a translation."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def primitive(kind: str, sizes: list[float], T: np.ndarray, color: Color | None) -> ShapeData:
    """Return the shape of a Box, Sphere, Cylinder, Capsule or Cone, transformed by T (4, 4).

    sizes: edge lengths, or radius, or radius and height [m]. The symmetry axis is y, as in VRML. A
    scaled or sheared shape becomes a mesh.
    """
    R = T[:3, :3]
    if np.allclose(R.T @ R, np.eye(3), atol=_UNIT) and np.linalg.det(R) > 0 and kind != "Cone":
        upright = R @ _ABOUT_X if kind in ("Cylinder", "Capsule") else R
        return ShapeData(kind.lower(), tuple(sizes), Placement(upright, T[:3, 3]), color=color)
    return hull_shape(kind.lower(), _outline(kind, sizes), T, color)


def hull_shape(name: str, points: np.ndarray, T: np.ndarray, color: Color | None) -> ShapeData:
    """Return the convex hull of points (n, 3), transformed by T (4, 4), as a mesh."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    faces = hull.simplices.copy()
    a, b, c = (points[faces[:, k]] for k in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces[inwards] = faces[inwards][:, ::-1]
    return mesh_shape(name, points, faces, T, color)


def mesh_shape(
    name: str, vertices: np.ndarray, faces: np.ndarray, T: np.ndarray, color: Color | None
) -> ShapeData:
    """Return the shape of a triangle mesh, transformed by T (4, 4) to the link's frame."""
    if np.linalg.det(T[:3, :3]) < 0.0:
        faces = faces[:, ::-1]
    placed = vertices @ T[:3, :3].T + T[:3, 3]
    return ShapeData("mesh", mesh=MeshData(name, placed, faces), color=color)


def mesh_file_shape(path: Path, T: np.ndarray, color: Color | None) -> ShapeData | None:
    """Return the shape of a mesh file, transformed by T (4, 4).

    The result is None if T has a shear, which URDF cannot express.
    """
    scale = np.linalg.norm(T[:3, :3], axis=0)
    R = T[:3, :3] / scale
    if np.linalg.det(R) < 0.0:
        R, scale = -R, -scale
    if not np.allclose(R.T @ R, np.eye(3), atol=_UNIT):
        return None
    x, y, z = map(float, scale)
    return ShapeData("mesh", (), Placement(R, T[:3, 3]), MeshFile(file_uri(path), (x, y, z)), color)


def triangles_of(indices: np.ndarray, count: int) -> np.ndarray | None:
    """Return triangles (m, 3) of polygons that end with -1, or None for an invalid vertex index."""
    indices = np.append(np.asarray(indices, dtype=np.int64), -1)
    if (indices >= count).any() or (indices < -1).any():
        return None
    ends = np.flatnonzero(indices == -1)
    fans, start = [], 0
    for end in ends:
        corners = indices[start:end]
        if len(corners) >= 3:  # a fan, as in VRML's convex polygons
            fan = np.stack([np.full(len(corners) - 2, corners[0]), corners[1:-1], corners[2:]])
            fans.append(fan.T)
        start = end + 1
    return np.concatenate(fans) if fans else np.zeros((0, 3), dtype=np.int64)


def solid_shapes(shapes: list[ShapeData], link: str) -> tuple[list[ShapeData], bool]:
    """Return the collision shapes of a link: the primitives, and all meshes joined to one shape.

    Returns:
        (shapes, whether meshes without volume were left out).
    """
    meshes = [shape.mesh for shape in shapes if isinstance(shape.mesh, MeshData)]
    solids = [shape for shape in shapes if not isinstance(shape.mesh, MeshData)]
    if not meshes:
        return solids, False
    offsets = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    faces = [mesh.triangles + at for mesh, at in zip(meshes, offsets, strict=True)]
    vertices = np.concatenate([mesh.vertices for mesh in meshes])
    if is_flat(own_extents(vertices)):
        return solids, True
    solids.append(ShapeData("mesh", mesh=MeshData(link, vertices, np.concatenate(faces))))
    return solids, False


def _outline(kind: str, sizes: list[float]) -> np.ndarray:
    """Return points whose convex hull is the shape. Round shapes are approximate."""
    if kind == "Box":
        grid = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
        return grid * sizes
    turn = 2.0 * np.pi * np.arange(_CORNERS) / _CORNERS
    ring = np.stack([np.cos(turn), np.zeros(_CORNERS), np.sin(turn)], axis=1)
    radius, height = sizes[0], sizes[-1]
    if kind == "Sphere":
        heights = np.linspace(-1.0, 1.0, _CORNERS // 2 + 1)
        rings = [ring * np.sqrt(1.0 - y * y) + (0.0, y, 0.0) for y in heights]
        return np.unique(np.round(radius * np.concatenate(rings), 12), axis=0)
    low, high = np.array([0.0, -0.5 * height, 0.0]), np.array([0.0, 0.5 * height, 0.0])
    if kind == "Cone":
        return np.concatenate([radius * ring + low, high[None]])
    ends = [radius * ring + low, radius * ring + high]
    if kind == "Capsule":
        ends += [low[None] - (0.0, radius, 0.0), high[None] + (0.0, radius, 0.0)]
    return np.concatenate(ends)


def swept(
    section: np.ndarray, spine: np.ndarray, scale: np.ndarray, turns: np.ndarray
) -> np.ndarray:
    """Return the corners (k, 3) of a section swept along a spine, without repetition.

    section: corners x, z (m, 2). spine: points (n, 3). scale: factors of x and z at each point (n,
    2). turns: axis and angle [rad] at each point (n, 4).
    """
    flat = np.insert(section, 1, 0.0, axis=1)
    sections = [
        spine[k] + (flat * (scale[k, 0], 0.0, scale[k, 1])) @ (R @ axis_angle(turns[k])).T
        for k, R in enumerate(_frames(spine))
    ]
    return np.unique(np.concatenate(sections), axis=0) if sections else np.zeros((0, 3))


def _frames(spine: np.ndarray) -> list[np.ndarray]:
    """Return the frame (3, 3) of each point: y along the spine, z to the inside of the bend."""
    count, closed = len(spine), len(spine) > 2 and np.array_equal(spine[0], spine[-1])
    before, after = np.roll(spine, 1, axis=0), np.roll(spine, -1, axis=0)
    if closed:
        before[0], after[-1] = spine[-2], spine[1]
    elif count:
        before[0], after[-1] = spine[0], spine[-1]
    along = _filled(_units(after - before))
    bends = np.cross(after - spine, before - spine)
    lengths = np.linalg.norm(after - spine, axis=1) * np.linalg.norm(before - spine, axis=1)
    bends[np.linalg.norm(bends, axis=1) <= _STRAIGHT * lengths] = 0.0
    aside = _filled(_units(bends))
    for k in range(1, count):
        if aside[k] @ aside[k - 1] < 0.0:
            aside[k] = -aside[k]
    if not aside.any():
        return [_turned_to(y) for y in along]
    return [np.stack([np.cross(y, z), y, z], axis=1) for y, z in zip(along, aside, strict=True)]


def _units(vectors: np.ndarray) -> np.ndarray:
    """Return vectors (n, 3) of length 1. Zero vectors stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0.0)


def _filled(vectors: np.ndarray) -> np.ndarray:
    """Return vectors (n, 3) with zeros replaced by the last nonzero vector before, or the first."""
    there = vectors.any(axis=1)
    if not there.any():
        return vectors
    last = np.maximum.accumulate(np.where(there, np.arange(len(vectors)), -1))
    return vectors[np.where(last < 0, int(np.argmax(there)), last)]


def _turned_to(y: np.ndarray) -> np.ndarray:
    """Return the shortest rotation (3, 3) that takes the y axis to a unit vector."""
    axis = (y[2], 0.0, -y[0]) if y[0] or y[2] else (1.0, 0.0, 0.0)
    return axis_angle((*axis, np.arctan2(np.hypot(y[0], y[2]), y[1])))


@dataclass
class LinkAssembly:
    """A link and its joint, while a file is read.

    type: type of the joint, one of JOINT_TYPES.
    masses: (mass, centre, inertia about the centre) of each element with mass.
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
    start: float = 0.0  # position of the joint at the start
    material: str | None = None
    masses: list[tuple[float, np.ndarray, np.ndarray]] = field(default_factory=list)
    shapes: list[ShapeData] = field(default_factory=list)  # visual and collision shapes
    visuals: list[ShapeData] = field(default_factory=list)
    collisions: list[ShapeData] = field(default_factory=list)
    sensors: list[tuple[str, str, Placement]] = field(default_factory=list)


def copied(
    part: LinkAssembly, named: Callable[[str], str], device_prefix: str, id_offset: int
) -> LinkAssembly:
    """Copy a part of a subordinate file (SubBody), with new names and joint ids."""
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
    name: str,
    parts: list[LinkAssembly],
    pose: list[float],
    notes: Notes,
    fail: Callable[[str], object],
) -> RobotData:
    """Assemble a robot from parts, parents before children. The first part is the root.

    pose: joint positions of the standard pose by joint id, which becomes a keyframe.
    fail: raises ModelError with a cause.
    """
    root = parts[0]
    is_free = root.type == "floating" and not any(part.type == "floating" for part in parts[1:])
    robot = RobotData(name, root.name if is_free else WORLD_LINK)
    if not is_free:
        robot.add_link(WORLD_LINK)
    _add_links(robot, parts, is_free, notes, fail)
    _add_sensors(robot, parts, notes)
    moving = [part for part in parts if part.type in MOVING_TYPES]
    driven = sorted((p for p in moving if p.joint_id >= 0), key=attrgetter("joint_id"))
    robot.commanded = {part.name: ("effort",) for part in driven}
    robot.joint_order = joint_order(parts)
    same = sum(a.joint_id == b.joint_id for a, b in itertools.pairwise(driven))
    notes.add("joint_id of two joints", "commanded one after the other", times=same)
    _add_poses(robot, root.placement if is_free else None, moving, driven, pose)
    robot.notes = notes.lines()
    return robot


def _add_poses(
    robot: RobotData,
    base: Placement | None,
    moving: list[LinkAssembly],
    driven: list[LinkAssembly],
    pose: list[float],
) -> None:
    """Add keyframes of the initial posture and of the standard pose.

    pose: joint positions of the standard pose by joint id.
    """
    robot.add_start(base, {part.name: part.start for part in moving if part.start})
    posed: dict[str, tuple[float, ...]] = {
        part.name: (pose[part.joint_id],) for part in driven if part.joint_id < len(pose)
    }
    if posed:
        robot.keyframes.append(KeyframeData("standard_pose", base, posed))


def _add_links(
    robot: RobotData,
    parts: list[LinkAssembly],
    is_free: bool,
    notes: Notes,
    fail: Callable[[str], object],
) -> None:
    """Add the link and the joint of each part. is_free: whether the root has no joint."""
    at_zero: dict[str, Placement] = {}  # links in the world, all joints at zero
    for part in parts:
        if part.name in robot.links:
            fail(f"two links have the name {part.name!r}. Rename one")
        link = robot.add_link(part.name)
        link.inertial = _total(part.masses)
        link.visuals = part.shapes + part.visuals
        link.collisions = _collisions(part, notes)
        link.material = part.material
        above = IDENTITY if part.parent is None else at_zero[part.parent]
        at_zero[part.name] = above.then(part.placement)
        if part.parent is not None and part.type != "floating":
            robot.add_joint(_joint(part, part.parent, part.placement))
        elif not is_free:
            robot.add_joint(_joint(part, WORLD_LINK, at_zero[part.name]))


def _add_sensors(robot: RobotData, parts: list[LinkAssembly], notes: Notes) -> None:
    """Add the sensors of all parts under unique names."""
    for part in parts:
        for label, kind, placement in part.sensors:
            if SENSOR_KINDS[kind].at_joint and part.type == "floating":
                notes.add("ForceSensor on the base", "no joint above carries a force")
            else:
                names = {sensor.name for sensor in robot.sensors}
                sensor_name = label if label not in names else f"{part.name}_{label}"
                robot.sensors.append(SensorData(sensor_name, kind, part.name, placement))


def _collisions(part: LinkAssembly, notes: Notes) -> list[ShapeData]:
    """Return the collision shapes of a part. Note meshes without volume."""
    has_separate = bool(part.visuals or part.collisions)
    result: list[ShapeData] = []
    for shapes in (part.collisions, part.shapes) if has_separate else (part.shapes,):
        solids, has_flat_mesh = solid_shapes(shapes, part.name)
        result += solids
        if has_flat_mesh:
            notes.add("mesh of a link, without volume", "it does not collide")
    return result


def _joint(part: LinkAssembly, parent: str, placement: Placement) -> JointData:
    x, y, z = (float(value) for value in part.axis)
    return JointData(
        *(part.name, part.type, parent, part.name, placement, (x, y, z)),
        lower=part.lower,
        upper=part.upper,
        velocity=part.velocity,
        effort=part.effort,
        rotor_inertia=part.rotor_inertia if part.type in MOVING_TYPES else 0.0,
    )


def _total(
    masses: list[tuple[float, np.ndarray, np.ndarray]],
) -> tuple[float, np.ndarray, np.ndarray] | None:
    """Combine rigidly joined parts.

    Returns:
        (mass, centre of mass, inertia about the centre of mass), or None for parts without mass.
    """
    combined = total([BodyInertia(*mass) for mass in masses])
    if combined.mass == 0.0 and not combined.inertia.any():
        return None
    return combined.mass, combined.com, 0.5 * (combined.inertia + combined.inertia.T)


def placed_mass(
    mass: float, com: np.ndarray, inertia: np.ndarray, T: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return (mass [kg], centre of mass [m], inertia [kg m^2]) in another frame.

    T: transform (4, 4) to the other frame.
    """
    R = T[:3, :3]
    return mass, R @ com + T[:3, 3], R @ inertia @ R.T


def placement_of(T: np.ndarray) -> Placement:
    """Return a transform (4, 4) without scale as a placement."""
    return IDENTITY if np.array_equal(T, np.eye(4)) else Placement(T[:3, :3], T[:3, 3])
