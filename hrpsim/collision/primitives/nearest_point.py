# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Whether a clipped manifold holds the nearest points of the shapes, and their contact if not."""

from __future__ import annotations

from hrpsim.collision.primitives.contact_row import (
    FEATURES,
    MAX_POINTS,
    NEAREST,
    NO_POINTS,
    write_contact,
)
from hrpsim.jit.compiled import inner_kernel

# Part of the smaller shape's size by which a manifold's smallest gap may exceed the separation, and
# the part of the larger one's that rounding errors reach.
TOLERANCE = 1e-10
ROUNDING = 1e-14

# Part of the smaller shape's size within which two contacts are one.
_COINCIDENT = 1e-4


@inner_kernel
def certified(count, gap, separation, tolerance):
    """Return whether one of the `count` contacts attains the separation to within `tolerance`.

    The separation along any axis bounds the true gap from below, and the gap between two surface
    points bounds it from above: where they meet, axis and contacts are the true ones.
    """
    for k in range(count):
        if abs(gap[k] - separation) <= tolerance:
            return True
    return False


@inner_kernel
def bound_gaps(count, separation, out):
    """Raise gaps to the separation: a feature that just misses the other one may fall below it."""
    for k in range(count):
        out.gap[k] = max(out.gap[k], separation)


@inner_kernel
def keep_distinct(count, size, out):
    """Drop contacts that nearly coincide with an earlier one; return how many stay.

    A vertex that touches a vertex or an edge lies on several features at once.
    """
    kept = NO_POINTS
    reach = _COINCIDENT * size
    for k in range(count):
        x, y, z = out.point[k, 0], out.point[k, 1], out.point[k, 2]
        distinct = True
        for other in range(kept):
            away = max(
                abs(x - out.point[other, 0]),
                abs(y - out.point[other, 1]),
                abs(z - out.point[other, 2]),
            )
            if away < reach:
                distinct = False
        if distinct:
            kept = write_contact(
                kept, x, y, z, out.normal[k, 0], out.normal[k, 1], out.normal[k, 2],
                out.gap[k], out.feature[k] // FEATURES, out.feature[k] % FEATURES, out,
            )  # fmt: skip
    return kept


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def write_nearest(
    count, ax, ay, az, p_b, nx, ny, nz, separation, radius_a, size, out,
):  # fmt: skip
    """Add the contact at point a of core a (relative to p_b), inside the surface by `radius_a`.

    `separation` is the gap of the surfaces. A contact that is there already is made exact instead,
    and a full manifold gives up its last one.
    """
    inward = radius_a + 0.5 * separation
    x = p_b[0] + (ax - inward * nx)
    y = p_b[1] + (ay - inward * ny)
    z = p_b[2] + (az - inward * nz)
    reach = _COINCIDENT * size
    for k in range(count):
        away = max(abs(x - out.point[k, 0]), abs(y - out.point[k, 1]), abs(z - out.point[k, 2]))
        if away < reach:
            write_contact(
                k, x, y, z, nx, ny, nz, separation,
                out.feature[k] // FEATURES, out.feature[k] % FEATURES, out,
            )  # fmt: skip
            return count
    return write_contact(
        min(count, MAX_POINTS - 1), x, y, z, nx, ny, nz, separation, NEAREST, NEAREST, out,
    )  # fmt: skip
