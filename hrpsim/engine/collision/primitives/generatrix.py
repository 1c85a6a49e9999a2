# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of the generatrices of capsules and cylinders: with a box face, with one another.

The generatrix of a round shape is the line on its surface that is parallel to its axis and faces
the other shape. The line is given by its middle m and its half vector h (from the middle to the end
at positive z), six numbers relative to the centre of b.

Functions that add contacts take `count`, the number of contacts before, and return the number
after. n is the unit vector from b to a.
"""

import math

from hrpsim.engine.collision.primitives.box_face import (
    clip_to_face,
    face_edge,
    face_tolerance,
    facing_axis,
)
from hrpsim.engine.collision.primitives.contact_row import (
    END,
    MAX_POINTS,
    RIM_TOLERANCE,
    SURFACE,
    clamp,
    project_direction,
    project_point,
    write_contact,
    write_over_plane,
)
from hrpsim.engine.collision.primitives.support import radial_direction
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Manifold, Mat3, Metres, Vec3
from hrpsim.model.shapes.geometry import CAPSULE

# Sine between a cap's normal and the contact normal below which the cap's rim has no nearest point.
MEANINGFUL_SINE = 1e-5

# Generatrices at a smaller sine than this share two contacts.
_NEARLY_PARALLEL = 0.1


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def generatrix(
    kind: int, size: Vec3, R: Mat3, cx: float, cy: float, cz: float, ox: float, oy: float, oz: float
) -> tuple[bool, float, float, float, float, float, float]:
    """Find the line on the surface of a capsule or cylinder that faces the unit direction o.

    cx, cy, cz: centre of the shape relative to the centre of b [m]. ox, oy, oz: unit direction.

    Returns:
        (whether there is such a line, mx, my, mz, hx, hy, hz): middle m relative to the centre of
        b, and half vector h [m]. A cylinder whose cap faces o has no such line.
    """
    hx, hy, hz = size[1] * R[0, 2], size[1] * R[1, 2], size[1] * R[2, 2]
    reach = size[0]
    if kind != CAPSULE:
        ox, oy, oz, sine = radial_direction(R, ox, oy, oz)
        if sine < MEANINGFUL_SINE:
            return False, cx, cy, cz, hx, hy, hz
    return True, cx + reach * ox, cy + reach * oy, cz + reach * oz, hx, hy, hz


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def gap_moved(
    gap: float, rate: float, along: float, X: float, Y: float, moved_X: float, moved_Y: float,
    dX: float, dY: float,
) -> float:  # fmt: skip
    """Return the gap at a point of a line after the point is moved along the line to a rim [m].

    Args:
        gap: gap at the line's start [m].
        rate: change of the gap from the start to the end of the line [m].
        along: position of the point, 0 at the start, 1 at the end.
        X: plane coordinate X of the point [m].
        Y: plane coordinate Y of the point [m].
        moved_X: coordinate X of the moved point [m].
        moved_Y: coordinate Y of the moved point [m].
        dX: extent of the line along X [m].
        dY: extent of the line along Y [m].
    """
    squared = dX * dX + dY * dY
    if squared > 0.0 and (X != moved_X or Y != moved_Y):
        change = ((moved_X - X) * dX + (moved_Y - Y) * dY) / squared
        along = min(max(along + change, 0.0), 1.0)
    return gap + along * rate


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def line_on_face(
    count: int, mx: float, my: float, mz: float, hx: float, hy: float, hz: float, size_b: Vec3,
    R_b: Mat3, p_b: Vec3, nx: float, ny: float, nz: float, margin: Metres, out: Manifold,
) -> int:  # fmt: skip
    """Add the ends of the part of a's generatrix that lies over the face of box b toward a."""
    axis, cosine = facing_axis(R_b, nx, ny, nz)
    half = math.sqrt(hx * hx + hy * hy + hz * hz)
    half_u, half_v = size_b[(axis + 1) % 3], size_b[(axis + 2) % 3]
    X, Y, gap = project_point(
        mx - hx, my - hy, mz - hz, axis, cosine, size_b[axis], R_b, nx, ny, nz
    )
    dX, dY, rate = project_direction(2.0 * hx, 2.0 * hy, 2.0 * hz, axis, cosine, R_b, nx, ny, nz)
    some, start, start_side, end, end_side = clip_to_face(
        X, Y, dX, dY, half_u, half_v, face_tolerance(axis, size_b, half)
    )
    if not some:
        return count
    for leaving in range(2):
        along, side = (start, start_side) if leaving == 0 else (end, end_side)
        if side >= 0:
            code_a, code_b = SURFACE, face_edge(axis, cosine, side)
        else:
            code_a, code_b = END + leaving, SURFACE
        x, y = X + along * dX, Y + along * dY
        on_x, on_y = clamp(x, half_u), clamp(y, half_v)
        count = write_over_plane(
            count, on_x, on_y, gap_moved(gap, rate, along, x, y, on_x, on_y, dX, dY),
            code_a, code_b, axis, cosine, size_b[axis], R_b, p_b, 1.0, nx, ny, nz, margin, out,
        )  # fmt: skip
    return count


