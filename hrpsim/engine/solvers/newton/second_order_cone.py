# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Nesterov-Todd scaling of an impulse x and a velocity z in the cone x0 >= |(x1, x2)|.

Nesterov and Todd's scaling W is the symmetric matrix with W z = W^-1 x (Nesterov & Todd 1997,
Vandenberghe 2010, "The CVXOPT linear and quadratic cone program solvers"). W is stored as a factor
and the point w of the hyperboloid w0^2 - w1^2 - w2^2 = 1. W^2 = factor^2 (2 w w^T - J).
"""

from __future__ import annotations

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import ConePair, Vec3

FAR = 1e9  # a step that long does not leave the cone

PAIR = np.dtype(
    [
        ("friction", "f8"),
        ("x", "f8", (3,)),  # friction times the normal impulse, and the impulse of friction
        ("z", "f8", (3,)),  # normal velocity by friction plus the speed of slip, and the slip
        ("dx", "f8", (3,)),
        ("dz", "f8", (3,)),
        ("w", "f8", (3,)),
        ("factor", "f8"),
        ("scaled", "f8", (3,)),  # W z
        ("short", "f8", (3,)),  # velocity of the motion less z
        ("goal", "f8", (3,)),  # of W^-1 dx + W dz
        ("along", "f8", (2,)),  # direction of slip
    ]
)


@inlined_kernel
def _determinant(x: Vec3) -> float:
    slip = math.sqrt(x[1] * x[1] + x[2] * x[2])
    return max((x[0] - slip) * (x[0] + slip), 1e-300)


@inner_kernel
def scale_pair(pair: ConePair) -> None:
    """Write the scaling W of x and z, and the product W z. Both must lie inside the cone."""
    x, z, w = pair.x, pair.z, pair.w
    size_x, size_z = math.sqrt(_determinant(x)), math.sqrt(_determinant(z))
    product = (x[0] * z[0] + x[1] * z[1] + x[2] * z[2]) / (size_x * size_z)
    part = 0.5 / math.sqrt(0.5 * (1.0 + product))
    w[0] = part * (x[0] / size_x + z[0] / size_z)
    for k in range(1, 3):
        w[k] = part * (x[k] / size_x - z[k] / size_z)
    pair.factor = math.sqrt(size_x / size_z)
    pair.scaled[0], pair.scaled[1], pair.scaled[2] = times_scaling(pair, z[0], z[1], z[2])


@inlined_kernel
def times_scaling(pair: ConePair, a: float, b: float, c: float) -> tuple[float, float, float]:
    """Return the product W (a, b, c) of the scaling matrix and a vector."""
    w, factor = pair.w, pair.factor
    along = w[1] * b + w[2] * c
    push = a + along / (1.0 + w[0])
    return factor * (w[0] * a + along), factor * (b + w[1] * push), factor * (c + w[2] * push)


@inlined_kernel
def by_scaling(pair: ConePair, a: float, b: float, c: float) -> tuple[float, float, float]:
    """Return the product W^-1 (a, b, c) of the inverse scaling matrix and a vector."""
    w, part = pair.w, 1.0 / pair.factor
    along = w[1] * b + w[2] * c
    push = a - along / (1.0 + w[0])
    return part * (w[0] * a - along), part * (b - w[1] * push), part * (c - w[2] * push)


@inlined_kernel
def times_squared_scaling(
    pair: ConePair, a: float, b: float, c: float
) -> tuple[float, float, float]:
    """Return the product W^2 (a, b, c) of the squared scaling matrix and a vector."""
    w, square = pair.w, pair.factor * pair.factor
    along = 2.0 * (w[0] * a + w[1] * b + w[2] * c)
    return square * (along * w[0] - a), square * (along * w[1] + b), square * (along * w[2] + c)


@inner_kernel
def aim(pair: ConePair, product: float, correct: bool) -> None:
    """Write the goal: the value of W^-1 dx + W dz for which x o z = (product, 0, 0) after the step.

    If `correct` is set, the second-order term of the step in dx and dz is subtracted (Mehrotra
    1992).
    """
    l, goal = pair.scaled, pair.goal
    r0 = product - (l[0] * l[0] + l[1] * l[1] + l[2] * l[2])
    r1, r2 = -2.0 * l[0] * l[1], -2.0 * l[0] * l[2]
    if correct:
        dx, dz = pair.dx, pair.dz
        a0, a1, a2 = by_scaling(pair, dx[0], dx[1], dx[2])
        b0, b1, b2 = times_scaling(pair, dz[0], dz[1], dz[2])
        r0 -= a0 * b0 + a1 * b1 + a2 * b2
        r1 -= a0 * b1 + b0 * a1
        r2 -= a0 * b2 + b0 * a2
    goal[0] = (l[0] * r0 - l[1] * r1 - l[2] * r2) / _determinant(l)
    goal[1], goal[2] = (r1 - goal[0] * l[1]) / l[0], (r2 - goal[0] * l[2]) / l[0]


@inner_kernel
def longest_step(x: Vec3, dx: Vec3) -> float:
    """Return the multiple of dx at which x reaches the boundary of the cone, at most FAR."""
    a = dx[0] * dx[0] - dx[1] * dx[1] - dx[2] * dx[2]
    b = x[0] * dx[0] - x[1] * dx[1] - x[2] * dx[2]
    c = _determinant(x)
    multiple, root = FAR, b * b - a * c
    if root >= 0.0:
        below = math.sqrt(root) - b
        if below > 0.0:
            multiple = min(multiple, c / below)
    if dx[0] < 0.0:
        multiple = min(multiple, -x[0] / dx[0])
    return multiple
