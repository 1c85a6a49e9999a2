# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of inverse dynamics from the public layout of velocities to the kernels' own.

With the rotation R of a free base, v_pub = R' v and a_pub = R' (a - w x l) change with R, and the
force on the base turns with it; a has the second derivative of its position.
"""

from __future__ import annotations

from hrpsim.dynamics.motion_derivatives import inverse_derivatives
from hrpsim.jit.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.kinematics.layout import acceleration_from_kernel, velocity_from_kernel
from hrpsim.model.system import FREE


@kernel
def derivatives_in_world(w, q, velocity, acceleration, gravity, columns, out):
    """Write the derivatives of the force by q and velocity, and M: `out` (3, nv, nv).

    All in the layout of the kernels, but for `columns`, work of `inverse_derivatives`.
    `acceleration` (nv,) ends as that without w x l.
    """
    nv, v, dv = velocity.shape[0], out[0, 0], out[1, 0]  # rows of the output serve as work
    velocity_from_kernel(w.forest, q, velocity, v)
    acceleration_from_kernel(w.forest, q, velocity, acceleration, dv)
    inverse_derivatives(w, q, v, dv, gravity, columns)
    for part in range(3):
        for i in range(nv):
            for j in range(nv):
                out[part, i, j] = columns[i, part * nv + j]
    for i in range(w.forest.bodies.shape[0]):
        body = w.forest.bodies[i]
        if body.joint_type == FREE:
            for part in range(3):
                _turn_rows(w.kinematics[i].R, body.v_index, out[part])
                _turn_columns(w.kinematics[i].R, body.v_index, out[part])
    for i in range(w.forest.bodies.shape[0]):
        if w.forest.bodies[i].joint_type == FREE:
            _add_turns(w, velocity, acceleration, w.forest.bodies[i].v_index, out)


@inner_kernel
def _turn_rows(R, k, matrix):
    """Turn the rows of a base, linear then angular part along its axes, into angular, linear."""
    for j in range(matrix.shape[1]):
        lx, ly, lz = matrix[k, j], matrix[k + 1, j], matrix[k + 2, j]
        wx, wy, wz = matrix[k + 3, j], matrix[k + 4, j], matrix[k + 5, j]
        for r in range(3):
            matrix[k + r, j] = R[r, 0] * wx + R[r, 1] * wy + R[r, 2] * wz
            matrix[k + 3 + r, j] = R[r, 0] * lx + R[r, 1] * ly + R[r, 2] * lz


@inner_kernel
def _turn_columns(R, k, matrix):
    """Turn the columns of a base likewise."""
    for i in range(matrix.shape[0]):
        lx, ly, lz = matrix[i, k], matrix[i, k + 1], matrix[i, k + 2]
        wx, wy, wz = matrix[i, k + 3], matrix[i, k + 4], matrix[i, k + 5]
        for r in range(3):
            matrix[i, k + r] = R[r, 0] * wx + R[r, 1] * wy + R[r, 2] * wz
            matrix[i, k + 3 + r] = R[r, 0] * lx + R[r, 1] * ly + R[r, 2] * lz


@inner_kernel
def _add_turns(w, velocity, fixed, k, out):
    """Add what the rotation of a base changes: its velocity, its acceleration, its force."""
    by_q, by_v, mass = out[0], out[1], out[2]
    for i in range(velocity.shape[0]):
        for first in (k, k + 3):
            _add_row_times_cross(by_v[i], first, velocity, first, 1.0, by_q[i], k)
        _add_row_times_cross(mass[i], k, fixed, k, 1.0, by_q[i], k)
        _add_row_times_cross(mass[i], k + 3, fixed, k + 3, 1.0, by_q[i], k)
        _add_row_times_cross(mass[i], k + 3, velocity, k + 3, 1.0, by_v[i], k)
        _add_row_times_cross(mass[i], k + 3, velocity, k, -1.0, by_v[i], k + 3)
    force = w.effort
    for first in (k, k + 3):
        for r in range(3):
            y, z = (r + 1) % 3, (r + 2) % 3
            by_q[first + r, k + y] += force[first + z]
            by_q[first + r, k + z] -= force[first + y]


@inlined_kernel
def _add_row_times_cross(row, at, v, v_at, sign, out, out_at):
    """Add `sign` times row[at : at + 3] [v x] to out[out_at : out_at + 3]."""
    x, y, z = sign * row[at], sign * row[at + 1], sign * row[at + 2]
    a, b, c = v[v_at], v[v_at + 1], v[v_at + 2]
    out[out_at] += y * c - z * b
    out[out_at + 1] += z * a - x * c
    out[out_at + 2] += x * b - y * a
