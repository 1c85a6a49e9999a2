"""The separation axis of two convex cores: the normal along which their gap is largest.

Apart, that is the direction of their nearest points, found by the distance iteration of Gilbert,
Johnson and Keerthi (1988). In overlap, a is first moved out along the axis known so far. The
nearest points of the moved pair then give an axis of at least the same separation (the separation
is a concave function of n as long as |n| is free), so that repeating this climbs to a local best.
"""

from __future__ import annotations

import math

from hrpsim.collision.contact_row import NO_POINTS
from hrpsim.collision.inner_kernel import inner_kernel
from hrpsim.collision.simplex import nearest_weights
from hrpsim.collision.support import core_radius, support

_MAX_VERTICES = 60
_MAX_CLIMBS = 12

# Cores nearer than this part of their size are moved apart to it before their direction is taken.
_CLEARANCE = 1e-4


@inner_kernel
def separation_along(kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz):
    """Return the separation of two cores along the unit vector n from b to a [m]."""
    x, y, z = support(kind_a, size_a, R_a, -nx, -ny, -nz)
    bx, by, bz = support(kind_b, size_b, R_b, nx, ny, nz)
    return (tx + x - bx) * nx + (ty + y - by) * ny + (tz + z - bz) * nz


@inner_kernel
def _nearest_direction(kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz, scratch):
    """Return the unit vector from b to a between the nearest points, and the point on a.

    The cores must be apart along the first guess n. `scratch` (8, 3) holds the simplex of the
    difference of the cores in its first four rows, and their points on a in the others.
    """
    count = NO_POINTS
    squared = math.inf
    ax = ay = az = 0.0
    for _ in range(_MAX_VERTICES):
        px, py, pz = support(kind_a, size_a, R_a, -nx, -ny, -nz)
        qx, qy, qz = support(kind_b, size_b, R_b, nx, ny, nz)
        px, py, pz = px + tx, py + ty, pz + tz
        wx, wy, wz = px - qx, py - qy, pz - qz
        if count > 0:
            distance = math.sqrt(squared)
            if distance - (nx * wx + ny * wy + nz * wz) <= 4e-16 * distance:
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
    return nx, ny, nz, ax, ay, az


@inner_kernel
def refine_axis(kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz, scratch):
    """Return (nx, ny, nz, separation, ax, ay, az) of the best axis reached from the guess n.

    t is the centre of a relative to that of b; a is the point of core a in contact, relative to
    the centre of b [m]. `scratch` is a work array (8, 3).
    """
    clearance = _CLEARANCE * (core_radius(kind_a, size_a) + core_radius(kind_b, size_b))
    separation = separation_along(kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz)
    ax, ay, az = support(kind_a, size_a, R_a, -nx, -ny, -nz)
    ax, ay, az = ax + tx, ay + ty, az + tz
    for _ in range(_MAX_CLIMBS):
        shift = max(0.0, clearance - separation)
        sx, sy, sz = shift * nx, shift * ny, shift * nz
        mx, my, mz, px, py, pz = _nearest_direction(
            kind_a, size_a, R_a, kind_b, size_b, R_b, tx + sx, ty + sy, tz + sz,
            nx, ny, nz, scratch,
        )  # fmt: skip
        better = separation_along(kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, mx, my, mz)
        if better < separation:
            break
        turn = abs(mx - nx) + abs(my - ny) + abs(mz - nz)
        nx, ny, nz, separation = mx, my, mz, better
        ax, ay, az = px - sx, py - sy, pz - sz
        if shift == 0.0 or turn < 1e-9:
            break
    return nx, ny, nz, separation, ax, ay, az
