# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the free rotation of bodies in both halves of a step.

Each half (engine.step.motion.half_turns) maps the orientation R and the angular velocity w of a
body. If R and w are rotated together, the result is rotated as well. A rotation d of R alone
therefore gives

    P (d, 0) = (d, d x w') - P (0, d x w).

Central differences give the columns of P for w, and this formula gives the other columns of P (6,
6).
"""

from hrpsim.derivatives.room import DerivativeArrays
from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.engine.compile.kernel_types import Body, Matrix, Vector
from hrpsim.engine.spatial.vector import copy_vector
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.motion.carry import carry_body
from hrpsim.engine.step.motion.half_turns import FIRST_HALF, SECOND_HALF, turn_half, turns_freely

_STEP = 1e-5  # of the differences [rad/s], and more at high rates
_SHARE = 1e-7  # of the rate


@inner_kernel
def start_from_free_turns(s: Scene, w: DerivativeArrays) -> None:
    """Write a start of the step from which constant angular velocities reach the mid-step pose.

    The integrator rotates free bodies separately. If a free body rotates from the written
    orientation at the written constant angular velocity, it reaches its true orientation at
    mid-step. The kernel writes `q` (nq,) and `start_velocity` (nv,) [rad/s, m/s] of w.
    """
    copy_vector(s.start.q, w.q)
    copy_vector(s.start.velocity, w.start_velocity)
    half = 0.5 * s.settings[0].time_step
    for i in range(s.forest.bodies.shape[0]):
        if turns_freely(s.forest, i):
            turn_half(s.forest.bodies[i], half, FIRST_HALF, w.q, w.start_velocity, s.work.turning)


@inner_kernel
def write_free_turns(s: Scene, w: DerivativeArrays) -> None:
    """Write the matrix P of both halves of the step for every free body.

    The kernel writes w.free_turns (2, nv, 6, 6), at the body's first degree of freedom.
    """
    half = 0.5 * s.settings[0].time_step
    for i in range(s.forest.bodies.shape[0]):
        if turns_freely(s.forest, i):
            body = s.forest.bodies[i]
            _write_map(body, half, FIRST_HALF, s.start.q, s.start.velocity, s.work.turning, w)
            _copy_turn(body, w.q, w.turned_q[2])
            carry_body(body, w.end_velocity, half, w.turned_q[2])
            _write_map(body, half, SECOND_HALF, w.turned_q[2], w.end_velocity, s.work.turning, w)


@inner_kernel
def _copy_turn(body: Body, q: Vector, q_out: Vector) -> None:
    for r in range(body.q_index, body.q_index + 7):
        q_out[r] = q[r]


@inner_kernel
def _write_map(
    body: Body,
    half: float,
    part: int,
    q: Vector,
    velocity: Vector,
    turning: Matrix,
    w: DerivativeArrays,
) -> None:
    """Write P (6, 6) of one half of the step for one body."""
    j, k, P = body.q_index + 3, body.v_index, w.free_turns[part, body.v_index]
    ends, rates = w.turned_q, w.turned_velocity
    x, y, z = velocity[k], velocity[k + 1], velocity[k + 2]
    step = _STEP + _SHARE * (abs(x) + abs(y) + abs(z))
    for c in range(3):
        for side in range(2):
            _copy_turn(body, q, ends[side])
            for r in range(3):
                rates[side, k + r] = velocity[k + r]
            rates[side, k + c] += step if side == 1 else -step
            turn_half(body, half, part, ends[side], rates[side], turning)
        a, b = ends[0, j : j + 4], ends[1, j : j + 4]
        P[0, 3 + c] = (a[3] * b[0] - b[3] * a[0] + a[1] * b[2] - a[2] * b[1]) / step
        P[1, 3 + c] = (a[3] * b[1] - b[3] * a[1] + a[2] * b[0] - a[0] * b[2]) / step
        P[2, 3 + c] = (a[3] * b[2] - b[3] * a[2] + a[0] * b[1] - a[1] * b[0]) / step
        for r in range(3):
            P[3 + r, 3 + c] = (rates[1, k + r] - rates[0, k + r]) / (2.0 * step)
    for r in range(3):
        rates[0, k + r] = velocity[k + r]
    _copy_turn(body, q, ends[0])
    turn_half(body, half, part, ends[0], rates[0], turning)
    end = rates[0, k : k + 3]
    for r in range(6):
        by = P[r]
        by[0] = by[4] * z - by[5] * y  # P (0, w x d) for d along each axis
        by[1] = by[5] * x - by[3] * z
        by[2] = by[3] * y - by[4] * x
    for c in range(3):
        a, b = (c + 1) % 3, (c + 2) % 3
        P[c, c] += 1.0
        P[3 + b, c] += end[a]  # d x w', d along axis c
        P[3 + a, c] -= end[b]


@inner_kernel
def turn_rows(w: DerivativeArrays, body: Body, nv: int, rows: Matrix) -> None:
    """Propagate derivatives of the state through the second half of a body's step.

    Args:
        w: DerivativeArrays, after `write_free_turns`.
        body: BODY record.
        nv: number of degrees of freedom.
        rows: derivatives of the state (2 nv, columns), changed at the body's rows.
    """
    P, k, half_state = w.free_turns[SECOND_HALF, body.v_index], body.v_index, w.half_state
    for column in range(rows.shape[1]):
        for r in range(3):
            half_state[r], half_state[3 + r] = rows[k + r, column], rows[nv + k + r, column]
        for r in range(6):
            total = 0.0
            for c in range(6):
                total += P[r, c] * half_state[c]
            rows[k + r if r < 3 else nv + k + r - 3, column] = total


@inner_kernel
def turn_columns(w: DerivativeArrays, body: Body, nv: int, row: Vector) -> None:
    """Propagate the derivative of one scalar back through the first half of a body's step.

    Args:
        w: DerivativeArrays, after `write_free_turns`.
        body: BODY record.
        nv: number of degrees of freedom.
        row: derivative of the scalar with respect to the state (2 nv or more,), changed at the
            body's entries.
    """
    P, k, half_state = w.free_turns[FIRST_HALF, body.v_index], body.v_index, w.half_state
    for r in range(3):
        half_state[r], half_state[3 + r] = row[k + r], row[nv + k + r]
    for c in range(6):
        total = 0.0
        for r in range(6):
            total += half_state[r] * P[r, c]
        row[k + c if c < 3 else nv + k + c - 3] = total
