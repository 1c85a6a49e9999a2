# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The farthest points of shapes along a direction."""

from __future__ import annotations

import numpy as np

from hrpsim.model.shapes.geometry import Box, Capsule, Geometry, Mesh, Plane, Sphere


def farthest_against(geometry: Geometry, direction: np.ndarray) -> np.ndarray:
    """Return the point (3,) of a bounded shape that lies least far along a direction (3,)."""
    assert not isinstance(geometry, Plane)
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
