# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Polyhedral solids of a world with meshes: the meshes, and proxies of primitive shapes."""

import math
import weakref

import numpy as np

from hrpsim.engine.collision.solids.features import core, polyhedron
from hrpsim.engine.collision.solids.field_solid import field_solid, field_thickness
from hrpsim.engine.collision.solids.kept_polyhedra import kept_polyhedron
from hrpsim.engine.collision.solids.polyhedra import Polyhedra, joined_polyhedra
from hrpsim.model.shapes.geometry import Box, Capsule, Cylinder, Geometry, Mesh, Plane, Sphere
from hrpsim.model.shapes.mesh_integrals import areas
from hrpsim.model.shapes.terrain import HeightField

# The distance of a cylinder from a mesh is that of a prism of so many sides, half of which is
# outside and half inside.
PRISM_SIDES = 64
# That is off by no more than this part of the radius.
PRISM_ERROR = 6.1e-4

_made: weakref.WeakKeyDictionary[Mesh, Polyhedra] = weakref.WeakKeyDictionary()
_equal: weakref.WeakValueDictionary[str, Mesh] = weakref.WeakValueDictionary()
_thickness: weakref.WeakKeyDictionary[Mesh, float] = weakref.WeakKeyDictionary()


def proxy(geometry: Geometry) -> Polyhedra:
    """Return the polyhedral solid of a geometry in its frame. Equal meshes share a solid."""
    if isinstance(geometry, Mesh):
        same = _equal.setdefault(geometry.digest, geometry)
        if same not in _made:
            make = field_solid if isinstance(same, HeightField) else kept_polyhedron
            _made[same] = make(same)
        return _made[same]
    if isinstance(geometry, Sphere):
        return core(np.zeros((1, 3)), geometry.radius)
    if isinstance(geometry, Capsule):
        half = 0.5 * geometry.length
        return core(np.array([[0.0, 0.0, -half], [0.0, 0.0, half]]), geometry.radius)
    if isinstance(geometry, Box):
        hx, hy, hz = geometry.size
        return _prism(np.array([[hx, hy], [-hx, hy], [-hx, -hy], [hx, -hy]]), hz)
    if isinstance(geometry, Cylinder):
        angles = 2.0 * math.pi * np.arange(PRISM_SIDES) / PRISM_SIDES
        reach = geometry.radius * 2.0 / (1.0 + math.cos(math.pi / PRISM_SIDES))
        rim = reach * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        prism = _prism(rim, 0.5 * geometry.length)
        prism.solids["cylinder_radius"] = geometry.radius
        prism.solids["cylinder_half"] = 0.5 * geometry.length
        return prism
    raise TypeError(f"a {type(geometry).__name__} has no collision proxy")


def mesh_thickness(mesh: Mesh) -> float:
    """Return the thickness of a mesh for limits on fast motion [m].

    At least 90 % of the surface area has this thickness or more.
    """
    if isinstance(mesh, HeightField):
        return field_thickness(mesh)
    if mesh not in _thickness:
        area = areas(mesh.vertices, mesh.triangles)
        depth = proxy(mesh).triangles["depth"]
        order = np.argsort(depth, kind="stable")
        area_fraction = np.cumsum(area[order]) / area.sum()
        _thickness[mesh] = 2.0 * float(depth[order[np.searchsorted(area_fraction, 0.1)]])
    return _thickness[mesh]


def _prism(outline: np.ndarray, half: float) -> Polyhedra:
    """Return the solid of a prism from z = -half to z = half [m].

    outline: convex cross-section (n, 2) [m], counter-clockwise.
    """
    n = len(outline)
    k, following = np.arange(n), (np.arange(n) + 1) % n
    bottom = np.column_stack([outline, np.full(n, -half)])
    top = np.column_stack([outline, np.full(n, half)])
    fan = np.column_stack([np.zeros(n - 2, dtype=np.int64), k[1:-1], k[2:]])
    triangles = [
        np.column_stack([k, following, n + following]),
        np.column_stack([k, n + following, n + k]),
        fan[:, ::-1],
        n + fan,
    ]
    return polyhedron(np.concatenate([bottom, top]), np.concatenate(triangles))


def solid_key(geometry: Geometry) -> object:
    """Return the key that identifies the solid of a geometry, or None if no solid is needed.

    Geometries with equal keys share one solid.
    """
    if isinstance(geometry, Plane):
        return None
    if isinstance(geometry, Mesh):
        return geometry.digest
    return geometry.kind, tuple(geometry.size)


def solids_of(geometries: list[Geometry]) -> tuple[Polyhedra, np.ndarray]:
    """Return the pool of all solids that a world's shapes need.

    Only worlds with meshes need solids. Equal primitives share a solid.

    Returns:
        (pool, number of each shape's solid in the pool or -1).
    """
    numbers = np.full(len(geometries), -1, dtype=np.int64)
    parts: list[Polyhedra] = []
    known: dict[object, int] = {}
    if any(isinstance(geometry, Mesh) for geometry in geometries):
        for k, geometry in enumerate(geometries):
            key = solid_key(geometry)
            if key is None:
                continue
            if key not in known:
                known[key] = len(parts)
                parts.append(proxy(geometry))
            numbers[k] = known[key]
    return joined_polyhedra(parts), numbers
