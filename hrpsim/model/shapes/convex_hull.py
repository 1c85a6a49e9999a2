# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The convex hull of points as a mesh, and the points of shapes opposite to a direction."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import ModelError
from hrpsim.common.values import as_numbers
from hrpsim.model.shapes.geometry import Box, Capsule, Geometry, Mesh, Plane, Sphere
from hrpsim.model.shapes.mesh_integrals import doubled_areas
from hrpsim.model.shapes.mesh_topology import connected, directed_edges, edge_neighbours, why_open

FLATTEST = 1e-6  # points thinner than this part of their extent have no hull
_SAME_PLANE = 1e-9  # neighbours this near to one plane, as a part of the extent, are one facet


class ConvexHull(Mesh):
    """The smallest convex solid that contains `points` (n, 3) [m]: a closed mesh facing outwards.

    Facets in one plane are one polygon, cut into a fan of triangles. Vertices inside such a facet
    or an edge are left out. Raises ModelError if the points span no volume.
    """

    def __init__(self, points: ArrayLike, source: str = "") -> None:
        vertices, triangles = _hull(
            as_numbers("ConvexHull: points", points, ModelError).copy(), source
        )
        super().__init__(vertices, triangles, source)


def own_extents(points: np.ndarray) -> np.ndarray:
    """Return the extents (3,) [m] of points (n, 3) [m] along their principal axes."""
    middle = points.mean(axis=0)
    axes = np.linalg.svd(np.linalg.qr(points - middle, mode="r"))[2]
    return np.ptp((points - middle) @ axes.T, axis=0)


def is_flat(extents: np.ndarray) -> bool:
    """Return whether points with these principal extents (3,) lie in a plane or on a line."""
    return not extents.min() > FLATTEST * extents.max()


def _hull(points: np.ndarray, source: str) -> tuple[np.ndarray, np.ndarray]:
    from scipy.spatial import ConvexHull as Qhull
    from scipy.spatial import QhullError

    label = f"hull of mesh {source}" if source else "ConvexHull"
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4:
        raise ModelError(f"{label}: must have at least 4 points, shape (n, 3), got {points.shape}")
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if bad.size:
        raise ModelError(f"{label}: point {bad[0]} is not finite")
    middle, extents = points.mean(axis=0), own_extents(points)
    if is_flat(extents):
        raise ModelError(
            f"{label}: the points lie in a plane, on a line or at one point. Their extents are"
            f" {', '.join(f'{e:.3g}' for e in sorted(extents)[::-1])} m along their principal axes."
            " Give the solid a thickness"
        )
    scale = float(extents.max())
    try:
        hull = Qhull((points - middle) / scale)
    except QhullError as cause:
        reason = str(cause).strip().partition("\n")[0]
        raise ModelError(f"{label}: qhull finds no hull: {reason}") from cause
    triangles = hull.simplices.astype(np.int64)
    facing = doubled_areas(hull.points[triangles])
    inward = np.einsum("ij,ij->i", facing, hull.equations[:, :3]) < 0.0
    triangles = np.where(inward[:, None], triangles[:, ::-1], triangles)
    merged = _merged(hull.points, triangles, hull.equations)
    triangles = triangles if merged is None else merged
    used, numbers = np.unique(triangles, return_inverse=True)
    return points[used], numbers.reshape(triangles.shape)


def _corners(around: dict[int, int], is_corner: np.ndarray) -> list[int]:
    """Return the corners of an outline in order, given the next vertex of each.

    Without one closed outline, the list is empty.
    """
    vertex, polygon = min(around), []
    for _ in range(len(around)):
        if is_corner[vertex]:
            polygon.append(vertex)
        vertex = around.pop(vertex, -1)
    return [] if around else polygon


def _merged(points: np.ndarray, triangles: np.ndarray, planes: np.ndarray) -> np.ndarray | None:
    """Return triangles of the hull with coplanar facets merged, or None after a failure.

    A vertex of fewer than three polygons lies inside a facet or an edge, and is left out.
    """
    count, facet = _facets(points, triangles, planes)
    if count == len(triangles):
        return triangles
    size = np.bincount(facet)
    meetings = np.unique(np.stack([triangles.ravel(), np.repeat(facet, 3)], axis=1), axis=0)
    is_corner = np.bincount(meetings[:, 0], minlength=len(points)) >= 3
    lone = triangles[size[facet] == 1]
    if not is_corner[lone].all():
        return None
    fans = [lone]
    for around in _outlines(triangles, facet, size):
        polygon = _corners(around, is_corner)
        if len(polygon) < 3:
            return None
        turn = polygon.index(min(polygon))
        first, *others = polygon[turn:] + polygon[:turn]
        fans.append(np.array([(first, b, c) for b, c in pairwise(others)], dtype=np.int64))
    spanned = np.concatenate(fans)
    facing = doubled_areas(points[spanned])
    if why_open(spanned) is not None or not (np.linalg.norm(facing, axis=1) > 0.0).all():
        return None
    return spanned


def _outlines(triangles: np.ndarray, facet: np.ndarray, size: np.ndarray) -> list[dict[int, int]]:
    """Return {vertex: next vertex} along the outline of each facet of several triangles."""
    edges = directed_edges(triangles)
    pairs = edge_neighbours(triangles)
    of_pair = facet[pairs // 3]
    outer = pairs[of_pair[:, 0] != of_pair[:, 1]].ravel()
    outer = outer[size[facet[outer // 3]] > 1]
    following: dict[int, dict[int, int]] = {}
    for number, (a, b) in zip(facet[outer // 3].tolist(), edges[outer].tolist(), strict=True):
        following.setdefault(number, {})[a] = b
    return list(following.values())


def _facets(
    points: np.ndarray, triangles: np.ndarray, planes: np.ndarray
) -> tuple[int, np.ndarray]:
    """Group coplanar adjacent triangles to facets.

    Returns:
        (number of facets, facet of each triangle (m,)).
    """
    pairs = edge_neighbours(triangles)
    flat = np.ones(len(pairs), dtype=bool)
    for edges, there in (pairs.T, pairs[:, ::-1].T):
        apex = points[triangles[there // 3, (there % 3 + 2) % 3]]
        plane = planes[edges // 3]
        rise = np.einsum("ij,ij->i", apex, plane[:, :3]) + plane[:, 3]
        flat &= np.abs(rise) < _SAME_PLANE
    a, b = (pairs[flat] // 3).T
    return connected(a, b, len(triangles))


def farthest_against(geometry: Geometry, direction: np.ndarray) -> np.ndarray:
    """Return the points of a bounded shape that are farthest in the opposite of given directions.

    Args:
        geometry: the shape.
        direction: unit vectors (..., 3) in the shape's frame.

    Returns:
        Point that minimises direction . point, for each direction (..., 3) [m].
    """
    assert not isinstance(geometry, Plane)
    d = direction
    if isinstance(geometry, Mesh):
        return geometry.vertices[np.argmin(d @ geometry.vertices.T, axis=-1)].copy()
    if isinstance(geometry, Sphere):
        return -geometry.radius * d
    if isinstance(geometry, Box):
        return -0.5 * np.array(geometry.lengths) * np.sign(d)
    end = np.zeros(d.shape)
    end[..., 2] = -0.5 * geometry.length * np.sign(d[..., 2])
    if isinstance(geometry, Capsule):
        return end - geometry.radius * d
    across = np.hypot(d[..., 0], d[..., 1])
    scale = np.where(across < 1e-12, 0.0, geometry.radius / np.maximum(across, 1e-12))
    end[..., :2] -= scale[..., None] * d[..., :2]
    return end
