# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The point of a simplex (1 to 4 vertices) nearest to the origin, for the distance iteration."""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Matrix

# A triangle whose squared area is below this part of its squared edges is treated as its edges.
_FLAT = 1e-28


@inner_kernel
def _segment_weight(W: Matrix, i: Index, j: Index) -> tuple[float, float]:
    """Return the weight of vertex j, and the squared distance, of a segment's nearest point."""
    dx, dy, dz = W[j, 0] - W[i, 0], W[j, 1] - W[i, 1], W[j, 2] - W[i, 2]
    along = -(W[i, 0] * dx + W[i, 1] * dy + W[i, 2] * dz)
    squared = dx * dx + dy * dy + dz * dz
    if along <= 0.0 or squared <= 0.0:
        weight = 0.0
    elif along >= squared:
        weight = 1.0
    else:
        weight = along / squared
    x, y, z = W[i, 0] + weight * dx, W[i, 1] + weight * dy, W[i, 2] + weight * dz
    return weight, x * x + y * y + z * z


@inner_kernel
def _triangle_weights(W: Matrix, i: Index, j: Index, k: Index) -> tuple[float, float, float, float]:
    """Return the weights of i, j, k and the squared distance of a triangle's nearest point."""
    ax, ay, az = W[j, 0] - W[i, 0], W[j, 1] - W[i, 1], W[j, 2] - W[i, 2]
    bx, by, bz = W[k, 0] - W[i, 0], W[k, 1] - W[i, 1], W[k, 2] - W[i, 2]
    nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    area = nx * nx + ny * ny + nz * nz
    if area > _FLAT * (ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz):
        # Barycentric weights of the origin's projection.
        px, py, pz = -W[i, 0], -W[i, 1], -W[i, 2]
        cx, cy, cz = ay * pz - az * py, az * px - ax * pz, ax * py - ay * px
        weight_k = (cx * nx + cy * ny + cz * nz) / area
        cx, cy, cz = py * bz - pz * by, pz * bx - px * bz, px * by - py * bx
        weight_j = (cx * nx + cy * ny + cz * nz) / area
        weight_i = 1.0 - weight_j - weight_k
        if weight_i >= 0.0 and weight_j >= 0.0 and weight_k >= 0.0:
            height = px * nx + py * ny + pz * nz
            return weight_i, weight_j, weight_k, height * height / area
    w_ij, d_ij = _segment_weight(W, i, j)
    w_ik, d_ik = _segment_weight(W, i, k)
    w_jk, d_jk = _segment_weight(W, j, k)
    if d_ij <= d_ik and d_ij <= d_jk:
        return 1.0 - w_ij, w_ij, 0.0, d_ij
    if d_ik <= d_jk:
        return 1.0 - w_ik, 0.0, w_ik, d_ik
    return 0.0, 1.0 - w_jk, w_jk, d_jk


@inlined_kernel
def weight_of(k: Index, weights: tuple[float, float, float, float]) -> float:
    """Return the weight of vertex k among the four weights of a simplex."""
    w0, w1, w2, w3 = weights
    return w0 if k == 0 else (w1 if k == 1 else (w2 if k == 2 else w3))


@inlined_kernel
def keep_spanning(
    W: Matrix, count: int, weights: tuple[float, float, float, float]
) -> tuple[int, float, float, float]:
    """Move the vertices of a simplex that have a non-zero weight to the front.

    Args:
        W: vertices (4, 3), the first `count` of which have a weight. Changed.
        count: number of vertices.
        weights: weights from `nearest_weights` (4).

    Returns:
        (number of vertices moved to the front, x, y, z of the nearest point).
    """
    vertex_count = np.int64(0)
    x = y = z = 0.0
    for k in range(count):
        weight = weight_of(k, weights)
        if weight > 0.0:
            for r in range(3):
                W[vertex_count, r] = W[k, r]
            x += weight * W[vertex_count, 0]
            y += weight * W[vertex_count, 1]
            z += weight * W[vertex_count, 2]
            vertex_count += 1
    return vertex_count, x, y, z


@inlined_kernel
def _weight_at(k: Index, i: Index, weight_i: float, j: Index, weight_j: float) -> float:
    """Return the weight of vertex k if only vertices i and j have weights."""
    return weight_i if i == k else (weight_j if j == k else 0.0)


@inner_kernel
def nearest_weights(W: Matrix, count: int) -> tuple[float, ...]:
    """Return the weights (4) and squared norm of the point of a simplex nearest to the origin.

    The vertices are W[:count], and the last vertex is the newest. A tetrahedron must not contain
    the origin. Its nearest point then lies on a face with the newest vertex.
    """
    if count == 1:
        return 1.0, 0.0, 0.0, 0.0, W[0, 0] ** 2 + W[0, 1] ** 2 + W[0, 2] ** 2
    if count == 2:
        weight, squared = _segment_weight(W, count - 2, count - 1)
        return 1.0 - weight, weight, 0.0, 0.0, squared
    if count == 3:
        w0, w1, w2, squared = _triangle_weights(W, count - 3, count - 2, count - 1)
        return w0, w1, w2, 0.0, squared
    w0 = w1 = w2 = w3 = 0.0
    squared = math.inf
    newest = count - 1
    for left_out in range(newest):
        i = (left_out + 1) % newest
        j = (left_out + 2) % newest
        wi, wj, wk, other = _triangle_weights(W, i, j, newest)
        if other < squared:
            squared, w3 = other, wk
            w0 = _weight_at(0, i, wi, j, wj)
            w1 = _weight_at(1, i, wi, j, wj)
            w2 = _weight_at(2, i, wi, j, wj)
    return w0, w1, w2, w3, squared
