# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Shapes of USD as shapes of links, and masses from their volumes."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np

from hrpsim.model.readers.ellipsoid import ELLIPSOID_POINTS, ellipsoid_mesh
from hrpsim.model.readers.openhrp.assembly import hull_shape
from hrpsim.model.readers.robot_data import MeshData, Notes, ShapeData
from hrpsim.model.readers.usd.stage_data import BodyPrim, ShapePrim
from hrpsim.model.shapes.mesh_integrals import solid_moments
from hrpsim.model.shapes.placement import Placement

_ALIKE = 1e-6  # relative difference of scales that count as equal
_DENSITY = 1000.0  # of a shape that states none, as UsdPhysics says [kg/m^3]
_TURNS = (  # columns: the frame with its z along x, y, z
    np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
    np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    np.eye(3),
)
_SIDES = 24

Inertial = tuple[float, np.ndarray, np.ndarray]


def shape_of(shape: ShapePrim, notes: Notes) -> ShapeData | None:
    """Return a shape in its body's frame. None, with a note, if it has no size or is a plane."""
    linear = shape.placement[:3, :3]
    if shape.kind in ("Cylinder", "Capsule", "Cone"):
        linear = linear @ _TURNS[shape.axis]
    scale = np.linalg.norm(linear, axis=0)
    if shape.kind == "Plane" or not (scale > 0.0).all():
        notes.add(f"{shape.kind} of a body", "left out", shape.name)
        return None
    R = linear / scale
    if np.linalg.det(R) < 0.0:
        R, scale = R * (1.0, 1.0, -1.0), scale * (1.0, 1.0, -1.0)
    placement = Placement(R, shape.placement[:3, 3])
    is_sheared = not np.allclose(R.T @ R, np.eye(3), atol=_ALIKE)
    size = np.abs(scale)
    if shape.kind == "Mesh" or is_sheared:
        return _mesh(shape, notes)
    if shape.kind == "Cube":
        x, y, z = (float(edge) for edge in shape.sizes[0] * size)
        return ShapeData("box", (x, y, z), placement, None, shape.color, shape.name)
    if shape.kind == "Sphere":
        if np.ptp(size) <= _ALIKE * size.max():
            radius = float(shape.sizes[0] * size[0])
            return ShapeData("sphere", (radius,), placement, None, shape.color, shape.name)
        notes.add("Sphere, scaled", f"a hull of {ELLIPSOID_POINTS} points on it", shape.name)
        mesh = ellipsoid_mesh(shape.name, shape.sizes[0] * size)
        return ShapeData("mesh", (), placement, mesh, shape.color, shape.name)
    radius, height = shape.sizes
    if shape.kind == "Cone" or abs(size[0] - size[1]) > _ALIKE * size[0]:
        return _mesh(shape, notes)
    kind = shape.kind.lower()
    sizes = float(radius * size[0]), float(height * size[2])
    return ShapeData(kind, sizes, placement, None, shape.color, shape.name)


def _mesh(shape: ShapePrim, notes: Notes) -> ShapeData | None:
    """Return a mesh, or the hull of points on another shape."""
    T = shape.placement
    if shape.kind != "Mesh":
        notes.add(f"{shape.kind}, as a mesh", f"a hull of {_SIDES} sides", shape.name)
        hull = hull_shape(shape.name, _outline(shape), T, None)
        return replace(hull, color=shape.color, name=shape.name)
    if len(shape.points) < 4 or not len(shape.faces):
        notes.add("Mesh without triangles", "left out", shape.name)
        return None
    if shape.approximation not in ("none", "convexHull") and shape.is_solid:
        notes.add(f"approximation {shape.approximation}", "a convex hull", shape.name)
    points = shape.points @ T[:3, :3].T + T[:3, 3]
    faces = shape.faces[:, ::-1] if np.linalg.det(T[:3, :3]) < 0.0 else shape.faces
    return ShapeData(
        "mesh", mesh=MeshData(shape.name, points, faces), color=shape.color, name=shape.name
    )


