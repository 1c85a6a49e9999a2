# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of boxes, capsules and cylinders with one another.

Every pair takes the same steps: guess the normal, write the overlap of the features that meet along
it, and where that misses the nearest points, find the normal by iteration and write it anew.
"""

from __future__ import annotations

from hrpsim.collision.primitives.box_axes import box_axis
from hrpsim.collision.primitives.box_face import facing_axis
from hrpsim.collision.primitives.contact_row import NO_POINTS
from hrpsim.collision.primitives.convex_axis import refine_axis
from hrpsim.collision.primitives.cylinder_cap import (
    FACING_COSINE,
    cap_cosine,
    cap_on_cap,
    cap_on_face,
    line_on_cap,
)
from hrpsim.collision.primitives.face_on_face import face_on_face
from hrpsim.collision.primitives.generatrix import (
    MEANINGFUL_SINE,
    generatrix,
    line_on_face,
    line_on_line,
)
from hrpsim.collision.primitives.nearest_point import (
    ROUNDING,
    TOLERANCE,
    bound_gaps,
    certified,
    keep_distinct,
    write_nearest,
)
from hrpsim.collision.primitives.round_axes import round_axis
from hrpsim.collision.primitives.support import extent_sum, radial_direction
from hrpsim.jit.compiled import inner_kernel
from hrpsim.model.shapes.geometry import BOX, CAPSULE, CYLINDER


@inner_kernel
def _rounding(kind, size):
    """Return how far the surface lies outside the core [m]."""
    return size[0] if kind == CAPSULE else 0.0


@inner_kernel
def _faces(kind, R, nx, ny, nz):
    """Return whether the shape has a cap that faces along n or against it."""
    return kind == CYLINDER and abs(cap_cosine(R, nx, ny, nz)) > FACING_COSINE


@inner_kernel
def _below_points(size, R, nx, ny, nz, reach):
    """Return how far a nearly level cap may lie below its contacts with a shape of extent `reach`.

    The generatrix that holds its deepest point is left out; a rim that overhangs is at most twice
    as far below.
    """
    _, _, _, sine = radial_direction(R, nx, ny, nz)
    return 2.0 * sine * min(size[0], reach)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _features_along(
    kind_a, size_a, R_a, p_a, kind_b, size_b, R_b, p_b, tx, ty, tz, nx, ny, nz, margin, reach, out,
):  # fmt: skip
    """Write the overlap of the features of a and b that meet along n.

    Returns how many contacts, and how far a cap reaches below them [m], where its tilt is too small
    to tell the direction of the deepest point. `reach` is the extent of the smaller shape [m].
    """
    count = NO_POINTS
    below = 0.0
    if kind_a == BOX:
        count = face_on_face(
            size_a, R_a, size_b, R_b, p_b, tx, ty, tz, nx, ny, nz, margin, out,
        )  # fmt: skip
        return count, below
    cap_a = _faces(kind_a, R_a, nx, ny, nz)
    line_a, ax, ay, az, fx, fy, fz = generatrix(kind_a, size_a, R_a, tx, ty, tz, -nx, -ny, -nz)
    if kind_b == BOX:
        if line_a:
            count = line_on_face(
                count, ax, ay, az, fx, fy, fz, size_b, R_b, p_b, nx, ny, nz, margin, out,
            )  # fmt: skip
        if cap_a:
            count = cap_on_face(
                count, size_a, R_a, size_b, R_b, p_b, tx, ty, tz, nx, ny, nz, margin, out,
            )  # fmt: skip
            if not line_a:
                below = _below_points(size_a, R_a, nx, ny, nz, reach)
                # The same where n is the cap's normal and the face leans, if it is as level.
                axis, _ = facing_axis(R_b, nx, ny, nz)
                x, y, z = R_b[0, axis], R_b[1, axis], R_b[2, axis]
                other = _below_points(size_a, R_a, x, y, z, reach)
                if other < 2.0 * MEANINGFUL_SINE * min(size_a[0], reach):
                    below = max(below, other)
        return count, below
    cap_b = _faces(kind_b, R_b, nx, ny, nz)
    line_b, bx, by, bz, gx, gy, gz = generatrix(kind_b, size_b, R_b, 0.0, 0.0, 0.0, nx, ny, nz)
    if cap_b and line_a:
        count = line_on_cap(
            count, ax, ay, az, fx, fy, fz, size_b, R_b, p_b, 1.0, nx, ny, nz, margin, out,
        )  # fmt: skip
    if cap_a and line_b:
        count = line_on_cap(
            count, bx - tx, by - ty, bz - tz, gx, gy, gz, size_a, R_a, p_a, -1.0,
            -nx, -ny, -nz, margin, out,
        )  # fmt: skip
    if cap_a and cap_b:
        count = cap_on_cap(
            count, size_a, R_a, p_a, size_b, R_b, p_b, tx, ty, tz, nx, ny, nz, margin, out,
        )  # fmt: skip
    if not cap_a and not cap_b and line_a and line_b:
        count = line_on_line(
            count, ax, ay, az, fx, fy, fz, bx, by, bz, gx, gy, gz, size_a[0] + size_b[0], p_b,
            nx, ny, nz, margin, out,
        )  # fmt: skip
    if cap_a and not line_a:
        below += _below_points(size_a, R_a, nx, ny, nz, reach)
    if cap_b and not line_b:
        below += _below_points(size_b, R_b, nx, ny, nz, reach)
    return count, below


@inner_kernel  # many parameters: two shapes, each by kind, size, rotation and place
def convex_on_convex(
    kind_a, size_a, R_a, p_a, kind_b, size_b, R_b, p_b, margin, out,
):  # fmt: skip
    """Write the contacts of a box, capsule or cylinder (a) with one of equal or lower kind (b).

    Returns how many.
    """
    tx, ty, tz = p_a[0] - p_b[0], p_a[1] - p_b[1], p_a[2] - p_b[2]
    extent_a, extent_b = extent_sum(size_a), extent_sum(size_b)
    size = min(extent_a, extent_b)
    tolerance = TOLERANCE * size + ROUNDING * max(extent_a, extent_b)
    rounding_a = _rounding(kind_a, size_a)
    rounding = rounding_a + _rounding(kind_b, size_b)
    if kind_a == BOX and extent_a > extent_b:
        # Of faces that lie on each other the larger one's normal leans least while they settle.
        nx, ny, nz, core = box_axis(size_b, R_b, size_a, R_a, -tx, -ty, -tz, margin)
        nx, ny, nz = -nx, -ny, -nz
    elif kind_a == BOX:
        nx, ny, nz, core = box_axis(size_a, R_a, size_b, R_b, tx, ty, tz, margin)
    else:
        nx, ny, nz, core = round_axis(kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz)
    for refined in range(2):
        separation = core - rounding
        if separation > margin:
            return NO_POINTS
        count, below = _features_along(
            kind_a, size_a, R_a, p_a, kind_b, size_b, R_b, p_b, tx, ty, tz, nx, ny, nz, margin,
            size, out,
        )  # fmt: skip
        if kind_a == BOX and separation <= 0.0 and count > 0:
            # The axis test is complete for boxes in overlap, and its bias is meant.
            return count
        if refined:
            count = keep_distinct(count, size, out)
        nearest_included = certified(count, out.gap, separation, tolerance + below)
        bound_gaps(count, separation, out)
        if nearest_included:
            return count
        if refined:
            break
        nx, ny, nz, core, ax, ay, az = refine_axis(
            kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz, core, out.point
        )
    return write_nearest(
        count, ax, ay, az, p_b, nx, ny, nz, core - rounding, rounding_a, size, out,
    )  # fmt: skip