@inlined_kernel
def _end_codes(end: int, ends_a: bool, are_alike: bool) -> tuple[int, int]:
    """Return the feature codes of a and b at an end (0 or 1) of the overlap of two lines.

    ends_a: whether the overlap ends at the end of line a, rather than of line b.
    are_alike: whether both lines have the same direction.
    """
    if ends_a:
        return END + end, SURFACE
    return SURFACE, END + end if are_alike else END + 1 - end


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def line_on_line(
    count: int, ax: float, ay: float, az: float, fx: float, fy: float, fz: float, bx: float,
    by: float, bz: float, gx: float, gy: float, gz: float, curvature_radius: float, p_b: Vec3,
    nx: float, ny: float, nz: float, margin: Metres, out: Manifold,
) -> int:  # fmt: skip
    """Add the contacts at both ends of the overlap of two nearly parallel generatrices.

    The middles of the lines are a and b, the half vectors are f and g [m]. `curvature_radius` is
    the sum of the radii [m]. If the lines are offset sideways, the gap accounts for the curvature.
    """
    half_a = math.sqrt(fx * fx + fy * fy + fz * fz)
    half_b = math.sqrt(gx * gx + gy * gy + gz * gz)
    ux, uy, uz = fx / half_a, fy / half_a, fz / half_a
    cosine = (ux * gx + uy * gy + uz * gz) / half_b
    if cosine * cosine < 1.0 - _NEARLY_PARALLEL * _NEARLY_PARALLEL:
        return count
    if abs(ux * nx + uy * ny + uz * nz) > _NEARLY_PARALLEL:
        return count  # End to end, not side by side.
    middle_b = (bx - ax) * ux + (by - ay) * uy + (bz - az) * uz
    reach_b = half_b * abs(cosine)
    tolerance = RIM_TOLERANCE * min(half_a, half_b)
    for end in range(2):
        sign = 1.0 if end == 1 else -1.0
        # Positions along the axis of a, counted outward on this side.
        end_a = half_a
        end_b = sign * middle_b + reach_b
        inner = min(end_a, end_b)
        if inner < -half_a - tolerance or inner < sign * middle_b - reach_b - tolerance:
            return count
        code_a, code_b = _end_codes(end, end_a <= end_b + tolerance, cosine > 0.0)
        s = clamp(sign * inner, half_a)
        t = clamp((s - middle_b) / cosine, half_b) / half_b
        x, y, z = ax + s * ux, ay + s * uy, az + s * uz
        wx, wy, wz = x - (bx + t * gx), y - (by + t * gy), z - (bz + t * gz)
        along = wx * nx + wy * ny + wz * nz
        aside = max(wx * wx + wy * wy + wz * wz - along * along, 0.0)
        centers = along + curvature_radius
        gap = along
        if centers > 0.0:
            gap = math.sqrt(centers * centers + aside) - curvature_radius
        if gap <= margin and count < MAX_POINTS:
            count = write_contact(
                count,
                p_b[0] + (x - 0.5 * wx), p_b[1] + (y - 0.5 * wy), p_b[2] + (z - 0.5 * wz),
                nx, ny, nz, gap, code_a, code_b, out,
            )  # fmt: skip
    return count
