# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Support points of the core shapes: box, segment (the core of a capsule) and cylinder.

Directions perpendicular to a cylinder's axis are computed along the cylinder's x and y axes. The
difference between a direction and its part along the axis would have a rounding error along the
axis. If a cap lies flat, a division by a tiny sine turns this error into micrometres.
"""

import math

from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.engine.compile.kernel_types import Mat3, Vec3
from hrpsim.model.shapes.geometry import BOX, CAPSULE, CYLINDER, SPHERE

# Cosine (or sine, from a cylinder's axis) below which the middle of the feature is returned instead
# of an arbitrary end.
_PERPENDICULAR = 1e-14


@inner_kernel
def _side(cosine: float) -> float:
    """Return the sign of a cosine, 0 if the direction is perpendicular to within rounding."""
    if cosine > _PERPENDICULAR:
        return 1.0
    if cosine < -_PERPENDICULAR:
        return -1.0
    return 0.0


@inner_kernel
def radial_direction(R: Mat3, ox: float, oy: float, oz: float) -> tuple[float, float, float, float]:
    """Return the unit vector perpendicular to the z axis of R that is nearest to the unit vector o.

    Returns:
        (x, y, z, sine of the angle between o and the z axis).
    """
    cx = ox * R[0, 0] + oy * R[1, 0] + oz * R[2, 0]
    cy = ox * R[0, 1] + oy * R[1, 1] + oz * R[2, 1]
    sine = math.sqrt(cx * cx + cy * cy)
    if sine <= _PERPENDICULAR:
        return 0.0, 0.0, 0.0, sine
    cx, cy = cx / sine, cy / sine
    return (
        cx * R[0, 0] + cy * R[0, 1],
        cx * R[1, 0] + cy * R[1, 1],
        cx * R[2, 0] + cy * R[2, 1],
        sine,
    )


@inner_kernel
def core_reach(kind: int, size: Vec3, R: Mat3, nx: float, ny: float, nz: float) -> float:
    """Return the extent of a core along the unit vector n, from its centre to its support [m]."""
    cz = abs(nx * R[0, 2] + ny * R[1, 2] + nz * R[2, 2])
    if kind == CAPSULE:
        return size[1] * cz
    cx = nx * R[0, 0] + ny * R[1, 0] + nz * R[2, 0]
    cy = nx * R[0, 1] + ny * R[1, 1] + nz * R[2, 1]
    if kind == BOX:
        return size[0] * abs(cx) + size[1] * abs(cy) + size[2] * cz
    return size[1] * cz + size[0] * math.sqrt(cx * cx + cy * cy)


@inner_kernel
def surface_reach(kind: int, size: Vec3, R: Mat3, nx: float, ny: float, nz: float) -> float:
    """Return the distance from the centre of a shape to its support plane with normal n [m].

    Args:
        kind: SPHERE, BOX, CAPSULE or CYLINDER.
        size: size of the shape (3,) [m], as in SHAPE records.
        R: rotation from the shape's frame to the frame of n.
        nx: x component of the unit vector n.
        ny: y component of the unit vector n.
        nz: z component of the unit vector n.
    """
    if kind == SPHERE:
        return size[0]
    rounding = size[0] if kind == CAPSULE else 0.0
    return rounding + core_reach(kind, size, R, nx, ny, nz)


@inner_kernel
def support(
    kind: int, size: Vec3, R: Mat3, shrink: float, nx: float, ny: float, nz: float
) -> tuple[float, float, float]:
    """Return the support point of a core along the unit vector n, relative to the centre [m].

    The core is first shrunk by `shrink` [m] on all sides. A segment is shortened at both ends.
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
        reach = max(size[0] - shrink, 0.0)
        rx, ry, rz, _ = radial_direction(R, nx, ny, nz)
        rx, ry, rz = reach * rx, reach * ry, reach * rz
    return R[0, 2] * z + rx, R[1, 2] * z + ry, R[2, 2] * z + rz


@inner_kernel
def extent_sum(size: Vec3) -> float:
    """Return the sum of a shape's size parameters [m], as a scale for tolerances."""
    return size[0] + size[1] + size[2]
