# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The axis of least overlap of two boxes (separating axis theorem).

The overlap test of oriented boxes is Gottschalk, Lin and Manocha, OBBTree, SIGGRAPH 1996.
"""

from __future__ import annotations

import math

from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.spatial.vector import transposed_times

# While boxes overlap, an edge axis must beat the face axes by this part of the depth and of the
# smaller box's size: a box that rests on a face does not trade its normal for one nearly parallel.
_DEPTH_BIAS = 1e-3
_SIZE_BIAS = 1e-7

# Edges closer to parallel than this squared sine span no plane.
_PARALLEL = 1e-10


@inlined_kernel
def _across(far, edge, c, reach, extents):
    """Return the farthest axis so far, or that across two edges if it separates by over the floor.

    Both are (separation, floor, edge). `c` is the edges' cosine; parallel ones span no axis.
    """
    sine_squared = 1.0 - c * c
    if sine_squared < _PARALLEL:
        return far
    s = (abs(reach) - extents) / math.sqrt(sine_squared)
    return (s, s, edge) if s > far[1] else far


@inner_kernel  # long: fifteen axes of one test, with nine cosines in common
def box_axis(size_a, R_a, size_b, R_b, tx, ty, tz, margin):
    """Return (nx, ny, nz, separation) of the axis along which two boxes overlap least.

    t is the centre of a relative to that of b [m]; n points from b to a. The separation is
    negative in overlap. The search ends early, with a separation above `margin`, if one is found.
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
