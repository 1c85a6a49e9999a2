# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Turns of soles and waist that a stabiliser makes: kernels on rotation matrices (3, 3)."""

from __future__ import annotations

import math

from hrpsim.jit.compiled import inlined_kernel


@inlined_kernel
def write_small_turn(x, y, R_out):
    """Write the rotation (3, 3) by the vector (x, y, 0) [rad], to the third order."""
    square = x * x + y * y
    a, b = 1.0 - square / 6.0, 0.5 - square / 24.0
    R_out[0, 0], R_out[0, 1], R_out[0, 2] = 1.0 - b * y * y, b * x * y, a * y
    R_out[1, 0], R_out[1, 1], R_out[1, 2] = b * x * y, 1.0 - b * x * x, -a * x
    R_out[2, 0], R_out[2, 1], R_out[2, 2] = -a * y, a * x, 1.0 - b * square


@inlined_kernel
def write_product(A, B, product_out):
    """Write A B (3, 3)."""
    for a in range(3):
        for b in range(3):
            product_out[a, b] = A[a, 0] * B[0, b] + A[a, 1] * B[1, b] + A[a, 2] * B[2, b]


@inlined_kernel
def write_transposed_product(A, B, product_out):
    """Write A^T B (3, 3)."""
    for a in range(3):
        for b in range(3):
            product_out[a, b] = A[0, a] * B[0, b] + A[1, a] * B[1, b] + A[2, a] * B[2, b]


@inlined_kernel
def turned(x, y, angle):
    """Return the vector (x, y) turned by `angle` [rad]."""
    c, s = math.cos(angle), math.sin(angle)
    return c * x - s * y, s * x + c * y
