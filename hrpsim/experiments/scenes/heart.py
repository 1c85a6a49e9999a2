# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A heart as a closed triangle mesh: the curve of a heart, drawn out to a slab.

The curve is x = 16 sin^3 t, y = 13 cos t - 5 cos 2t - 2 cos 3t - cos 4t in units: 32 wide, its
point 17 below and its notch 5 above the origin, its lobes 11.97 above it.
"""

from __future__ import annotations

import numpy as np

from hrpsim.model.shapes.geometry import Mesh


def outline(count: int) -> np.ndarray:
    """Return points (count, 2) [units] of the curve, counter-clockwise, the notch first."""
    t = -np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    x = 16.0 * np.sin(t) ** 3
    y = 13.0 * np.cos(t) - 5.0 * np.cos(2 * t) - 2.0 * np.cos(3 * t) - np.cos(4 * t)
    return np.column_stack([x, y])


def heart(unit: float, thickness: float, count: int = 48) -> Mesh:
    """Return a heart whose slab lies along x and y, `thickness` [m] along z about z = 0.

    unit: length of a unit of the curve [m]. count: points of the outline, even, so that notch and
    tip are among them. The frame's origin is the centre of mass; faces look outwards.
    """
    ring = unit * outline(count)
    area, centre = _area_and_centroid(ring)
    assert area > 0.0
    ring = ring - centre
    top = np.column_stack([ring, np.full(count, 0.5 * thickness)])
    bottom = top - (0.0, 0.0, thickness)
    # The middle sees the whole outline, so that both faces are fans about it.
    middles = np.array([[0.0, 0.0, 0.5 * thickness], [0.0, 0.0, -0.5 * thickness]])
    a = np.arange(count)
    b = (a + 1) % count
    up, down = np.full(count, 2 * count), np.full(count, 2 * count + 1)
    triangles = [
        np.column_stack([up, a, b]),
        np.column_stack([down, count + b, count + a]),
        np.column_stack([a, count + a, count + b]),
        np.column_stack([a, count + b, b]),
    ]
    return Mesh(np.concatenate([top, bottom, middles]), np.concatenate(triangles))


def _area_and_centroid(ring: np.ndarray) -> tuple[float, np.ndarray]:
    """Return area and centroid (2,) of a polygon, counter-clockwise."""
    following = np.roll(ring, -1, axis=0)
    cross = ring[:, 0] * following[:, 1] - ring[:, 1] * following[:, 0]
    area = 0.5 * cross.sum()
    return float(area), ((ring + following) * cross[:, None]).sum(axis=0) / (6.0 * area)
