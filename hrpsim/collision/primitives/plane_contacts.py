# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of a shape (a) with a half-space (b) that fills z <= 0 of its frame."""

import math

from hrpsim.collision.primitives.contact_row import END, NO_POINTS, SURFACE, write_contact
from hrpsim.collision.primitives.cylinder_cap import FACING_COSINE
from hrpsim.collision.primitives.generatrix import MEANINGFUL_SINE
from hrpsim.jit.compiled import inlined_kernel, inner_kernel


@inlined_kernel
def _height(R_b, p_b, x, y, z):
    """Return the height of a point above the plane [m]."""
    return R_b[0, 2] * (x - p_b[0]) + R_b[1, 2] * (y - p_b[1]) + R_b[2, 2] * (z - p_b[2])


@inlined_kernel
def _touch(k, x, y, z, gap, margin, code, R_b, out):
    """Write the contact of a surface point that lies `gap` above the plane, if within margin."""
    # many parameters: vectors as three numbers stay in registers
    if gap > margin:
        return k
    nx, ny, nz = R_b[0, 2], R_b[1, 2], R_b[2, 2]
    half = 0.5 * gap
    return write_contact(
        k, x - half * nx, y - half * ny, z - half * nz, nx, ny, nz, gap,
        code, SURFACE, out,
    )  # fmt: skip


@inlined_kernel
def sphere_on_plane(size_a, R_a, p_a, R_b, p_b, margin, out):
    """Write the contact of a sphere with a half-space; return 0 or 1."""
    radius = size_a[0]
    gap = _height(R_b, p_b, p_a[0], p_a[1], p_a[2]) - radius
    return _touch(
        NO_POINTS,
        p_a[0] - radius * R_b[0, 2],
        p_a[1] - radius * R_b[1, 2],
        p_a[2] - radius * R_b[2, 2],
        gap, margin, SURFACE, R_b, out,
    )  # fmt: skip


@inner_kernel
def box_on_plane(size_a, R_a, p_a, R_b, p_b, margin, out):
    """Write the box vertices within margin of a half-space; return how many."""
    nx, ny, nz = R_b[0, 2], R_b[1, 2], R_b[2, 2]
    hx, hy, hz = size_a[0], size_a[1], size_a[2]
    rise_x = hx * (nx * R_a[0, 0] + ny * R_a[1, 0] + nz * R_a[2, 0])
    rise_y = hy * (nx * R_a[0, 1] + ny * R_a[1, 1] + nz * R_a[2, 1])
    rise_z = hz * (nx * R_a[0, 2] + ny * R_a[1, 2] + nz * R_a[2, 2])
    height = _height(R_b, p_b, p_a[0], p_a[1], p_a[2])
    if height - abs(rise_x) - abs(rise_y) - abs(rise_z) > margin:
        return 0
    count = NO_POINTS
    for vertex in range(8):
        sx = 1.0 if vertex & 1 else -1.0
        sy = 1.0 if vertex & 2 else -1.0
        sz = 1.0 if vertex & 4 else -1.0
        gap = height + sx * rise_x + sy * rise_y + sz * rise_z
        if gap <= margin:
            x, y, z = sx * hx, sy * hy, sz * hz
            count = _touch(
                count,
                p_a[0] + R_a[0, 0] * x + R_a[0, 1] * y + R_a[0, 2] * z,
                p_a[1] + R_a[1, 0] * x + R_a[1, 1] * y + R_a[1, 2] * z,
                p_a[2] + R_a[2, 0] * x + R_a[2, 1] * y + R_a[2, 2] * z,
                gap, margin, vertex, R_b, out,
            )  # fmt: skip
    return count


@inner_kernel
def capsule_on_plane(size_a, R_a, p_a, R_b, p_b, margin, out):
    """Write the ends of a capsule that are within margin of a half-space; return how many."""
    radius = size_a[0]
    count = NO_POINTS
    for end in range(2):
        along = size_a[1] if end else -size_a[1]
        x = p_a[0] + along * R_a[0, 2]
        y = p_a[1] + along * R_a[1, 2]
        z = p_a[2] + along * R_a[2, 2]
        count = _touch(
            count, x - radius * R_b[0, 2], y - radius * R_b[1, 2], z - radius * R_b[2, 2],
            _height(R_b, p_b, x, y, z) - radius, margin, END + end,
            R_b, out,
        )  # fmt: skip
    return count


@inner_kernel
def cylinder_on_plane(size_a, R_a, p_a, R_b, p_b, margin, out):
    """Write the rim points of a cylinder that are within margin of a half-space; return how many.

    Each cap gives its deepest point, which follows the tilt, so that a cylinder rolls on its side
    or on its rim; a cap that faces the plane also gives four points fixed to the cylinder, which
    stay while it stands.
    """
    radius, half = size_a[0], size_a[1]
    ax, ay, az = R_a[0, 2], R_a[1, 2], R_a[2, 2]
    nx, ny, nz = R_b[0, 2], R_b[1, 2], R_b[2, 2]
    cosine = nx * ax + ny * ay + nz * az
    dx, dy, dz = cosine * ax - nx, cosine * ay - ny, cosine * az - nz
    sine = math.sqrt(dx * dx + dy * dy + dz * dz)
    height = _height(R_b, p_b, p_a[0], p_a[1], p_a[2])
    count = NO_POINTS
    if sine > MEANINGFUL_SINE:
        reach = radius / sine
        for end in range(2):
            along = half if end else -half
            count = _touch(
                count,
                p_a[0] + along * ax + reach * dx,
                p_a[1] + along * ay + reach * dy,
                p_a[2] + along * az + reach * dz,
                height + along * cosine - radius * sine, margin, END + end,
                R_b, out,
            )  # fmt: skip
    if abs(cosine) > FACING_COSINE:
        cap = 0 if cosine > 0.0 else 1
        along = half if cap else -half
        for k in range(4):
            column = k % 2
            reach = radius if k < 2 else -radius
            ux, uy, uz = R_a[0, column], R_a[1, column], R_a[2, column]
            count = _touch(
                count,
                p_a[0] + along * ax + reach * ux,
                p_a[1] + along * ay + reach * uy,
                p_a[2] + along * az + reach * uz,
                height + along * cosine + reach * (nx * ux + ny * uy + nz * uz), margin,
                4 * cap + k, R_b, out,
            )  # fmt: skip
    return count
