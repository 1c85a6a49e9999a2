# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The faces of a box: which one a direction meets, clipping to it, codes of its edges and corners.

Face coordinates (X, Y) [m] run along the two axes after the face's own, from its middle.
"""

import numpy as np

from hrpsim.collision.primitives.contact_row import BOX_EDGE
from hrpsim.collision.primitives.projection import RIM_TOLERANCE
from hrpsim.jit.compiled import inner_kernel

NO_SIDE = np.int64(-1)


@inner_kernel
def facing_axis(R, nx, ny, nz):
    """Return the box axis (0..2) nearest to the direction n, and the signed cosine between them."""
    axis = 0
    cosine = nx * R[0, 0] + ny * R[1, 0] + nz * R[2, 0]
    for k in range(1, 3):
        other = nx * R[0, k] + ny * R[1, k] + nz * R[2, k]
        if abs(other) > abs(cosine):
            axis = k
            cosine = other
    return axis, cosine


@inner_kernel
def face_tolerance(axis, size_b, half):
    """Return the distance outside the face within which a point still counts [m].

    `half` is the half width of the shape on the face.
    """
    return RIM_TOLERANCE * min(half, size_b[(axis + 1) % 3], size_b[(axis + 2) % 3])


@inner_kernel
def clip_to_face(x, y, dx, dy, half_x, half_y, tolerance):
    """Return (some, start, start side, end, end side) of segment x + t dx, 0 <= t <= 1, in a face.

    Sides 0..3 are X = -half_x, X = +half_x, Y = -half_y, Y = +half_y; -1 where the segment's own
    end is inside. The face widened by `tolerance` decides what is inside, the face itself gives t.
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
def box_edge(axis, sign_1, sign_2):
    """Return the code of the edge along `axis` on the given sides of the next two axes."""
    return BOX_EDGE + 4 * axis + (1 if sign_1 > 0.0 else 0) + (2 if sign_2 > 0.0 else 0)


@inner_kernel
def face_edge(axis, cosine, side):
    """Return the code of the edge that bounds a face on `side` (numbered as in clip_to_face)."""
    sign = 1.0 if side % 2 else -1.0
    if side < 2:
        return box_edge((axis + 2) % 3, cosine, sign)
    return box_edge((axis + 1) % 3, sign, cosine)


@inner_kernel
def face_vertex(axis, cosine, sign_u, sign_v):
    """Return the code of the face's corner on the given sides of u and v."""
    code = 1 << axis if cosine > 0.0 else 0
    if sign_u > 0.0:
        code |= 1 << (axis + 1) % 3
    if sign_v > 0.0:
        code |= 1 << (axis + 2) % 3
    return code
