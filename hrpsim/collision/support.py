"""Support points of the core shapes: box, segment (the core of a capsule) and cylinder."""

from __future__ import annotations

import math

from hrpsim.compiled import inner_kernel
from hrpsim.model.geometry import BOX, CYLINDER

# Cosine below which a direction counts as perpendicular: the middle of the feature is returned
# instead of an arbitrary end.
_PERPENDICULAR = 1e-14

# Sine below which a direction counts as the axis of a cylinder: the middle of the cap is returned.
_ALIGNED = 1e-8


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
    reach = 0.0
    if kind == CYLINDER:
        sine = math.sqrt(max(1.0 - cz * cz, 0.0))
        if sine > _ALIGNED:
            reach = max(size[0] - shrink, 0.0) / sine
    z -= reach * cz
    return (
        R[0, 2] * z + reach * nx,
        R[1, 2] * z + reach * ny,
        R[2, 2] * z + reach * nz,
    )


@inner_kernel
def core_radius(kind, size):
    """Return the radius of the ball about the centre that holds the core [m]."""
    if kind == BOX:
        return math.sqrt(size[0] * size[0] + size[1] * size[1] + size[2] * size[2])
    if kind == CYLINDER:
        return math.sqrt(size[0] * size[0] + size[1] * size[1])
    return size[1]
