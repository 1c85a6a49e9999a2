# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Distances of a point from the border of a convex polygon in the plane."""

import math

from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Matrix

_COLLINEAR = 1e-9  # sine of the angle between directions that count as parallel


@inner_kernel
def _leftmost(points: Matrix, count: int) -> int:
    """Return the index of the point with the smallest x, and the smallest y among equal x."""
    result = 0
    for k in range(1, count):
        x, y = points[k, 0], points[k, 1]
        if x < points[result, 0] or (x == points[result, 0] and y < points[result, 1]):
            result = k
    return result


@inner_kernel
def hull_margin(points: Matrix, count: int, x: float, y: float) -> float:
    """Return the distance [m] of (x, y) to the border of the convex hull of points[:count].

    The distance is negative outside the hull, and NaN without points. The algorithm is gift
    wrapping, counter-clockwise: each next corner has no other point on its right.
    """
    if count == 0:
        return math.nan
    start = _leftmost(points, count)
    corner = start
    inside, nearest = math.inf, math.inf
    for _ in range(count):
        after = corner
        for k in range(count):
            if _comes_before(points, corner, k, after):
                after = k
        if after == corner:  # all points coincide
            return -math.hypot(x - points[corner, 0], y - points[corner, 1])
        signed, distance = edge_distance(
            points[corner, 0], points[corner, 1], points[after, 0], points[after, 1], x, y
        )
        inside, nearest = min(inside, signed), min(nearest, distance)
        corner = after
        if corner == start:
            break
    return inside if inside >= 0.0 else -nearest


@inner_kernel
def _comes_before(points: Matrix, here: int, k: Index, after: int) -> bool:
    """Return whether point k replaces `after` as the hull's next corner after `here`."""
    ax, ay = points[k, 0] - points[here, 0], points[k, 1] - points[here, 1]
    if ax == 0.0 and ay == 0.0:
        return False
    if after == here:
        return True
    bx, by = points[after, 0] - points[here, 0], points[after, 1] - points[here, 1]
    side, along = bx * ay - by * ax, bx * ax + by * ay
    if abs(side) <= _COLLINEAR * abs(along):
        return along > 0.0 and ax * ax + ay * ay > bx * bx + by * by
    return side < 0.0


@inner_kernel
def edge_distance(
    ax: float, ay: float, bx: float, by: float, x: float, y: float
) -> tuple[float, float]:
    """Return the distances of the point (x, y) from the line and from the edge between a and b.

    Returns:
        (distance from the line, positive on its left, distance from the edge) [m].
    """
    dx, dy = bx - ax, by - ay
    length = math.hypot(dx, dy)
    signed = (dx * (y - ay) - dy * (x - ax)) / length
    along = ((x - ax) * dx + (y - ay) * dy) / (length * length)
    along = min(max(along, 0.0), 1.0)
    return signed, math.hypot(x - ax - along * dx, y - ay - along * dy)


@inner_kernel
def outline_margin(vertices: Matrix, begin: Index, end: Index, x: float, y: float) -> float:
    """Return the distance [m] of (x, y) to the border of a convex outline, negative outside."""
    if begin == end:
        return math.nan
    inside, nearest = math.inf, math.inf
    before = end - 1
    for k in range(begin, end):
        signed, distance = edge_distance(
            vertices[before, 0], vertices[before, 1], vertices[k, 0], vertices[k, 1], x, y
        )
        inside, nearest = min(inside, signed), min(nearest, distance)
        before = k
    return inside if inside >= 0.0 else -nearest
