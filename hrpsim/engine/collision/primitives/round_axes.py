# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""First guesses of the separation axis of pairs with a capsule or a cylinder.

The guesses are face normals, cap normals, and the common perpendiculars of two axes or edges. An
overlapping box and segment (the core of a capsule) need no other guesses. If no guess is the true
axis, hrpsim.engine.collision.primitives.convex_axis starts from the best guess.
"""

import math

from hrpsim.engine.collision.primitives.contact_row import axis_offset, nearest_on_axes
from hrpsim.engine.collision.primitives.convex_axis import separation_along
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Mat3, Vec3
from hrpsim.model.shapes.geometry import BOX, CAPSULE, CYLINDER

# Vectors shorter than this [m, or a sine] have no usable direction.
_SHORT = 1e-9


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _better_axis(
    kind_a: int, size_a: Vec3, R_a: Mat3, kind_b: int, size_b: Vec3, R_b: Mat3, tx: float,
    ty: float, tz: float, best_x: float, best_y: float, best_z: float, best: float, x: float,
    y: float, z: float,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return the axis with the larger separation: the best so far, or the direction (x, y, z).

    Returns:
        (nx, ny, nz, separation): unit vector from b to a, and separation [m].
    """
    norm = math.sqrt(x * x + y * y + z * z)
    if norm < _SHORT:
        return best_x, best_y, best_z, best
    if x * tx + y * ty + z * tz < 0.0:
        norm = -norm
    x, y, z = x / norm, y / norm, z / norm
    separation = separation_along(kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, x, y, z)
    if separation > best:
        return x, y, z, separation
    return best_x, best_y, best_z, best


@inlined_kernel
def _guess_with_box(guess: int, kind_a: int, R_a: Mat3, R_b: Mat3) -> tuple[float, float, float]:
    """Return one of seven guesses (0..6) for the axis of a round shape and a box.

    The result is a zero vector if there is no guess with this number.
    """
    ax, ay, az = R_a[0, 2], R_a[1, 2], R_a[2, 2]
    if guess == 6:
        return (ax, ay, az) if kind_a == CYLINDER else (0.0, 0.0, 0.0)
    column = guess % 3
    x, y, z = R_b[0, column], R_b[1, column], R_b[2, column]
    if guess < 3:
        return x, y, z
    return ay * z - az * y, az * x - ax * z, ax * y - ay * x


@inlined_kernel
def _guess_with_round(
    guess: int, R_a: Mat3, R_b: Mat3, dx: float, dy: float, dz: float
) -> tuple[float, float, float]:
    """Return one of seven guesses (0..6) for the axis of two round shapes.

    d is the offset between the nearest points of both axes [m].
    """
    ax, ay, az = R_a[0, 2], R_a[1, 2], R_a[2, 2]
    bx, by, bz = R_b[0, 2], R_b[1, 2], R_b[2, 2]
    if guess == 0:
        return ax, ay, az
    if guess == 1:
        return bx, by, bz
    if guess == 2:
        return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    if guess == 4:
        along = dx * ax + dy * ay + dz * az
        return dx - along * ax, dy - along * ay, dz - along * az
    if guess == 5:
        along = dx * bx + dy * by + dz * bz
        return dx - along * bx, dy - along * by, dz - along * bz
    if guess == 6:  # across the axis of a: coaxial cylinders one inside the other
        return R_a[0, 0], R_a[1, 0], R_a[2, 0]
    return dx, dy, dz


@inner_kernel  # many parameters: two shapes, each by kind, size, rotation and position
def round_axis(
    kind_a: int,
    size_a: Vec3,
    R_a: Mat3,
    kind_b: int,
    size_b: Vec3,
    R_b: Mat3,
    tx: float,
    ty: float,
    tz: float,
) -> tuple[float, float, float, float]:
    """Return the best first guess of the separation axis for the cores of two shapes.

    Shape a is a capsule or cylinder, and shape b has any kind.

    tx, ty, tz: centre of a relative to the centre of b [m].

    Returns:
        (nx, ny, nz, separation): unit vector from b to a, and separation along it [m].
    """
    nx, ny, nz, best = 0.0, 0.0, 1.0, -math.inf
    dx = dy = dz = 0.0
    if kind_b != BOX:
        s, t = nearest_on_axes(R_a, size_a[1], R_b, size_b[1], tx, ty, tz)
        dx, dy, dz, distance = axis_offset(R_a, s, R_b, t, tx, ty, tz)
        if kind_a == CAPSULE and distance > _SHORT:
            return dx / distance, dy / distance, dz / distance, distance
    for guess in range(7):
        if kind_b == BOX:
            x, y, z = _guess_with_box(guess, kind_a, R_a, R_b)
        else:
            x, y, z = _guess_with_round(guess, R_a, R_b, dx, dy, dz)
        nx, ny, nz, best = _better_axis(
            kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz, best, x, y, z
        )
    return nx, ny, nz, best
