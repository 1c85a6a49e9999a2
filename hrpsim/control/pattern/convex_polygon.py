"""Convex polygons made smaller, and the point of one that is nearest to a given point."""

from __future__ import annotations

import numpy as np


def inset(polygon, margin: float) -> np.ndarray:
    """Return the corners of the part that is `margin` [m] inside of every edge (k, 2).

    polygon: corners (n, 2), counter-clockwise, as are those returned. Where nothing is left it is
    the mean of the corners, alone.
    """
    polygon = np.asarray(polygon, dtype=np.float64)
    kept = polygon
    for a, b in zip(polygon, np.roll(polygon, -1, axis=0)):
        edge = (b - a) / np.linalg.norm(b - a)
        inward = np.array([-edge[1], edge[0]])
        depth = (kept - a) @ inward - margin
        corners = []
        for i in range(len(kept)):
            j = (i + 1) % len(kept)
            if depth[i] >= 0.0:
                corners.append(kept[i])
            if (depth[i] >= 0.0) != (depth[j] >= 0.0):
                part = depth[i] / (depth[i] - depth[j])
                corners.append(kept[i] + part * (kept[j] - kept[i]))
        if not corners:
            return polygon.mean(axis=0, keepdims=True)
        kept = np.array(corners)
    return kept


def nearest_in(polygon, x: float, y: float) -> tuple[float, float]:
    """Return the point of a convex polygon, inside or on its edge, that is nearest to (x, y).

    polygon: corners (k, 2), counter-clockwise, at best as a list of lists.
    """
    nearest, least = (x, y), float("inf")
    outside = len(polygon) < 3
    x0, y0 = polygon[-1]
    for x1, y1 in polygon:
        dx, dy = x1 - x0, y1 - y0
        if dx * (y - y0) - dy * (x - x0) < 0.0:
            outside = True
        square = dx * dx + dy * dy
        part = ((x - x0) * dx + (y - y0) * dy) / square if square > 0.0 else 0.0
        part = min(max(part, 0.0), 1.0)
        px, py = x0 + part * dx, y0 + part * dy
        distance = (x - px) ** 2 + (y - py) ** 2
        if distance < least:
            nearest, least = (px, py), distance
        x0, y0 = x1, y1
    return nearest if outside else (x, y)
