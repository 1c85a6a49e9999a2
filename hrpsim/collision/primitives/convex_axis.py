# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The separation axis of two convex cores: the normal along which their gap is largest.

Apart, that is the direction between their nearest points, found by the distance iteration of
Gilbert, Johnson and Keerthi (1988). Cylinders that overlap or nearly touch are first shrunk until
they are apart, and the direction is then polished on the true shapes.
"""

from __future__ import annotations

import math

from hrpsim.collision.primitives.axis_segments import nearest_on_axes
from hrpsim.collision.primitives.contact_row import NO_POINTS
from hrpsim.collision.primitives.cylinder_axis import contact_point, polish_axis
from hrpsim.collision.primitives.simplex import nearest_weights
from hrpsim.collision.primitives.support import core_reach, extent_sum, support
from hrpsim.jit.compiled import inner_kernel
from hrpsim.model.shapes.geometry import CAPSULE, CYLINDER

_MAX_VERTICES = 60

# Relative error of the distance at which the iteration ends, without and with a polish to follow.
_EXACT = 4e-16
_ROUGH = 1e-7

# Cylinders nearer than this part of the smaller shape are shrunk before their direction is taken.
_CLEARANCE = 1e-3


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def separation_along(kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz):
    """Return the separation of two cores along the unit vector n from b to a [m]."""
    reach_a = core_reach(kind_a, size_a, R_a, nx, ny, nz)
    return tx * nx + ty * ny + tz * nz - reach_a - core_reach(kind_b, size_b, R_b, nx, ny, nz)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _nearest_direction(
    kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz, shrink, tolerance, scratch
):
    """Return the unit vector from b to a between the nearest points, the point on a, the distance.

    The cores, shrunk by `shrink` [m], must be apart along the first guess n. `tolerance` is the
    relative error of the distance to end at. `scratch` (8, 3) holds the simplex of the difference
    of the cores in its first four rows, and their points on a in the others.
    """
    count = NO_POINTS
    squared = math.inf
    ax = ay = az = 0.0
    for _ in range(_MAX_VERTICES):
        px, py, pz = support(kind_a, size_a, R_a, shrink, -nx, -ny, -nz)
        qx, qy, qz = support(kind_b, size_b, R_b, shrink, nx, ny, nz)
        px, py, pz = px + tx, py + ty, pz + tz
        wx, wy, wz = px - qx, py - qy, pz - qz
        if count > 0:
            distance = math.sqrt(squared)
            if distance - (nx * wx + ny * wy + nz * wz) <= tolerance * distance:
                break
        scratch[count, 0], scratch[count, 1], scratch[count, 2] = wx, wy, wz
        scratch[4 + count, 0], scratch[4 + count, 1], scratch[4 + count, 2] = px, py, pz
        w0, w1, w2, w3, nearer = nearest_weights(scratch, count + 1)
        if not nearer < squared:
            break
        squared = nearer
        vx = vy = vz = 0.0
        ax = ay = az = 0.0
        kept = NO_POINTS
        for k in range(count + 1):
            weight = w0 if k == 0 else (w1 if k == 1 else (w2 if k == 2 else w3))
            if weight > 0.0:
                for column in range(3):
                    scratch[kept, column] = scratch[k, column]
                    scratch[4 + kept, column] = scratch[4 + k, column]
                vx += weight * scratch[kept, 0]
                vy += weight * scratch[kept, 1]
                vz += weight * scratch[kept, 2]
                ax += weight * scratch[4 + kept, 0]
                ay += weight * scratch[4 + kept, 1]
                az += weight * scratch[4 + kept, 2]
                kept += 1
        count = kept
        norm = math.sqrt(vx * vx + vy * vy + vz * vz)
        if norm == 0.0 or count > 3:
            break
        nx, ny, nz = vx / norm, vy / norm, vz / norm
    return nx, ny, nz, ax, ay, az, math.sqrt(squared)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def refine_axis(
    kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz, separation, scratch
):  # fmt: skip
    """Return (nx, ny, nz, separation, ax, ay, az) of the best axis reached from the guess n.

    `separation` is that along the guess, which stays where nothing better is found. t is the centre
    of a relative to that of b; (ax, ay, az) is the point of core a in contact, relative to the
    centre of b [m]. Without a cylinder the cores must be apart; a cylinder must be a, or both.
    `scratch` is a work array (8, 3).
    """
    if kind_a == CAPSULE and kind_b == CAPSULE:
        s, _ = nearest_on_axes(R_a, size_a[1], R_b, size_b[1], tx, ty, tz)
        return nx, ny, nz, separation, tx + s * R_a[0, 2], ty + s * R_a[1, 2], tz + s * R_a[2, 2]
    if kind_a != CYLINDER:
        mx, my, mz, ax, ay, az, distance = _nearest_direction(
            kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz, 0.0, _EXACT, scratch
        )
        better = separation_along(kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, mx, my, mz)
        apart = separation > 0.0
        if better > separation:
            nx, ny, nz, separation = mx, my, mz, better
        if apart:
            # Rounding turns the direction between near points of large shapes: the distance holds.
            separation = max(separation, distance)
        return nx, ny, nz, separation, ax, ay, az
    clearance = _CLEARANCE * min(extent_sum(size_a), extent_sum(size_b))
    shrink = max(clearance - separation, 0.0)
    if kind_b != CAPSULE:
        shrink *= 0.5
    mx, my, mz, _, _, _, _ = _nearest_direction(
        kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz, shrink, _ROUGH, scratch
    )
    mx, my, mz, better = polish_axis(size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, mx, my, mz)
    if better < separation:
        mx, my, mz, better = polish_axis(size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz)
    if better > separation:
        nx, ny, nz, separation = mx, my, mz, better
    ax, ay, az = contact_point(size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz)
    return nx, ny, nz, separation, ax, ay, az
