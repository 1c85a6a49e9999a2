# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of boxes, capsules and cylinders with one another.

Every pair takes the same steps. Guess the normal, and write the overlap of the features that meet
along the normal. If this overlap misses the nearest points, find the normal by iteration and write
the overlap again.

The axis of least overlap of two boxes follows the separating axis theorem (Gottschalk, Lin and
Manocha, OBBTree, SIGGRAPH 1996).

n is the unit vector from b to a. t is the centre of a relative to the centre of b [m]. The core of
a shape is its box or cylinder, or the axis of a capsule.
"""

import math

from hrpsim.engine.collision.primitives.box_face import face_on_face, facing_axis
from hrpsim.engine.collision.primitives.contact_row import (
    FEATURES,
    MAX_POINTS,
    NEAREST,
    NO_POINTS,
    write_contact,
)
from hrpsim.engine.collision.primitives.convex_axis import refine_axis
from hrpsim.engine.collision.primitives.cylinder_cap import (
    FACING_COSINE,
    cap_cosine,
    cap_on_cap,
    cap_on_face,
    line_on_cap,
)
from hrpsim.engine.collision.primitives.generatrix import (
    MEANINGFUL_SINE,
    generatrix,
    line_on_face,
    line_on_line,
)
from hrpsim.engine.collision.primitives.round_axes import round_axis
from hrpsim.engine.collision.primitives.support import extent_sum, radial_direction
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Manifold, Mat3, Metres, Vec3, Vector
from hrpsim.engine.spatial.vector import transposed_times
from hrpsim.model.shapes.geometry import BOX, CAPSULE, CYLINDER

# Part of the smaller shape's size by which a manifold's smallest gap may exceed the separation, and
# the part of the larger one's that rounding errors reach.
TOLERANCE = 1e-10
ROUNDING = 1e-14
# Part of the smaller shape's size within which two contacts are one.
_COINCIDENT = 1e-4
# While boxes overlap, an edge axis must beat the face axes by this part of the depth and of the
# smaller box's size: a box that rests on a face does not trade its normal for one nearly parallel.
_DEPTH_BIAS = 1e-3
_SIZE_BIAS = 1e-7
# Edges closer to parallel than this squared sine span no plane.
_PARALLEL = 1e-10


@inner_kernel
def _rounding(kind: int, size: Vec3) -> float:
    """Return the distance from the surface of a shape to its core [m]."""
    return size[0] if kind == CAPSULE else 0.0


@inner_kernel
def _faces(kind: int, R: Mat3, nx: float, ny: float, nz: float) -> bool:
    """Return whether the shape is a cylinder with a cap nearly perpendicular to n."""
    return kind == CYLINDER and abs(cap_cosine(R, nx, ny, nz)) > FACING_COSINE


@inner_kernel
def _below_points(size: Vec3, R: Mat3, nx: float, ny: float, nz: float, reach: float) -> float:
    """Return a bound on the depth of a nearly level cap below its contacts with a shape [m].

    The contacts do not include the generatrix with the cap's deepest point. An overhanging rim is
    at most twice as far below.

    reach: extent of the other shape [m].
    """
    _, _, _, sine = radial_direction(R, nx, ny, nz)
    return 2.0 * sine * min(size[0], reach)


@inlined_kernel
def _below_cap(
    is_cap: bool, is_line: bool, size: Vec3, R: Mat3, nx: float, ny: float, nz: float, reach: float
) -> float:
    """Return a bound on the depth of a cap below the contacts [m], as `_below_points`.

    The bound is 0 if there is no facing cap, or if the contacts include the generatrix.
    """
    return _below_points(size, R, nx, ny, nz, reach) if is_cap and not is_line else 0.0


@inlined_kernel  # many parameters: vectors as three numbers stay in registers
def _round_on_box(
    kind_a: int, size_a: Vec3, R_a: Mat3, size_b: Vec3, R_b: Mat3, p_b: Vec3, tx: float, ty: float,
    tz: float, nx: float, ny: float, nz: float, margin: Metres, reach: float, out: Manifold,
) -> tuple[int, float]:  # fmt: skip
    """Write the overlap of the features of a capsule or cylinder a and a box b along n.

    `_features_along` has the same arguments and results.
    """
    count = NO_POINTS
    below = 0.0
    line_a, ax, ay, az, fx, fy, fz = generatrix(kind_a, size_a, R_a, tx, ty, tz, -nx, -ny, -nz)
    if line_a:
        count = line_on_face(
            count, ax, ay, az, fx, fy, fz, size_b, R_b, p_b, nx, ny, nz, margin, out,
        )  # fmt: skip
    if _faces(kind_a, R_a, nx, ny, nz):
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


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _features_along(
    kind_a: int, size_a: Vec3, R_a: Mat3, p_a: Vec3, kind_b: int, size_b: Vec3, R_b: Mat3,
    p_b: Vec3, tx: float, ty: float, tz: float, nx: float, ny: float, nz: float, margin: Metres,
    reach: float, out: Manifold,
) -> tuple[int, float]:  # fmt: skip
    """Write the overlap of the features of a and b that meet along n.

    `reach` is the extent of the smaller shape [m].

    Returns:
        (number of contacts, bound on the depth of a cap below the contacts [m]). The bound is
        positive if the cap is so level that the direction of its deepest point is uncertain.
    """
    if kind_a == BOX:
        count = face_on_face(
            size_a, R_a, size_b, R_b, p_b, tx, ty, tz, nx, ny, nz, margin, out,
        )  # fmt: skip
        return count, 0.0
    if kind_b == BOX:
        return _round_on_box(
            kind_a, size_a, R_a, size_b, R_b, p_b, tx, ty, tz, nx, ny, nz, margin, reach, out,
        )  # fmt: skip
    cap_a, cap_b = _faces(kind_a, R_a, nx, ny, nz), _faces(kind_b, R_b, nx, ny, nz)
    line_a, ax, ay, az, fx, fy, fz = generatrix(kind_a, size_a, R_a, tx, ty, tz, -nx, -ny, -nz)
    line_b, bx, by, bz, gx, gy, gz = generatrix(kind_b, size_b, R_b, 0.0, 0.0, 0.0, nx, ny, nz)
    count = NO_POINTS
    if cap_b and line_a:
        count = line_on_cap(
            count, ax, ay, az, fx, fy, fz, size_b, R_b, p_b, 1.0, nx, ny, nz, margin, out,
        )  # fmt: skip
    if cap_a and line_b:
        count = line_on_cap(
            count, bx - tx, by - ty, bz - tz, gx, gy, gz, size_a, R_a, p_a, -1.0,
            -nx, -ny, -nz, margin, out,
        )  # fmt: skip
    caps, lines = int(cap_a) + int(cap_b), int(line_a) + int(line_b)
    if caps == 2:
        count = cap_on_cap(
            count, size_a, R_a, p_a, size_b, R_b, p_b, tx, ty, tz, nx, ny, nz, margin, out,
        )  # fmt: skip
    if caps == 0 and lines == 2:
        count = line_on_line(
            count, ax, ay, az, fx, fy, fz, bx, by, bz, gx, gy, gz, size_a[0] + size_b[0], p_b,
            nx, ny, nz, margin, out,
        )  # fmt: skip
    below = _below_cap(cap_a, line_a, size_a, R_a, nx, ny, nz, reach)
    return count, below + _below_cap(cap_b, line_b, size_b, R_b, nx, ny, nz, reach)


@inlined_kernel  # many parameters: two boxes, and vectors as three numbers
def _axis_of_boxes(
    size_a: Vec3,
    R_a: Mat3,
    size_b: Vec3,
    R_b: Mat3,
    tx: float,
    ty: float,
    tz: float,
    margin: Metres,
    a_is_larger: bool,
) -> tuple[float, float, float, float]:
    """Return the axis of `box_axis`. If faces are equally good, the larger box's face is chosen.

    While two faces settle on each other, the normal of the larger face tilts less.
    """
    if a_is_larger:
        nx, ny, nz, core = box_axis(size_b, R_b, size_a, R_a, -tx, -ty, -tz, margin)
        return -nx, -ny, -nz, core
    return box_axis(size_a, R_a, size_b, R_b, tx, ty, tz, margin)


@inner_kernel  # many parameters: two shapes, each by kind, size, rotation and position
def convex_on_convex(
    kind_a: int, size_a: Vec3, R_a: Mat3, p_a: Vec3, kind_b: int, size_b: Vec3, R_b: Mat3,
    p_b: Vec3, margin: Metres, out: Manifold,
) -> int:  # fmt: skip
    """Write the contacts of a box, capsule or cylinder (a) with a shape of equal or lower kind (b).

    Args:
        kind_a: kind of shape a.
        size_a: size of shape a (3,) [m].
        R_a: rotation from the frame of shape a to the world (3, 3).
        p_a: position of shape a in the world (3,) [m].
        kind_b: kind of shape b.
        size_b: size of shape b (3,) [m].
        R_b: rotation from the frame of shape b to the world (3, 3).
        p_b: position of shape b in the world (3,) [m].
        margin: largest gap of a contact [m].
        out: MANIFOLD record, written.

    Returns:
        The number of contacts.
    """
    tx, ty, tz = p_a[0] - p_b[0], p_a[1] - p_b[1], p_a[2] - p_b[2]
    extent_a, extent_b = extent_sum(size_a), extent_sum(size_b)
    size = min(extent_a, extent_b)
    tolerance = TOLERANCE * size + ROUNDING * max(extent_a, extent_b)
    rounding_a = _rounding(kind_a, size_a)
    rounding = rounding_a + _rounding(kind_b, size_b)
    if kind_a == BOX:
        nx, ny, nz, core = _axis_of_boxes(
            size_a, R_a, size_b, R_b, tx, ty, tz, margin, extent_a > extent_b
        )
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
            # The axis test is complete for boxes in overlap, and its bias is intended.
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


@inlined_kernel
def _across(
    far: tuple[float, float, int], edge: Index, c: float, reach: float, extents: float
) -> tuple[float, float, int]:
    """Return the better axis: the best so far (`far`), or the common perpendicular of two edges.

    An axis is (separation, floor, edge). The perpendicular is returned if its separation exceeds
    the floor. `c` is the cosine of the angle between the edges. Parallel edges have no common
    perpendicular.
    """
    sine_squared = 1.0 - c * c
    if sine_squared < _PARALLEL:
        return far
    s = (abs(reach) - extents) / math.sqrt(sine_squared)
    return (s, s, edge) if s > far[1] else far


@inner_kernel  # long: fifteen axes of one test, with nine cosines in common
def box_axis(
    size_a: Vec3,
    R_a: Mat3,
    size_b: Vec3,
    R_b: Mat3,
    tx: float,
    ty: float,
    tz: float,
    margin: Metres,
) -> tuple[float, float, float, float]:
    """Find the axis along which two boxes overlap least.

    t is the centre of a relative to the centre of b [m]. The search ends early if an axis with a
    separation above `margin` [m] is found.

    Returns:
        (nx, ny, nz, separation): unit vector from b to a, and separation [m], negative in overlap.
    """
    a0, a1, a2 = size_a[0], size_a[1], size_a[2]
    b0, b1, b2 = size_b[0], size_b[1], size_b[2]
    # The cosines between the axes of a and b.
    c00, c01, c02 = transposed_times(R_b, R_a[0, 0], R_a[1, 0], R_a[2, 0])
    c10, c11, c12 = transposed_times(R_b, R_a[0, 1], R_a[1, 1], R_a[2, 1])
    c20, c21, c22 = transposed_times(R_b, R_a[0, 2], R_a[1, 2], R_a[2, 2])
    d00, d01, d02 = abs(c00), abs(c01), abs(c02)
    d10, d11, d12 = abs(c10), abs(c11), abs(c12)
    d20, d21, d22 = abs(c20), abs(c21), abs(c22)
    # The offset between the centres, in the frame of a and in that of b.
    u0, u1, u2 = transposed_times(R_a, tx, ty, tz)
    w0, w1, w2 = transposed_times(R_b, tx, ty, tz)

    # Faces: axes 0..2 of b, 3..5 of a; at equal separation the earlier one stays.
    best = abs(w0) - b0 - (a0 * d00 + a1 * d10 + a2 * d20)
    face = 0
    s = abs(w1) - b1 - (a0 * d01 + a1 * d11 + a2 * d21)
    if s > best:
        best, face = s, 1
    s = abs(w2) - b2 - (a0 * d02 + a1 * d12 + a2 * d22)
    if s > best:
        best, face = s, 2
    least = _SIZE_BIAS * min(a0 + a1 + a2, b0 + b1 + b2)
    bias = 0.0 if best > 0.0 else least - _DEPTH_BIAS * best
    s = abs(u0) - a0 - (b0 * d00 + b1 * d01 + b2 * d02)
    if s > best + bias:
        best, bias, face = s, 0.0, 3
    s = abs(u1) - a1 - (b0 * d10 + b1 * d11 + b2 * d12)
    if s > best + bias:
        best, bias, face = s, 0.0, 4
    s = abs(u2) - a2 - (b0 * d20 + b1 * d21 + b2 * d22)
    if s > best + bias:
        best, bias, face = s, 0.0, 5

    edge = -1
    if best <= margin:
        far = best, best if best > 0.0 else best + least - _DEPTH_BIAS * best, edge
        far = _across(far, 0, c00, c10 * u2 - c20 * u1, a1 * d20 + a2 * d10 + b1 * d02 + b2 * d01)
        far = _across(far, 1, c01, c11 * u2 - c21 * u1, a1 * d21 + a2 * d11 + b2 * d00 + b0 * d02)
        far = _across(far, 2, c02, c12 * u2 - c22 * u1, a1 * d22 + a2 * d12 + b0 * d01 + b1 * d00)
        far = _across(far, 3, c10, c20 * u0 - c00 * u2, a2 * d00 + a0 * d20 + b1 * d12 + b2 * d11)
        far = _across(far, 4, c11, c21 * u0 - c01 * u2, a2 * d01 + a0 * d21 + b2 * d10 + b0 * d12)
        far = _across(far, 5, c12, c22 * u0 - c02 * u2, a2 * d02 + a0 * d22 + b0 * d11 + b1 * d10)
        far = _across(far, 6, c20, c00 * u1 - c10 * u0, a0 * d10 + a1 * d00 + b1 * d22 + b2 * d21)
        far = _across(far, 7, c21, c01 * u1 - c11 * u0, a0 * d11 + a1 * d01 + b2 * d20 + b0 * d22)
        far = _across(far, 8, c22, c02 * u1 - c12 * u0, a0 * d12 + a1 * d02 + b0 * d21 + b1 * d20)
        best, _, edge = far

    if edge >= 0:
        i, j = edge // 3, edge % 3
        nx = R_a[1, i] * R_b[2, j] - R_a[2, i] * R_b[1, j]
        ny = R_a[2, i] * R_b[0, j] - R_a[0, i] * R_b[2, j]
        nz = R_a[0, i] * R_b[1, j] - R_a[1, i] * R_b[0, j]
        scale = 1.0 / math.sqrt(nx * nx + ny * ny + nz * nz)
        nx, ny, nz = nx * scale, ny * scale, nz * scale
    elif face < 3:
        nx, ny, nz = R_b[0, face], R_b[1, face], R_b[2, face]
    else:
        nx, ny, nz = R_a[0, face - 3], R_a[1, face - 3], R_a[2, face - 3]
    if nx * tx + ny * ty + nz * tz < 0.0:
        nx, ny, nz = -nx, -ny, -nz
    return nx, ny, nz, best


@inner_kernel
def certified(count: int, gap: Vector, separation: float, tolerance: float) -> bool:
    """Return whether one of the `count` contacts attains the separation to within `tolerance` [m].

    The separation along any axis bounds the true gap from below. The gap between two surface points
    bounds the true gap from above. If both bounds meet, axis and contacts are the true ones.
    """
    for k in range(count):
        if abs(gap[k] - separation) <= tolerance:
            return True
    return False


@inner_kernel
def bound_gaps(count: int, separation: float, out: Manifold) -> None:
    """Raise every gap that is below the separation of the shapes to the separation [m].

    A point beside the touching feature may have a gap below the separation.
    """
    for k in range(count):
        out.gap[k] = max(out.gap[k], separation)


@inner_kernel
def keep_distinct(count: int, size: float, out: Manifold) -> int:
    """Drop contacts that nearly coincide with an earlier contact. Return the remaining number.

    A vertex that touches a vertex or an edge lies on several features at once.
    """
    distinct_count = NO_POINTS
    reach = _COINCIDENT * size
    for k in range(count):
        x, y, z = out.point[k, 0], out.point[k, 1], out.point[k, 2]
        distinct = True
        for other in range(distinct_count):
            away = max(
                abs(x - out.point[other, 0]),
                abs(y - out.point[other, 1]),
                abs(z - out.point[other, 2]),
            )
            if away < reach:
                distinct = False
        if distinct:
            distinct_count = write_contact(
                distinct_count, x, y, z, out.normal[k, 0], out.normal[k, 1], out.normal[k, 2],
                out.gap[k], out.feature[k] // FEATURES, out.feature[k] % FEATURES, out,
            )  # fmt: skip
    return distinct_count


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def write_nearest(
    count: int, ax: float, ay: float, az: float, p_b: Vec3, nx: float, ny: float, nz: float,
    separation: float, radius_a: float, size: float, out: Manifold,
) -> int:  # fmt: skip
    """Add the contact at the nearest points of two shapes.

    If the contact exists already, its point, normal and gap are replaced. In a full manifold the
    contact replaces the last contact.

    count: number of contacts before. ax, ay, az: nearest point of core a, relative to p_b [m].
    separation: gap of the surfaces [m]. radius_a: distance of the surface of a from its core [m].

    Returns:
        The number of contacts.
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
