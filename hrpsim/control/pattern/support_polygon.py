# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Soles on the floor: outlines, the support polygon of the robot, and points in it."""

import itertools

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.compile.kernel_types import Matrix
from hrpsim.model.model import Model
from hrpsim.model.shapes.geometry import Box, Capsule, Mesh, Sphere

_FLAT = 2e-3  # largest height above the lowest point of a sole [m]
_LEAST_AREA = 4e-4  # least area of a sole [m^2]
_RIM = 24  # points on the rim of a cylinder


def sole_outline(model: Model, sole: str) -> np.ndarray:
    """Return the corners of the foot in the frame of the link `sole`, z up (k, 2) [m].

    The corners are the convex hull of the body's points at most 2 mm above the lowest point,
    counter-clockwise. Raises ModelError if the hull has no area.
    """
    frame = model.frame(sole)
    in_body = lowest_points(model, frame.body, frame.R[:, 2])
    corners = np.empty((0, 2)) if not len(in_body) else (in_body - frame.p) @ frame.R[:, :2]
    outline = convex_hull(corners) if len(corners) > 2 else corners
    if len(outline) < 3 or _area(outline) < _LEAST_AREA:
        raise ModelError(
            f"{model.source}: the body of {sole!r} has no flat sole. The "
            f"{sum(shape.body == frame.body for shape in model.shapes)} collision shapes must have "
            f"at least 3 points at the lowest height, got {len(corners)}"
        )
    return outline


def lowest_points(model: Model, body: int, up) -> np.ndarray:
    """Return points of a body's shapes at most 2 mm above the lowest point (n, 3) [m].

    Points are in the body's frame. up: the upward direction in this frame (3,). Returns no points
    (0, 3) if the body has no shapes.
    """
    parts = [
        shape.p + _low_points(shape.geometry, shape.R.T @ up) @ shape.R.T
        for shape in model.shapes
        if shape.body == body
    ]
    if not parts:
        return np.empty((0, 3))
    points = np.concatenate(parts)
    heights = points @ up
    return points[heights < heights.min() + _FLAT]


def _low_points(geometry, up) -> np.ndarray:
    """Return points of a shape that may be its lowest, in the shape's frame (n, 3) [m]."""
    if isinstance(geometry, Box):
        signs = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
        return signs * geometry.lengths
    if isinstance(geometry, Sphere):
        return -geometry.radius * up[None]
    if isinstance(geometry, Mesh):
        return geometry.vertices
    ends = np.array([[0.0, 0.0, 0.5 * geometry.length], [0.0, 0.0, -0.5 * geometry.length]])
    if isinstance(geometry, Capsule):
        return ends - geometry.radius * up
    angles = np.arange(_RIM) * 2.0 * np.pi / _RIM
    rim = np.stack([np.cos(angles), np.sin(angles), np.zeros(_RIM)], axis=-1) * geometry.radius
    return np.concatenate([ends[0] + rim, ends[1] + rim])


def _area(polygon) -> float:
    x, y = polygon.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def convex_hull(points) -> np.ndarray:
    """Return the corners of the convex hull of `points` (n, 2), counter-clockwise (k, 2)."""
    ordered = sorted(map(tuple, np.asarray(points, dtype=np.float64)))

    def half(points):
        chain: list = []
        for p in points:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0.0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array(half(ordered) + half(reversed(ordered)))


def _turn(a, b, c) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def margins(points, polygon) -> np.ndarray:
    """Return the signed distances of `points` (n, 2) to the edges of a convex polygon (n,) [m].

    polygon: corners (k, 2), counter-clockwise. Inside, the value is the distance to the nearest
    edge. Outside, the value is the negative of the largest distance beyond the line of an edge.
    """
    return _depths(points, polygon).min(axis=1)


def gap_between(a, b) -> float:
    """Return the distance between two convex polygons (k, 2) [m], negative if they overlap.

    Corners are counter-clockwise. The distance is the largest separation along a normal of an edge.
    """
    return -min(_depths(a, b).max(axis=0).min(), _depths(b, a).max(axis=0).min())


def _depths(points, polygon) -> np.ndarray:
    """Return the signed distances of points from the lines of a polygon's edges [m].

    The result (points, edges) is positive inside.
    """
    edges = np.roll(polygon, -1, axis=0) - polygon
    inward = np.stack([-edges[:, 1], edges[:, 0]], axis=-1)
    inward /= np.linalg.norm(inward, axis=1, keepdims=True)
    return np.asarray(points) @ inward.T - (polygon * inward).sum(axis=1)


def inset(polygon, margin: float) -> np.ndarray:
    """Shrink a polygon by `margin` [m] at every edge, and return the corners (k, 2).

    polygon: corners (n, 2), counter-clockwise. The result is counter-clockwise too. If nothing is
    left, the result is a single point, the mean of the corners.
    """
    polygon = np.asarray(polygon, dtype=np.float64)
    clipped = polygon
    for a, b in zip(polygon, np.roll(polygon, -1, axis=0)):
        edge = (b - a) / np.linalg.norm(b - a)
        inward = np.array([-edge[1], edge[0]])
        depth = (clipped - a) @ inward - margin
        corners = []
        for i in range(len(clipped)):
            j = (i + 1) % len(clipped)
            if depth[i] >= 0.0:
                corners.append(clipped[i])
            if (depth[i] >= 0.0) != (depth[j] >= 0.0):
                part = depth[i] / (depth[i] - depth[j])
                corners.append(clipped[i] + part * (clipped[j] - clipped[i]))
        if not corners:
            return polygon.mean(axis=0, keepdims=True)
        clipped = np.array(corners)
    return clipped


@kernel
def nearest_in(corners: Matrix, count: int, x: float, y: float) -> tuple[float, float]:
    """Return the point (x, y) of a convex polygon that is nearest to a point.

    A point inside the polygon is returned unchanged. corners: (k, 2), counter-clockwise. Only the
    first `count` corners belong to the polygon.
    """
    nearest_x, nearest_y, least = x, y, np.inf
    outside = count < 3
    x0, y0 = corners[count - 1, 0], corners[count - 1, 1]
    for k in range(count):
        x1, y1 = corners[k, 0], corners[k, 1]
        dx, dy = x1 - x0, y1 - y0
        if dx * (y - y0) - dy * (x - x0) < 0.0:
            outside = True
        square = dx * dx + dy * dy
        part = ((x - x0) * dx + (y - y0) * dy) / square if square > 0.0 else 0.0
        part = min(max(part, 0.0), 1.0)
        px, py = x0 + part * dx, y0 + part * dy
        distance = (x - px) * (x - px) + (y - py) * (y - py)
        if distance < least:
            nearest_x, nearest_y, least = px, py, distance
        x0, y0 = x1, y1
    return (nearest_x, nearest_y) if outside else (x, y)
