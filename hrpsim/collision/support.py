"""Support points of the core shapes: box, segment (the core of a capsule) and cylinder."""

from __future__ import annotations

import math

from hrpsim.collision.inner_kernel import inner_kernel
from hrpsim.model.geometry import BOX, CYLINDER

# Cosine below which a direction counts as perpendicular: the middle of the feature is returned
# instead of an arbitrary end.
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
def support(kind, size, R, nx, ny, nz):
    """Return the core point farthest along the unit vector n, relative to the centre [m]."""
    cz = nx * R[0, 2] + ny * R[1, 2] + nz * R[2, 2]
    if kind == BOX:
        x = size[0] * _side(nx * R[0, 0] + ny * R[1, 0] + nz * R[2, 0])
        y = size[1] * _side(nx * R[0, 1] + ny * R[1, 1] + nz * R[2, 1])
        z = size[2] * _side(cz)
        return (
            R[0, 0] * x + R[0, 1] * y + R[0, 2] * z,
            R[1, 0] * x + R[1, 1] * y + R[1, 2] * z,
            R[2, 0] * x + R[2, 1] * y + R[2, 2] * z,
        )
    z = size[1] * _side(cz)
    if kind == CYLINDER:
        rx, ry, rz = nx - cz * R[0, 2], ny - cz * R[1, 2], nz - cz * R[2, 2]
        sine = math.sqrt(rx * rx + ry * ry + rz * rz)
        if sine > _PERPENDICULAR:
            reach = size[0] / sine
            return (
                R[0, 2] * z + reach * rx,
                R[1, 2] * z + reach * ry,
                R[2, 2] * z + reach * rz,
            )
    return R[0, 2] * z, R[1, 2] * z, R[2, 2] * z


@inner_kernel
def core_radius(kind, size):
    """Return the radius of the ball about the centre that holds the core [m]."""
    if kind == BOX:
        return math.sqrt(size[0] * size[0] + size[1] * size[1] + size[2] * size[2])
    if kind == CYLINDER:
        return math.sqrt(size[0] * size[0] + size[1] * size[1])
    return size[1]
