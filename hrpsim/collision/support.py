"""Support points of the core shapes: box, segment (the core of a capsule) and cylinder."""

from __future__ import annotations

import math

from hrpsim.compiled import inner_kernel
from hrpsim.model.geometry import BOX, CYLINDER

# Cosine (or sine, from a cylinder's axis) below which the middle of the feature is returned instead
# of an arbitrary end.
_PERPENDICULAR = 1e-14


@inner_kernel
def _side(cosine):
    """Return -1, 0 or +1: the side on which a unit direction leans."""
    if cosine > _PERPENDICULAR:
        return 1.0
    if cosine < -_PERPENDICULAR:
        return -1.0
    return 0.0


@inner_kernel
def support(kind, size, R, shrink, nx, ny, nz):
    """Return the core point farthest along the unit vector n, relative to the centre [m].

    The core's surface is first moved inward by `shrink` [m] (a segment's ends are).
    """
    cz = nx * R[0, 2] + ny * R[1, 2] + nz * R[2, 2]
    if kind == BOX:
        x = max(size[0] - shrink, 0.0) * _side(nx * R[0, 0] + ny * R[1, 0] + nz * R[2, 0])
        y = max(size[1] - shrink, 0.0) * _side(nx * R[0, 1] + ny * R[1, 1] + nz * R[2, 1])
        z = max(size[2] - shrink, 0.0) * _side(cz)
        return (
            R[0, 0] * x + R[0, 1] * y + R[0, 2] * z,
            R[1, 0] * x + R[1, 1] * y + R[1, 2] * z,
            R[2, 0] * x + R[2, 1] * y + R[2, 2] * z,
        )
    z = max(size[1] - shrink, 0.0) * _side(cz)
    rx = ry = rz = 0.0
    if kind == CYLINDER:
        # Not sqrt(1 - cz^2), which is a rounding error of 1e-8 where n is the axis.
        rx, ry, rz = nx - cz * R[0, 2], ny - cz * R[1, 2], nz - cz * R[2, 2]
        sine = math.sqrt(rx * rx + ry * ry + rz * rz)
        reach = max(size[0] - shrink, 0.0) / sine if sine > _PERPENDICULAR else 0.0
        rx, ry, rz = reach * rx, reach * ry, reach * rz
    return R[0, 2] * z + rx, R[1, 2] * z + ry, R[2, 2] * z + rz


@inner_kernel
def core_radius(kind, size):
    """Return the radius of the ball about the centre that holds the core [m]."""
    if kind == BOX:
        return math.sqrt(size[0] * size[0] + size[1] * size[1] + size[2] * size[2])
    if kind == CYLINDER:
        return math.sqrt(size[0] * size[0] + size[1] * size[1])
    return size[1]
