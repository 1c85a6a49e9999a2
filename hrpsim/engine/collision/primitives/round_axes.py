# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""First guesses of the separation axis of pairs with a capsule or a cylinder.

The guesses are face normals, cap normals, and the directions across two axes or edges. A box and a
segment (the core of a capsule) need no other guesses while they overlap. If no guess is the true
axis, hrpsim.engine.collision.primitives.convex_axis starts from the best guess.
"""

import math

from hrpsim.engine.collision.primitives.contact_row import axis_offset, nearest_on_axes
from hrpsim.engine.collision.primitives.convex_axis import separation_along
from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.model.shapes.geometry import BOX, CAPSULE, CYLINDER

# Vectors shorter than this [m, or a sine] have no usable direction.
_SHORT = 1e-9


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _better_axis(
    kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, best_x, best_y, best_z, best, x, y, z
):
    """Return the better of the best axis and separation so far and the direction x, y, z."""
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


@inner_kernel  # many parameters: two shapes, each by kind, size, rotation and position
def round_axis(kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz):
    """Return (nx, ny, nz, separation): the best guess for the cores of a round shape a and any b.

    n points from b to a.

    tx, ty, tz: centre of a relative to the centre of b [m].
    """
    ax, ay, az = R_a[0, 2], R_a[1, 2], R_a[2, 2]
    nx, ny, nz, best = 0.0, 0.0, 1.0, -math.inf
    dx = dy = dz = 0.0
    if kind_b != BOX:
        s, t = nearest_on_axes(R_a, size_a[1], R_b, size_b[1], tx, ty, tz)
        dx, dy, dz, distance = axis_offset(R_a, s, R_b, t, tx, ty, tz)
        if kind_a == CAPSULE and distance > _SHORT:
            return dx / distance, dy / distance, dz / distance, distance
    for guess in range(7):
        x = y = z = 0.0
        if kind_b == BOX:
            if guess < 6:
                column = guess % 3
                x, y, z = R_b[0, column], R_b[1, column], R_b[2, column]
                if guess >= 3:
                    x, y, z = ay * z - az * y, az * x - ax * z, ax * y - ay * x
            elif kind_a == CYLINDER:
                x, y, z = ax, ay, az
        elif guess == 0:
            x, y, z = ax, ay, az
        elif guess == 1:
            x, y, z = R_b[0, 2], R_b[1, 2], R_b[2, 2]
        elif guess == 2:
            x = ay * R_b[2, 2] - az * R_b[1, 2]
            y = az * R_b[0, 2] - ax * R_b[2, 2]
            z = ax * R_b[1, 2] - ay * R_b[0, 2]
        elif guess < 6:
            x, y, z = dx, dy, dz
            if guess == 4:
                along = x * ax + y * ay + z * az
                x, y, z = x - along * ax, y - along * ay, z - along * az
            elif guess == 5:
                along = x * R_b[0, 2] + y * R_b[1, 2] + z * R_b[2, 2]
                x, y, z = x - along * R_b[0, 2], y - along * R_b[1, 2], z - along * R_b[2, 2]
        else:
            # Across the axis of a: coaxial cylinders one inside the other.
            x, y, z = R_a[0, 0], R_a[1, 0], R_a[2, 0]
        nx, ny, nz, best = _better_axis(
            kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz, best, x, y, z
        )
    return nx, ny, nz, best
