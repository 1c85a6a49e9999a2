# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The faces of a box: the face along a direction, clipping to a face, codes of features.

Face coordinates (X, Y) [m] run along the two axes after the face's own axis, from the middle of the
face.
"""

import numpy as np

from hrpsim.engine.collision.primitives.contact_row import (
    BOX_EDGE,
    NO_POINTS,
    RIM_TOLERANCE,
    SURFACE,
    clamp,
    project_direction,
    project_point,
    write_over_plane,
)
from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.engine.compile.kernel_types import Manifold, Mat3, Metres, Vec3

NO_SIDE = np.int64(-1)


@inner_kernel
def facing_axis(R: Mat3, nx: float, ny: float, nz: float) -> tuple[int, float]:
    """Return the axis of a box that is nearest to the unit direction n.

    Returns:
        (axis 0..2, cosine between n and the axis). The cosine may be negative.
    """
    axis = 0
    cosine = nx * R[0, 0] + ny * R[1, 0] + nz * R[2, 0]
    for k in range(1, 3):
        other = nx * R[0, k] + ny * R[1, k] + nz * R[2, k]
        if abs(other) > abs(cosine):
            axis = k
            cosine = other
    return axis, cosine


@inner_kernel
def face_tolerance(axis: int, size_b: Vec3, half: float) -> float:
    """Return how far outside a box face a point may lie and still count as on the face [m].

    Args:
        axis: axis of the face (0..2).
        size_b: size of the box (3,) [m].
        half: half width of the other shape on the face [m].
    """
    return RIM_TOLERANCE * min(half, size_b[(axis + 1) % 3], size_b[(axis + 2) % 3])


@inner_kernel
def clip_to_face(
    x: float, y: float, dx: float, dy: float, half_x: float, half_y: float, tolerance: float
) -> tuple[bool, float, int, float, int]:
    """Clip the segment from (x, y) to (x + dx, y + dy) to a face.

    Sides 0..3 are X = -half_x, X = +half_x, Y = -half_y, Y = +half_y. The face widened by
    `tolerance` decides which points are inside. The position t (0..1) on the segment is computed
    from the true sides.

    Args:
        x: start of the segment along X [m].
        y: start of the segment along Y [m].
        dx: extent of the segment along X [m].
        dy: extent of the segment along Y [m].
        half_x: half width of the face along X [m].
        half_y: half width of the face along Y [m].
        tolerance: width that is added on all sides of the face [m].

    Returns:
        (whether a part of the segment is inside, t of the part's start, side at the start, t of the
        part's end, side at the end). A side is -1 at an end of the segment itself.
    """
    start, end = 0.0, 1.0
    start_side, end_side = NO_SIDE, NO_SIDE
    true_start, true_end = 0.0, 1.0
    for side in range(4):
        if side < 2:
            position, rate, half = x, dx, half_x
        else:
            position, rate, half = y, dy, half_y
        if side % 2 == 0:
            position, rate = -position, -rate
        # Inside is position + t rate <= half.
        room = half - position
        if rate == 0.0:
            if room + tolerance < 0.0:
                return False, start, start_side, end, end_side
            continue
        t = (room + tolerance) / rate
        if rate > 0.0:
            if t < end:
                end = t
                end_side = side
                true_end = max(room / rate, 0.0)
        elif t > start:
            start = t
            start_side = side
            true_start = min(room / rate, 1.0)
    return start <= end, true_start, start_side, true_end, end_side


@inner_kernel
def box_edge(axis: int, sign_1: float, sign_2: float) -> int:
    """Return the code of the edge along `axis` on the given sides of the next two axes."""
    return BOX_EDGE + 4 * axis + (1 if sign_1 > 0.0 else 0) + (2 if sign_2 > 0.0 else 0)


@inner_kernel
def face_edge(axis: int, cosine: float, side: int) -> int:
    """Return the code of the edge that bounds a face on `side` (numbered as in clip_to_face)."""
    sign = 1.0 if side % 2 else -1.0
    if side < 2:
        return box_edge((axis + 2) % 3, cosine, sign)
    return box_edge((axis + 1) % 3, sign, cosine)


@inner_kernel
def face_vertex(axis: int, cosine: float, sign_u: float, sign_v: float) -> int:
    """Return the code of the face's corner on the given sides of the face's X and Y axes."""
    code = 1 << axis if cosine > 0.0 else 0
    if sign_u > 0.0:
        code |= 1 << (axis + 1) % 3
    if sign_v > 0.0:
        code |= 1 << (axis + 2) % 3
    return code


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def face_on_face(  # long: its parts share the face's twelve numbers
    size_a: Vec3, R_a: Mat3, size_b: Vec3, R_b: Mat3, p_b: Vec3, tx: float, ty: float, tz: float,
    nx: float, ny: float, nz: float, margin: Metres, out: Manifold,
) -> int:  # fmt: skip
    """Write the corners of the overlap of the facing faces of two boxes, seen along n.

    The corners are vertices of a over the face of b, vertices of b under the face of a, and
    crossings of edges. The contact of two edges is a crossing.

    tx, ty, tz: centre of a relative to the centre of b [m]. nx, ny, nz: unit vector from b to a.

    Returns:
        The number of contacts.
    """
    axis_a, cosine_a = facing_axis(R_a, -nx, -ny, -nz)
    axis_b, cosine_b = facing_axis(R_b, nx, ny, nz)
    i, j = (axis_a + 1) % 3, (axis_a + 2) % 3
    half_u, half_v = size_b[(axis_b + 1) % 3], size_b[(axis_b + 2) % 3]
    tolerance = face_tolerance(axis_b, size_b, min(size_a[i], size_a[j]))

    half = size_a[axis_a] if cosine_a > 0.0 else -size_a[axis_a]
    X0, Y0, g0 = project_point(
        tx + half * R_a[0, axis_a], ty + half * R_a[1, axis_a], tz + half * R_a[2, axis_a],
        axis_b, cosine_b, size_b[axis_b], R_b, nx, ny, nz,
    )  # fmt: skip
    h = size_a[i]
    Xi, Yi, gi = project_direction(
        h * R_a[0, i], h * R_a[1, i], h * R_a[2, i], axis_b, cosine_b, R_b, nx, ny, nz
    )
    h = size_a[j]
    Xj, Yj, gj = project_direction(
        h * R_a[0, j], h * R_a[1, j], h * R_a[2, j], axis_b, cosine_b, R_b, nx, ny, nz
    )
    # The face of a over the face of b: gap = g0 + slope_X (X - X0) + slope_Y (Y - Y0). The
    # projected face keeps at least a third of its area, as its normal leans least from n.
    area = Xi * Yj - Yi * Xj
    slope_X = (gi * Yj - gj * Yi) / area
    slope_Y = (gj * Xi - gi * Xj) / area

    count = NO_POINTS
    for edge in range(4):
        # Edges run around the face of a: 0 and 2 along axis i, 1 and 3 along axis j.
        s = -1.0 if edge == 0 or edge == 3 else 1.0
        t = -1.0 if edge < 2 else 1.0
        forward = 2.0 if edge < 2 else -2.0
        x, y = X0 + s * Xi + t * Xj, Y0 + s * Yi + t * Yj
        if edge % 2 == 0:
            dx, dy = forward * Xi, forward * Yi
            edge_code = box_edge(i, t, cosine_a)
        else:
            dx, dy = forward * Xj, forward * Yj
            edge_code = box_edge(j, cosine_a, s)
        some, start, start_side, end, end_side = clip_to_face(
            x, y, dx, dy, half_u, half_v, tolerance
        )
        if not some:
            continue
        for leaving in range(2):
            along, side = (start, start_side) if leaving == 0 else (end, end_side)
            if side >= 0:
                code_a, code_b = edge_code, face_edge(axis_b, cosine_b, side)
            elif leaving == 0:
                along = 0.0
                code_a, code_b = face_vertex(axis_a, cosine_a, s, t), SURFACE
            else:
                continue  # The next edge writes this vertex.
            X, Y = clamp(x + along * dx, half_u), clamp(y + along * dy, half_v)
            count = write_over_plane(
                count, X, Y, g0 + slope_X * (X - X0) + slope_Y * (Y - Y0), code_a, code_b,
                axis_b, cosine_b, size_b[axis_b], R_b, p_b, 1.0, nx, ny, nz, margin, out,
            )  # fmt: skip

    for corner in range(4):
        sign_u = 1.0 if corner & 1 else -1.0
        sign_v = 1.0 if corner & 2 else -1.0
        # The corner of the widened face decides, so that all corners of the overlap are found.
        X, Y = sign_u * (half_u + tolerance) - X0, sign_v * (half_v + tolerance) - Y0
        if abs(X * Yj - Y * Xj) < abs(area) and abs(Xi * Y - Yi * X) < abs(area):
            X, Y = sign_u * half_u, sign_v * half_v
            count = write_over_plane(
                count, X, Y, g0 + slope_X * (X - X0) + slope_Y * (Y - Y0),
                SURFACE, face_vertex(axis_b, cosine_b, sign_u, sign_v),
                axis_b, cosine_b, size_b[axis_b], R_b, p_b, 1.0, nx, ny, nz, margin, out,
            )  # fmt: skip
    return count
