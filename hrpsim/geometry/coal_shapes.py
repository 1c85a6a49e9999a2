# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convert collision shapes to coal's."""

from typing import Any

import numpy as np

from hrpsim.common.errors import HrpsimError, ModelError
from hrpsim.model.shapes.geometry import Box, Capsule, Cylinder, Geometry, Mesh, Sphere


def coal_package():
    """Return coal. Raises HrpsimError, with instructions, if coal is not installed."""
    try:
        import coal
    except ModuleNotFoundError as error:
        raise HrpsimError(
            "distances and collisions apart from the step need coal: pip install hrpsim[geometry]"
        ) from error
    return coal


def coal_geometry(geometry: Geometry) -> Any:
    """Return coal's object of a bounded shape: Convex for a convex mesh, else the triangles.

    If triangles overlap, coal finds contacts, but the depths are not reliable.
    """
    coal = coal_package()
    if isinstance(geometry, Sphere):
        return coal.Sphere(geometry.radius)
    if isinstance(geometry, Box):
        return coal.Box(*geometry.lengths)
    if isinstance(geometry, Capsule):
        return coal.Capsule(geometry.radius, geometry.length)
    if isinstance(geometry, Cylinder):
        return coal.Cylinder(geometry.radius, geometry.length)
    if not isinstance(geometry, Mesh):
        raise ModelError(f"no distances to a {type(geometry).__name__}")
    vertices, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    vertices.extend(list(geometry.vertices))
    triangles.extend([coal.Triangle(*corners) for corners in geometry.triangles.tolist()])
    if geometry.is_convex:
        return coal.Convex(vertices, triangles)
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(triangles), len(vertices))
    model.addSubModel(vertices, triangles)
    model.endModel()
    return model


def reach(geometry: Geometry) -> float:
    """Return the radius of the sphere about a bounded shape's origin that contains it [m]."""
    if isinstance(geometry, Mesh):
        return float(np.linalg.norm(geometry.vertices, axis=1).max())
    if isinstance(geometry, Sphere):
        return geometry.radius
    if isinstance(geometry, Box):
        return 0.5 * float(np.linalg.norm(geometry.lengths))
    if isinstance(geometry, Capsule):
        return geometry.radius + 0.5 * geometry.length
    return float(np.hypot(geometry.radius, 0.5 * geometry.length))
