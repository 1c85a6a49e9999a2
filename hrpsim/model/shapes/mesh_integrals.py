# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Volume, centre and inertia of the solid that triangles bound.

A solid is the signed sum of tetrahedra from one point to each triangle. The tetrahedron 0, a, b, c
has the signed volume V = a . (b x c) / 6. The first moment is V (a + b + c) / 4, and the second
moment is V (s s^T + a a^T + b b^T + c c^T) / 20 with s = a + b + c.
"""

from __future__ import annotations

import numpy as np


def signed_volumes(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the signed volume [m^3] of the tetrahedron of each triangle, shape (m,).

    The common corner is the middle of all vertices. The sum is positive for a solid whose triangles
    face outwards.
    """
    a, b, c = _corners(vertices, triangles, _middle(vertices))
    return np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0


def solid_moments(
    vertices: np.ndarray, triangles: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the volume, centre and inertia of a solid with the density 1.

    Returns:
        (volume [m^3], centre (3,) [m], inertia about the centre (3, 3) [m^5]).
    """
    middle = _middle(vertices)
    a, b, c = _corners(vertices, triangles, middle)
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    volume = float(volumes.sum())
    total = a + b + c
    center = np.einsum("i,ij->j", volumes, total) / (4.0 * volume)
    second = sum(np.einsum("i,ij,ik->jk", volumes, x, x) for x in (total, a, b, c)) / 20.0
    second = second - volume * np.outer(center, center)
    inertia = np.trace(second) * np.eye(3) - second
    return volume, center + middle, 0.5 * (inertia + inertia.T)


def areas(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the area of each triangle [m^2], shape (m,)."""
    return 0.5 * np.linalg.norm(doubled_areas(vertices[triangles]), axis=1)


def doubled_areas(corners: np.ndarray) -> np.ndarray:
    """Return the normals of triangles (m, 3). The length of a normal is twice the area [m^2].

    `corners` (m, 3, 3) [m] are anticlockwise, as seen from the side of the normal.
    """
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def _middle(vertices: np.ndarray) -> np.ndarray:
    return 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))


def _corners(vertices: np.ndarray, triangles: np.ndarray, origin: np.ndarray):
    corners = vertices[triangles] - origin
    return corners[:, 0], corners[:, 1], corners[:, 2]
