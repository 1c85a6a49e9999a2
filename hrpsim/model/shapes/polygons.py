# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Cut polygons into triangles. mapbox_earcut cuts polygons that are not convex.

Every corner of a polygon is a corner of a triangle, so edges of neighbouring polygons still match.
A polygon that is not plane is projected onto the plane of its mean normal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import ModelError

_LEVEL = 1e-9  # a corner that turns back by less than this part of the polygon's area is straight


def cut(points: np.ndarray, sizes: ArrayLike) -> np.ndarray:
    """Return the triangles (m, 3) of polygons, in the same order and winding.

    Args:
        points: all corners of the first polygon, of the second, ..., shape (sum of sizes, 3).
        sizes: the number of corners of each polygon, shape (k,). Polygons with fewer than 3 corners
            have no triangles.

    Returns:
        indices of rows of `points`.

    Raises:
        ModelError: mapbox_earcut is needed and not installed.
    """
    sizes = np.asarray(sizes, dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    triangles, owners = [np.empty((0, 3), dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for size in np.unique(sizes[sizes >= 3]):
        which = np.flatnonzero(sizes == size)
        corners = starts[which][:, None] + np.arange(size)
        convex = _are_convex(points[corners])
        fans = _fans(points, corners[convex])
        triangles.append(fans.reshape(-1, 3))
        owners.append(np.repeat(which[convex], size - 2))
        for polygon, ring in zip(which[~convex], corners[~convex], strict=True):
            made = ring[cut_rings(points[ring], [size])]
            triangles.append(made)
            owners.append(np.full(len(made), polygon))
    order = np.argsort(np.concatenate(owners), kind="stable")
    return np.concatenate(triangles)[order]


def cut_rings(points: np.ndarray, ends: list[int]) -> np.ndarray:
    """Return the triangles (m, 3) of one polygon, which may have holes.

    Args:
        points: corners of the outer ring, then of each hole, shape (n, 3).
        ends: index of the last corner of each ring plus one.

    Raises:
        ModelError: mapbox_earcut is not installed.
    """
    try:
        from mapbox_earcut import triangulate_float64
    except ImportError as cause:
        raise ModelError(
            "cutting a concave polygon needs mapbox_earcut: pip install mapbox-earcut"
        ) from cause
    outline = points[: ends[0]]
    normal = _normals(outline[None])[0]
    axis = int(np.abs(normal).argmax())
    flat = np.delete(points, axis, axis=1)  # a shadow that keeps lines lines and rounds nothing
    corners = triangulate_float64(np.ascontiguousarray(flat), np.array(ends, dtype=np.uint32))
    triangles: list[tuple] = [tuple(t) for t in corners.astype(np.int64).reshape(-1, 3).tolist()]
    for start, end in zip([0, *ends], ends, strict=False):
        _with_all_corners(triangles, start, end)
    made = np.array(triangles, dtype=np.int64).reshape(-1, 3)
    turned = _normals(points[made])[:, axis] * normal[axis] < 0.0
    made[turned] = made[turned, ::-1]
    return made


def _normals(polygons: np.ndarray) -> np.ndarray:
    """Return the vector areas (k, 3) of polygons (k, n, 3), doubled."""
    arms = polygons[:, 1:] - polygons[:, :1]
    return np.cross(arms[:, :-1], arms[:, 1:]).sum(axis=1)


def _are_convex(polygons: np.ndarray) -> np.ndarray:
    """Return which polygons (k, n, 3) turn in one direction at all corners, shape (k,)."""
    if polygons.shape[1] == 3:
        return np.ones(len(polygons), dtype=bool)
    sides = np.roll(polygons, -1, axis=1) - polygons
    turns = np.cross(sides, np.roll(sides, -1, axis=1))
    normals = _normals(polygons)
    along = np.einsum("kni,ki->kn", turns, normals)
    return (along >= -_LEVEL * (normals**2).sum(axis=1)[:, None]).all(axis=1)


def _fans(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return the triangles (k, n - 2, 3) of convex polygons with these corners (k, n).

    A polygon of four corners is cut along the shorter diagonal, as in tinyobjloader. The choice
    matters if the corners are not in one plane.
    """
    if corners.shape[1] == 4:
        a, b, c, d = np.moveaxis(points[corners], 1, 0)
        longer = ((a - c) ** 2).sum(axis=1) > (1.0 + _LEVEL) * ((b - d) ** 2).sum(axis=1)
        corners = np.where(longer[:, None], np.roll(corners, -1, axis=1), corners)
    first = np.broadcast_to(corners[:, :1], (len(corners), corners.shape[1] - 2))
    return np.stack([first, corners[:, 1:-1], corners[:, 2:]], axis=-1)


def _with_all_corners(triangles: list[tuple], start: int, end: int) -> None:
    """Insert the corners of a ring that no triangle has.

    These corners are on a straight side of the polygon. The triangle at this side is cut in two at
    the corner.
    """
    used = {corner for triangle in triangles for corner in triangle}
    used_corners = [corner for corner in range(start, end) if corner in used]
    if len(used_corners) == end - start:
        return
    holders: dict[tuple, int] = {}
    for k, (a, b, c) in enumerate(triangles):
        holders[a, b] = holders[b, c] = holders[c, a] = k
    for a, b in zip(used_corners, [*used_corners[1:], *used_corners[:1]], strict=True):
        between = range(a + 1, b) if a < b else (*range(a + 1, end), *range(start, b))
        for corner in between:
            if not _insert(triangles, holders, a, b, corner):
                break
            a = corner


def _insert(triangles: list[tuple], holders: dict[tuple, int], a: int, b: int, corner: int) -> bool:
    """Cut the triangle at the side from a to b in two at a corner on this side.

    `holders` has the index of the triangle at each directed side. Return False if no triangle has
    this side.
    """
    turn = 1 if (a, b) in holders else -1  # the other way round
    if (a, b)[::turn] not in holders:
        return False
    k = holders[(a, b)[::turn]]
    (apex,) = (n for n in triangles[k] if n not in (a, b))
    triangles[k] = (corner, b, apex)[::turn]
    holders[(corner, b)[::turn]] = k
    holders[(a, corner)[::turn]] = holders[(apex, a)[::turn]] = len(triangles)
    triangles.append((a, corner, apex)[::turn])
    return True
