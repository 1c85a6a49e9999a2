# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Shapes of USD as shapes of links, and masses from volumes."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np

from hrpsim.model.readers.ellipsoid import ELLIPSOID_POINTS, ellipsoid_mesh
from hrpsim.model.readers.openhrp.assembly import hull_shape
from hrpsim.model.readers.robot_data import MeshData, Notes, ShapeData
from hrpsim.model.readers.usd.stage_data import BodyPrim, ShapePrim
from hrpsim.model.shapes.geometry import primitive
from hrpsim.model.shapes.mesh_integrals import solid_moments
from hrpsim.model.shapes.placement import Placement
from hrpsim.model.shapes.solid_inertia import BodyInertia, solid_inertia, solid_volume, total

_ALIKE = 1e-6  # relative difference of scales that count as equal
_DENSITY = 1000.0  # of a shape that states none, as UsdPhysics says [kg/m^3]
_POINT = 0.1  # radius of the ball that stands for a body without shapes, as in UsdPhysics [m]
_TURNS = (  # columns: the frame with its z along x, y, z
    np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
    np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    np.eye(3),
)
_SIDES = 24

Inertial = tuple[float, np.ndarray, np.ndarray]


def _sphere(shape: ShapePrim, size: np.ndarray, placement: Placement, notes: Notes) -> ShapeData:
    """Return a sphere, or the hull of an ellipsoid if the scales (3,) differ."""
    if np.ptp(size) <= _ALIKE * size.max():
        radius = float(shape.sizes[0] * size[0])
        return ShapeData("sphere", (radius,), placement, None, shape.color, shape.name)
    notes.add("Sphere, scaled", f"a hull of {ELLIPSOID_POINTS} points on it", shape.name)
    mesh = ellipsoid_mesh(shape.name, shape.sizes[0] * size)
    return ShapeData("mesh", (), placement, mesh, shape.color, shape.name)


def shape_of(shape: ShapePrim, notes: Notes) -> ShapeData | None:
    """Return a shape in the body's frame.

    For a plane or a shape without size, the result is None, and a note is added.
    """
    linear = shape.placement[:3, :3]
    if shape.kind in ("Cylinder", "Capsule", "Cone"):
        linear = linear @ _TURNS[shape.axis]
    scale = np.linalg.norm(linear, axis=0)
    if shape.kind == "Plane" or not (scale > 0.0).all():
        notes.add(f"{shape.kind} of a body", "left out", shape.name)
        return None
    R, size = linear / scale, scale
    R[:, 2] *= np.sign(np.linalg.det(R))  # a mirrored primitive looks the same
    placement = Placement(R, shape.placement[:3, 3])
    is_sheared = not np.allclose(R.T @ R, np.eye(3), atol=_ALIKE)
    if shape.kind == "Mesh" or is_sheared:
        return _mesh(shape, notes)
    if shape.kind == "Cube":
        edges = tuple(map(float, shape.sizes[0] * size))
        return ShapeData("box", edges, placement, None, shape.color, shape.name)
    if shape.kind == "Sphere":
        return _sphere(shape, size, placement, notes)
    radius, height = shape.sizes
    if shape.kind == "Cone" or abs(size[0] - size[1]) > _ALIKE * size[0]:
        return _mesh(shape, notes)
    kind = shape.kind.lower()
    sizes = float(radius * size[0]), float(height * size[2])
    return ShapeData(kind, sizes, placement, None, shape.color, shape.name)


def plane_of(shape: ShapePrim) -> Placement:
    """Return the placement of a plane. The z axis of the placement is the normal of the plane."""
    linear = shape.placement[:3, :3] @ _TURNS[shape.axis]
    x, z = linear[:, 0] / np.linalg.norm(linear[:, 0]), linear[:, 2] / np.linalg.norm(linear[:, 2])
    return Placement(np.stack([x, np.cross(z, x), z], axis=1), shape.placement[:3, 3])


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
    """Return points (n, 3) whose convex hull is the shape, before its affine map is applied.

    Round shapes are approximate.
    """
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


def _inertia_of(body: BodyPrim, prim: ShapePrim, shape: ShapeData) -> BodyInertia:
    """Return the inertia of a solid shape from the mass of the shape, or else from a density."""
    uniform = _solid(shape)
    density = prim.density or body.density or prim.material_density or _DENSITY
    mass = prim.mass or density * uniform.mass
    inertia = uniform.inertia * (mass / uniform.mass if uniform.mass else 0.0)
    return BodyInertia(mass, uniform.com, inertia)


def inertial_of(
    body: BodyPrim, shapes: list[tuple[ShapePrim, ShapeData]], notes: Notes
) -> Inertial | None:
    """Return mass, centre and inertia of a body.

    Values that the stage does not state are computed from the solid shapes.
    """
    combined = total([_inertia_of(body, *shape) for shape in shapes])
    mass = body.mass or combined.mass
    if not mass:
        notes.add("body without mass and solid shapes", "no mass", body.name)
        return None
    center = combined.com if body.center is None else body.center
    if body.inertia is not None:
        return mass, center, body.inertia
    if not combined.mass:
        why = f"the inertia of a ball with a radius of {_POINT} m"
        notes.add("body without inertia and solid shapes", why, body.name)
        return mass, center, np.eye(3) * 0.4 * mass * _POINT**2
    return mass, center, combined.about(center) * (mass / combined.mass)


def _solid(shape: ShapeData) -> BodyInertia:
    """Return the inertia at density 1 in the body's frame. The mass is the volume [m^3]."""
    if isinstance(shape.mesh, MeshData):
        volume, center, moments = solid_moments(shape.mesh.vertices, shape.mesh.triangles)
        inertia = BodyInertia(abs(volume), center, moments * math.copysign(1.0, volume))
    elif all(shape.size):
        solid = primitive(shape.kind, shape.size)
        volume = solid_volume(solid)
        inertia = BodyInertia(volume, np.zeros(3), solid_inertia(solid, volume))
    else:
        inertia = BodyInertia(0.0, np.zeros(3), np.zeros((3, 3)))
    return inertia.seen_from(shape.placement)
