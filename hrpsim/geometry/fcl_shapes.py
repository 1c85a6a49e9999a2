# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Collision shapes as python-fcl has them, and distances to half-spaces, which it lacks."""

from __future__ import annotations

from typing import Any

import numpy as np

from hrpsim.errors import HrpsimError, ModelError
from hrpsim.model.shapes.geometry import Box, Capsule, Cylinder, Geometry, Mesh, Plane, Sphere


def fcl_package():
    """Return python-fcl; HrpsimError, which says how to get it, where it is not installed."""
    try:
        import fcl
    except ModuleNotFoundError as error:
        raise HrpsimError(
            "distances and collisions apart from the step need python-fcl: "
            "pip install hrpsim[geometry]"
        ) from error
    return fcl


def fcl_geometry(geometry: Geometry) -> Any:
    """Return a shape as fcl has it: a convex mesh as Convex, another as its triangles.

    None for a plane. Where triangles overlap fcl finds contacts but no depth that means much.
    """
    fcl = fcl_package()
    if isinstance(geometry, Plane):
        return None
    if isinstance(geometry, Sphere):
        return fcl.Sphere(geometry.radius)
    if isinstance(geometry, Box):
        return fcl.Box(*geometry.lengths)
    if isinstance(geometry, Capsule):
        return fcl.Capsule(geometry.radius, geometry.length)
    if isinstance(geometry, Cylinder):
        return fcl.Cylinder(geometry.radius, geometry.length)
    if not isinstance(geometry, Mesh):
        raise ModelError(f"no distances to a {type(geometry).__name__}")
    vertices, triangles = np.array(geometry.vertices), np.array(geometry.triangles)
    if geometry.is_convex:
        sizes = np.full((len(triangles), 1), 3)
        return fcl.Convex(vertices, len(triangles), np.hstack([sizes, triangles]).ravel())
    model = fcl.BVHModel()
    model.beginModel(len(vertices), len(triangles))
    model.addSubModel(vertices, triangles)
    model.endModel()
    return model


def farthest_against(geometry: Geometry, direction: np.ndarray) -> np.ndarray:
    """Return the point (3,) of a bounded shape that lies least far along a direction (3,)."""
    d = direction
    if isinstance(geometry, Mesh):
        return np.array(geometry.vertices[int(np.argmin(geometry.vertices @ d))])
    if isinstance(geometry, Sphere):
        return -geometry.radius * d
    if isinstance(geometry, Box):
        return -0.5 * np.array(geometry.lengths) * np.sign(d)
    end = np.array([0.0, 0.0, -0.5 * geometry.length * np.sign(d[2])])
    if isinstance(geometry, Capsule):
        return end - geometry.radius * d
    across = np.hypot(d[0], d[1])
    if across < 1e-12:
        return end
    return end - geometry.radius / across * np.array([d[0], d[1], 0.0])


def reach(geometry: Geometry) -> float:
    """Return the radius of the sphere about a bounded shape's origin that holds it [m]."""
    if isinstance(geometry, Mesh):
        return float(np.linalg.norm(geometry.vertices, axis=1).max())
    if isinstance(geometry, Sphere):
        return geometry.radius
    if isinstance(geometry, Box):
        return 0.5 * float(np.linalg.norm(geometry.lengths))
    if isinstance(geometry, Capsule):
        return geometry.radius + 0.5 * geometry.length
    return float(np.hypot(geometry.radius, 0.5 * geometry.length))
