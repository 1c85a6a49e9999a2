# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Oblique projection onto a plane of a shape (a box face, a cylinder cap) along the contact normal.

The bearing shape has centre p and axes R. Its plane lies at distance `half` from the centre, across
the axis `axis`, on the side given by the sign of `cosine` = n . axis, where the unit vector n
points from the bearing shape to the other one. A point that is projected along n travels its gap
along n. Plane coordinates (X, Y) [m] run along the next two axes from the middle of the plane.
Positions are relative to p.
"""

import numpy as np

from hrpsim.collision.primitives.contact_row import MAX_POINTS, write_contact
from hrpsim.jit.compiled import inner_kernel

# A point that misses a face or a cap by less than this part of its half width still counts, and is
# moved onto it: aligned shapes then keep their corners as features while they jitter.
RIM_TOLERANCE = 1e-4

Z_AXIS = np.int64(2)


@inner_kernel
def clamp(value, half):
    """Return the value within -half..half that is nearest to `value`."""
    return min(max(value, -half), half)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def project_direction(x, y, z, axis, cosine, R, nx, ny, nz):
    """Return (X, Y, gap) that a displacement x, y, z adds to a projected point."""
    gap = (x * R[0, axis] + y * R[1, axis] + z * R[2, axis]) / cosine
    x, y, z = x - gap * nx, y - gap * ny, z - gap * nz
    u = (axis + 1) % 3
    v = (axis + 2) % 3
    return (x * R[0, u] + y * R[1, u] + z * R[2, u], x * R[0, v] + y * R[1, v] + z * R[2, v], gap)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def project_point(x, y, z, axis, cosine, half, R, nx, ny, nz):
    """Return plane coordinates X, Y and the gap along n of the point x, y, z."""
    height = half if cosine > 0.0 else -half
    return project_direction(
        x - height * R[0, axis], y - height * R[1, axis], z - height * R[2, axis],
        axis, cosine, R, nx, ny, nz,
    )  # fmt: skip


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def write_over_plane(
    k, X, Y, gap, code_other, code_bearing, axis, cosine, half, R, p, sign, nx, ny, nz, margin, out,
):  # fmt: skip
    """Write the contact over plane point X, Y if its gap is within margin; return the count.

    `sign` is +1 where the bearing shape is b, -1 where it is a.
    """
    if gap > margin or k >= MAX_POINTS:
        return k
    u = (axis + 1) % 3
    v = (axis + 2) % 3
    height = half if cosine > 0.0 else -half
    rise = 0.5 * gap
    if sign < 0.0:
        code_other, code_bearing = code_bearing, code_other
    return write_contact(
        k,
        p[0] + (R[0, axis] * height + R[0, u] * X + R[0, v] * Y + rise * nx),
        p[1] + (R[1, axis] * height + R[1, u] * X + R[1, v] * Y + rise * ny),
        p[2] + (R[2, axis] * height + R[2, u] * X + R[2, v] * Y + rise * nz),
        sign * nx, sign * ny, sign * nz, gap, code_other, code_bearing, out,
    )  # fmt: skip
