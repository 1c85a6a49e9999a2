# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""How far a point lies inside the convex hull of points on the ground."""

from __future__ import annotations

import math

from hrpsim.jit.compiled import inner_kernel

_COLLINEAR = 1e-9  # sine of the angle between directions that are taken for one


@inner_kernel
def hull_margin(points, count, x, y):
    """Return the distance of (x, y) to the border of the hull of points[:count], < 0 outside [m].

    The hull is walked counter-clockwise, from each corner to the point that has none on its right
    (gift wrapping). NaN without points.
    """
    if count == 0:
        return math.nan
    start = 0
    for k in range(1, count):
        if points[k, 0] < points[start, 0] or (
            points[k, 0] == points[start, 0] and points[k, 1] < points[start, 1]
        ):
            start = k
    here = start
    inside, nearest = math.inf, math.inf
    for _ in range(count):
        after = here
        for k in range(count):
            if _comes_before(points, here, k, after):
                after = k
        if after == here:  # all points are one
            return -math.hypot(x - points[here, 0], y - points[here, 1])
        signed, distance = edge_distance(
            points[here, 0], points[here, 1], points[after, 0], points[after, 1], x, y
        )
        inside, nearest = min(inside, signed), min(nearest, distance)
        here = after
        if here == start:
            break
    return inside if inside >= 0.0 else -nearest


@inner_kernel
def _comes_before(points, here, k, after):
    """Return whether the hull's edge from `here` rather goes to k than to `after`."""
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
def edge_distance(ax, ay, bx, by, x, y):
    """Return the distance of (x, y) to the left of the line a b, and to the edge between them."""
    dx, dy = bx - ax, by - ay
    length = math.hypot(dx, dy)
    signed = (dx * (y - ay) - dy * (x - ax)) / length
    along = ((x - ax) * dx + (y - ay) * dy) / (length * length)
    along = min(max(along, 0.0), 1.0)
    return signed, math.hypot(x - ax - along * dx, y - ay - along * dy)


@inner_kernel
def outline_margin(vertices, begin, end, x, y):
    """Return the distance of (x, y) to the border of a convex outline, < 0 outside [m]."""
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