def _outline(shape: ShapePrim) -> np.ndarray:
    """Return points (n, 3) whose hull is a shape, nearly for round ones, before its map."""
    if shape.kind == "Cube":
        corners = itertools.product((-0.5, 0.5), repeat=3)
        return shape.sizes[0] * np.array(list(corners))
    if shape.kind == "Sphere":
        return np.array(ellipsoid_mesh("", np.full(3, shape.sizes[0])).vertices)
    radius, height = shape.sizes
    turn = 2.0 * np.pi * np.arange(_SIDES) / _SIDES
    ring = np.stack([radius * np.cos(turn), radius * np.sin(turn), np.zeros(_SIDES)], axis=1)
    up = np.array([0.0, 0.0, 0.5 * height])
    top = up[None] if shape.kind == "Cone" else ring + up
    if shape.kind == "Capsule":
        ball = np.array(ellipsoid_mesh("", np.full(3, radius)).vertices)
        return np.concatenate([ball - up, ball + up]) @ _TURNS[shape.axis].T
    return np.concatenate([ring - up, top]) @ _TURNS[shape.axis].T


def inertial_of(
    body: BodyPrim, shapes: list[tuple[ShapePrim, ShapeData]], notes: Notes
) -> Inertial | None:
    """Return mass, centre and inertia of a body: stated values, else those of its solid shapes."""
    solids = []
    for prim, shape in shapes:
        volume, center, moments = _solid(shape)
        density = body.density or prim.density or _DENSITY
        mass = prim.mass or density * volume
        solids.append((mass, center, moments * (mass / volume if volume else 0.0)))
    mass = body.mass or sum(mass for mass, _, _ in solids)
    if not mass:
        notes.add("body without mass and solid shapes", "no mass", body.name)
        return None
    whole = sum(mass for mass, _, _ in solids)
    weighted = sum((m * c for m, c, _ in solids), np.zeros(3))
    center = weighted / whole if whole else np.zeros(3)
    if body.center is not None:
        center = body.center
    if body.inertia is not None:
        return mass, center, body.inertia
    moments = np.zeros((3, 3))
    for m, c, about in solids:
        d = c - center
        moments += about + m * (d @ d * np.eye(3) - np.outer(d, d))
    if whole:
        moments *= mass / whole
    else:
        notes.add("body without inertia and solid shapes", "no inertia", body.name)
    return mass, center, moments


def _solid(shape: ShapeData) -> Inertial:
    """Return volume, centre and inertia about the centre at density 1, in the body's frame."""
    if isinstance(shape.mesh, MeshData):
        volume, center, moments = solid_moments(shape.mesh.vertices, shape.mesh.triangles)
        R, p = shape.placement
        return abs(volume), R @ center + p, R @ moments @ R.T * math.copysign(1.0, volume)
    volume, diagonal = _primitive(shape)
    R = shape.placement.R
    return volume, shape.placement.p, R @ np.diag(diagonal) @ R.T


def _primitive(shape: ShapeData) -> tuple[float, np.ndarray]:
    """Return the volume and the principal moments (3,) at density 1 of a shape along z."""
    if shape.kind == "box":
        x, y, z = shape.size
        volume = x * y * z
        return volume, volume / 12.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    r = shape.size[0]
    ball = 4.0 / 3.0 * math.pi * r**3
    if shape.kind == "sphere":
        return ball, np.full(3, 0.4 * ball * r * r)
    length = shape.size[1]
    rod = math.pi * r * r * length
    across = rod * (3.0 * r * r + length * length) / 12.0
    along = 0.5 * rod * r * r
    if shape.kind == "capsule":
        across += ball * (0.4 * r * r + 0.375 * length * r + 0.25 * length * length)
        along += 0.4 * ball * r * r
        return rod + ball, np.array([across, across, along])
    return rod, np.array([across, across, along])
