"""The floor under the soles: outlines, the polygon that supports the robot, margins to its edge."""

from __future__ import annotations

import itertools

import numpy as np

from hrpsim.errors import ModelError
from hrpsim.model.model import Model
from hrpsim.model.shapes.geometry import Box


def sole_outline(model: Model, sole: str) -> np.ndarray:
    """Return the corners of the sole's box in the frame of the link `sole` (4, 2) [m].

    They are in counter-clockwise order. Raises ModelError where the body of that link has no box.
    """
    frame = model.frame(sole)
    boxes = [
        shape
        for shape in model.shapes
        if shape.body == frame.body and isinstance(shape.geometry, Box)
    ]
    if not boxes:
        raise ModelError(f"{model.source}: the body of {sole!r} has no box to stand on")
    corners = []
    for shape in boxes:
        signs = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
        in_body = shape.p + (signs * shape.geometry.lengths) @ shape.R.T
        corners.append((in_body - frame.p) @ frame.R)
    corners = np.concatenate(corners)
    lowest = corners[:, 2].min()
    return convex_hull(corners[corners[:, 2] < lowest + 1e-6, :2])


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
    """Return distances of `points` (n, 2) to the edges of a convex polygon (n,) [m].

    polygon: corners (k, 2), counter-clockwise. Inside it is the distance to the nearest edge,
    outside it is negative: how far the point is beyond the edge's line that it is farthest from.
    """
    return _depths(points, polygon).min(axis=1)


def gap_between(a, b) -> float:
    """Return how far apart two convex polygons (k, 2) are at least [m]; negative: they overlap.

    Corners counter-clockwise. It is the largest separation along a normal of an edge.
    """
    return -min(_depths(a, b).max(axis=0).min(), _depths(b, a).max(axis=0).min())


def _depths(points, polygon) -> np.ndarray:
    """Return how far each point is inside of each edge's line (points, edges) [m]."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    inward = np.stack([-edges[:, 1], edges[:, 0]], axis=-1)
    inward /= np.linalg.norm(inward, axis=1, keepdims=True)
    return np.asarray(points) @ inward.T - (polygon * inward).sum(axis=1)
