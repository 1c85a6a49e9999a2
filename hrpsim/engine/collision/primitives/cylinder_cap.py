# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts on the cap of a cylinder: a generatrix, another cap, and the cap itself on a box face.

A cap that bears contacts is the plane of hrpsim.engine.collision.primitives.contact_row,
perpendicular to the cylinder's z axis. The plane's coordinates X, Y run along the cylinder's own x
and y axes. Every cylinder has four fixed points on each rim. They turn with the cylinder.

Functions that add contacts take `count`, the number of contacts before, and return the number
after. n is the unit vector from b to a, and t is the centre of a relative to the centre of b [m].
"""

import math

from hrpsim.engine.collision.primitives.box_face import (
    face_edge,
    face_tolerance,
    face_vertex,
    facing_axis,
)
from hrpsim.engine.collision.primitives.contact_row import (
    CROSSING,
    END,
    RIM_TOLERANCE,
    SURFACE,
    Z_AXIS,
    clamp,
    project_direction,
    project_point,
    write_over_plane,
)
from hrpsim.engine.collision.primitives.generatrix import gap_moved
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Manifold, Mat3, Metres, Vec3

# A cap takes part in contacts when it faces the normal to within 45 degrees.
FACING_COSINE = 0.7

_NEWTON_STEPS = 5


@inner_kernel
def cap_cosine(R: Mat3, ox: float, oy: float, oz: float) -> float:
    """Return the cosine between a unit direction o and the axis (z axis of R) of a cylinder."""
    return ox * R[0, 2] + oy * R[1, 2] + oz * R[2, 2]


@inner_kernel
def _into_disc(X: float, Y: float, radius: float) -> tuple[float, float]:
    """Return the point of the disc about the origin that is nearest to X, Y."""
    squared = X * X + Y * Y
    if squared > radius * radius:
        scale = radius / math.sqrt(squared)
        return scale * X, scale * Y
    return X, Y


@inlined_kernel
def _clip_to_disc(
    X: float, Y: float, dX: float, dY: float, radius: Metres, wide: Metres
) -> tuple[bool, float, bool, float, bool]:
    """Clip the line from (X, Y) to (X + dX, Y + dY) to a disc about the origin.

    Ends within the radius `wide` stay in place. Other ends move onto the circle of radius `radius`.

    Returns:
        (whether the line passes within `wide`, fraction of the line at the part's start, whether
        the start stayed, fraction at the part's end, whether the end stayed).
    """
    squared = dX * dX + dY * dY
    starts_inside = X * X + Y * Y <= wide * wide
    ends_inside = (X + dX) * (X + dX) + (Y + dY) * (Y + dY) <= wide * wide
    start, end = 0.0, 1.0
    if not (starts_inside and ends_inside):
        if squared == 0.0:
            return False, start, False, end, False
        middle = -(X * dX + Y * dY) / squared
        miss_X, miss_Y = X + middle * dX, Y + middle * dY
        miss = miss_X * miss_X + miss_Y * miss_Y
        if miss > wide * wide:
            return False, start, False, end, False
        reach = math.sqrt((wide * wide - miss) / squared)
        if middle - reach > 1.0 or middle + reach < 0.0:
            return False, start, False, end, False
        reach = math.sqrt(max(radius * radius - miss, 0.0) / squared)
        if not starts_inside:
            start = min(max(middle - reach, 0.0), 1.0)
        if not ends_inside:
            end = min(max(middle + reach, 0.0), 1.0)
    return True, start, starts_inside, end, ends_inside


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def line_on_cap(
    count: int, mx: float, my: float, mz: float, hx: float, hy: float, hz: float, size: Vec3,
    R: Mat3, p: Vec3, sign: float, nx: float, ny: float, nz: float, margin: Metres, out: Manifold,
) -> int:  # fmt: skip
    """Add the contacts at both ends of the part of a line that lies over a cylinder's cap.

    mx, my, mz: middle of the line, relative to the cylinder's centre p [m]. hx, hy, hz: half vector
    of the line [m]. sign: +1 if the cylinder is b, -1 if the cylinder is a. nx, ny, nz: unit vector
    from the cylinder to the other shape.
    """
    radius = size[0]
    wide = radius * (1.0 + RIM_TOLERANCE)
    cosine = cap_cosine(R, nx, ny, nz)
    X, Y, gap = project_point(mx - hx, my - hy, mz - hz, Z_AXIS, cosine, size[1], R, nx, ny, nz)
    dX, dY, rate = project_direction(2.0 * hx, 2.0 * hy, 2.0 * hz, Z_AXIS, cosine, R, nx, ny, nz)
    some, start, starts_inside, end, ends_inside = _clip_to_disc(X, Y, dX, dY, radius, wide)
    if not some:
        return count
    for leaving in range(2):
        if leaving == 0:
            along, inside = start, starts_inside
        else:
            along, inside = end, ends_inside
        if inside:
            code_line, code_cap = END + leaving, SURFACE
        else:
            code_line, code_cap = SURFACE, CROSSING + leaving
        x, y = X + along * dX, Y + along * dY
        on_x, on_y = _into_disc(x, y, radius)
        count = write_over_plane(
            count, on_x, on_y, gap_moved(gap, rate, along, x, y, on_x, on_y, dX, dY),
            code_line, code_cap, Z_AXIS, cosine, size[1], R, p, sign, nx, ny, nz, margin, out,
        )  # fmt: skip
    return count


@inner_kernel
def _rim_point(k: Index) -> tuple[float, float]:
    """Return the cosine and sine of the angle of fixed rim point k (0..3)."""
    sign = 1.0 if k < 2 else -1.0
    if k % 2 == 0:
        return sign, 0.0
    return 0.0, sign


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _rim_points_on_cap(
    count: int, size_a: Vec3, R_a: Mat3, ax: float, ay: float, az: float, size_b: Vec3, R_b: Mat3,
    p_b: Vec3, reach: float, sign: float, nx: float, ny: float, nz: float, margin: Metres,
    out: Manifold,
) -> int:  # fmt: skip
    """Add the fixed rim points of cylinder a that lie within `reach` of the axis of b's cap [m].

    No point is added unless the whole rim is within the margin. ax, ay, az: centre of a relative to
    the centre of b [m]. sign: +1 if the cylinder called b here is shape b, else -1.
    """
    cosine_a = cap_cosine(R_a, -nx, -ny, -nz)
    cosine_b = cap_cosine(R_b, nx, ny, nz)
    height = size_a[1] if cosine_a > 0.0 else -size_a[1]
    highest = _highest_on_rim(
        height, size_a[0], R_a, ax, ay, az, cosine_b, size_b[1], R_b, nx, ny, nz
    )
    if highest > margin:
        return count
    for k in range(4):
        u, v = _rim_point(k)
        u, v = size_a[0] * u, size_a[0] * v
        X, Y, gap = project_point(
            ax + height * R_a[0, 2] + u * R_a[0, 0] + v * R_a[0, 1],
            ay + height * R_a[1, 2] + u * R_a[1, 0] + v * R_a[1, 1],
            az + height * R_a[2, 2] + u * R_a[2, 0] + v * R_a[2, 1],
            Z_AXIS, cosine_b, size_b[1], R_b, nx, ny, nz,
        )  # fmt: skip
        if X * X + Y * Y <= reach * reach:
            X, Y = _into_disc(X, Y, size_b[0])
            code = k + 4 if cosine_a > 0.0 else k
            count = write_over_plane(
                count, X, Y, gap, code, SURFACE, Z_AXIS, cosine_b, size_b[1], R_b, p_b, sign,
                nx, ny, nz, margin, out,
            )  # fmt: skip
    return count


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _highest_on_rim(
    height: float, radius: float, R_a: Mat3, ax: float, ay: float, az: float, cosine_b: float,
    half_b: float, R_b: Mat3, nx: float, ny: float, nz: float,
) -> float:  # fmt: skip
    """Return the largest gap between a rim of cylinder a and the plane of b's cap [m].

    height: position of the rim along the axis of a [m].
    """
    _, _, gap = project_point(
        ax + height * R_a[0, 2], ay + height * R_a[1, 2], az + height * R_a[2, 2],
        Z_AXIS, cosine_b, half_b, R_b, nx, ny, nz,
    )  # fmt: skip
    _, _, u = project_direction(R_a[0, 0], R_a[1, 0], R_a[2, 0], Z_AXIS, cosine_b, R_b, nx, ny, nz)
    _, _, v = project_direction(R_a[0, 1], R_a[1, 1], R_a[2, 1], Z_AXIS, cosine_b, R_b, nx, ny, nz)
    return gap + radius * math.sqrt(u * u + v * v)


@inner_kernel
def _in_units_of(
    Xu: float, Yu: float, Xv: float, Yv: float, X: float, Y: float
) -> tuple[float, float]:
    """Solve (X, Y) = c (Xu, Yu) + s (Xv, Yv) for c and s."""
    area = Xu * Yv - Yu * Xv
    return (X * Yv - Y * Xv) / area, (Xu * Y - Yu * X) / area


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _crossing_of_rims(
    X: float, Y: float, Xu: float, Yu: float, Xv: float, Yv: float, guess_X: float, guess_Y: float,
    radius: float,
) -> tuple[float, float]:  # fmt: skip
    """Return the cosine and sine of the point at which a projected rim crosses another cap's rim.

    The projected rim is the ellipse X + c Xu + s Xv (and the same for Y). The other rim is a circle
    about the origin. The guess is relative to X, Y. A few steps of Newton's method suffice, because
    caps that meet are nearly parallel. The caller checks the result.
    """
    c, s = _in_units_of(Xu, Yu, Xv, Yv, guess_X, guess_Y)
    angle = math.atan2(s, c)
    c, s = math.cos(angle), math.sin(angle)
    for _ in range(_NEWTON_STEPS):
        x, y = X + c * Xu + s * Xv, Y + c * Yu + s * Yv
        slope = 2.0 * (x * (c * Xv - s * Xu) + y * (c * Yv - s * Yu))
        if slope == 0.0:
            break
        angle -= clamp((x * x + y * y - radius * radius) / slope, 1.0)
        c, s = math.cos(angle), math.sin(angle)
    return c, s


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def cap_on_cap(
    count: int, size_a: Vec3, R_a: Mat3, p_a: Vec3, size_b: Vec3, R_b: Mat3, p_b: Vec3, tx: float,
    ty: float, tz: float, nx: float, ny: float, nz: float, margin: Metres, out: Manifold,
) -> int:  # fmt: skip
    """Add the corners of the overlap of the facing caps of two cylinders.

    The corners are the crossings of the rims, and the fixed rim points of each cap over the other.
    """
    cosine_a = cap_cosine(R_a, -nx, -ny, -nz)
    cosine_b = cap_cosine(R_b, nx, ny, nz)
    radius_a, radius_b = size_a[0], size_b[0]
    height = size_a[1] if cosine_a > 0.0 else -size_a[1]
    X, Y, gap = project_point(
        tx + height * R_a[0, 2], ty + height * R_a[1, 2], tz + height * R_a[2, 2],
        Z_AXIS, cosine_b, size_b[1], R_b, nx, ny, nz,
    )  # fmt: skip
    distance = math.sqrt(X * X + Y * Y)
    tolerance = RIM_TOLERANCE * min(radius_a, radius_b)
    if abs(radius_a - radius_b) + tolerance < distance < radius_a + radius_b - tolerance:
        Xu, Yu, gap_u = project_direction(
            radius_a * R_a[0, 0], radius_a * R_a[1, 0], radius_a * R_a[2, 0],
            Z_AXIS, cosine_b, R_b, nx, ny, nz,
        )  # fmt: skip
        Xv, Yv, gap_v = project_direction(
            radius_a * R_a[0, 1], radius_a * R_a[1, 1], radius_a * R_a[2, 1],
            Z_AXIS, cosine_b, R_b, nx, ny, nz,
        )  # fmt: skip
        # Where two circles of these radii cross, seen from the middle of cap b.
        along = (distance * distance + radius_b * radius_b - radius_a * radius_a) / (2.0 * distance)
        across = math.sqrt(max(radius_b * radius_b - along * along, 0.0))
        for k in range(2):
            offset = across if k == 1 else -across
            guess_X = (along * X - offset * Y) / distance - X
            guess_Y = (along * Y + offset * X) / distance - Y
            c, s = _crossing_of_rims(X, Y, Xu, Yu, Xv, Yv, guess_X, guess_Y, radius_b)
            cX, cY = X + c * Xu + s * Xv, Y + c * Yu + s * Yv
            if abs(math.sqrt(cX * cX + cY * cY) - radius_b) < tolerance:
                count = write_over_plane(
                    count, cX, cY, gap + c * gap_u + s * gap_v,
                    CROSSING + k, CROSSING + k, Z_AXIS, cosine_b, size_b[1], R_b, p_b, 1.0,
                    nx, ny, nz, margin, out,
                )  # fmt: skip
    count = _rim_points_on_cap(
        count, size_a, R_a, tx, ty, tz, size_b, R_b, p_b, radius_b + tolerance, 1.0,
        nx, ny, nz, margin, out,
    )  # fmt: skip
    return _rim_points_on_cap(
        count, size_b, R_b, -tx, -ty, -tz, size_a, R_a, p_a, radius_a - tolerance, -1.0,
        -nx, -ny, -nz, margin, out,
    )  # fmt: skip


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def cap_on_face(  # long: its parts share the rim's twelve numbers
    count: int, size_a: Vec3, R_a: Mat3, size_b: Vec3, R_b: Mat3, p_b: Vec3, tx: float, ty: float,
    tz: float, nx: float, ny: float, nz: float, margin: Metres, out: Manifold,
) -> int:  # fmt: skip
    """Add the corners of the overlap of cylinder a's facing cap and box b's facing face.

    The corners are crossings of the rim with the edges, and the box's vertices under the cap. If
    the whole rim is within the margin, the fixed rim points over the face are corners as well.
    Projected onto the face the rim is an ellipse, X = X0 + Xu cos + Xv sin, and the same for Y and
    for the gap.
    """
    cosine_a = cap_cosine(R_a, -nx, -ny, -nz)
    axis, cosine = facing_axis(R_b, nx, ny, nz)
    half_u, half_v = size_b[(axis + 1) % 3], size_b[(axis + 2) % 3]
    tolerance = face_tolerance(axis, size_b, size_a[0])
    height = size_a[1] if cosine_a > 0.0 else -size_a[1]
    r = size_a[0]
    X0, Y0, g0 = project_point(
        tx + height * R_a[0, 2], ty + height * R_a[1, 2], tz + height * R_a[2, 2],
        axis, cosine, size_b[axis], R_b, nx, ny, nz,
    )  # fmt: skip
    Xu, Yu, gu = project_direction(
        r * R_a[0, 0], r * R_a[1, 0], r * R_a[2, 0], axis, cosine, R_b, nx, ny, nz
    )
    Xv, Yv, gv = project_direction(
        r * R_a[0, 1], r * R_a[1, 1], r * R_a[2, 1], axis, cosine, R_b, nx, ny, nz
    )

    for side in range(4):
        if side < 2:
            middle, along_u, along_v, half, other_half = X0, Xu, Xv, half_u, half_v
        else:
            middle, along_u, along_v, half, other_half = Y0, Yu, Yv, half_v, half_u
        sign = 1.0 if side % 2 else -1.0
        width = math.sqrt(along_u * along_u + along_v * along_v)
        if abs(sign * (half + tolerance) - middle) >= width:
            continue
        phase = math.atan2(along_v, along_u)
        spread = math.acos(clamp((sign * half - middle) / width, 1.0))
        for k in range(2):
            angle = phase + spread if k == 1 else phase - spread
            c, s = math.cos(angle), math.sin(angle)
            X, Y = X0 + c * Xu + s * Xv, Y0 + c * Yu + s * Yv
            if abs(Y if side < 2 else X) <= other_half + tolerance:
                count = write_over_plane(
                    count, clamp(X, half_u), clamp(Y, half_v), g0 + c * gu + s * gv,
                    CROSSING + k, face_edge(axis, cosine, side),
                    axis, cosine, size_b[axis], R_b, p_b, 1.0, nx, ny, nz, margin, out,
                )  # fmt: skip

    for corner in range(4):
        sign_u = 1.0 if corner & 1 else -1.0
        sign_v = 1.0 if corner & 2 else -1.0
        X, Y = sign_u * half_u - X0, sign_v * half_v - Y0
        # Unless the rim crosses an edge within the tolerance of the vertex.
        c, s = _in_units_of(Xu, Yu, Xv, Yv, X + sign_u * tolerance, Y)
        other_c, other_s = _in_units_of(Xu, Yu, Xv, Yv, X, Y + sign_v * tolerance)
        if max(c * c + s * s, other_c * other_c + other_s * other_s) < 1.0:
            c, s = _in_units_of(Xu, Yu, Xv, Yv, X, Y)
            count = write_over_plane(
                count, sign_u * half_u, sign_v * half_v, g0 + c * gu + s * gv,
                SURFACE, face_vertex(axis, cosine, sign_u, sign_v),
                axis, cosine, size_b[axis], R_b, p_b, 1.0, nx, ny, nz, margin, out,
            )  # fmt: skip

    if g0 + math.sqrt(gu * gu + gv * gv) > margin:
        return count
    for k in range(4):
        c, s = _rim_point(k)
        X, Y = X0 + c * Xu + s * Xv, Y0 + c * Yu + s * Yv
        if abs(X) <= half_u + tolerance and abs(Y) <= half_v + tolerance:
            code = k + 4 if cosine_a > 0.0 else k
            count = write_over_plane(
                count, clamp(X, half_u), clamp(Y, half_v), g0 + c * gu + s * gv, code, SURFACE,
                axis, cosine, size_b[axis], R_b, p_b, 1.0, nx, ny, nz, margin, out,
            )  # fmt: skip
    return count
