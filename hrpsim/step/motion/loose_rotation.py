# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""How bodies that are alone in their tree turn in an rk4 step.

The stages go on rotations themselves (Runge-Kutta-Munthe-Kaas) and on the angular momentum L about
the centre of mass: with R(t) = exp(T) R(0) and the moment m,

    dT/dt = w - T x w / 2 + T x (T x w) / 12,   dL/dt = m,   w = R J^-1 R' L

A body that spins about a principal axis does so exactly, and a constant moment changes L exactly,
however far it turns in a step. On quaternions and angular velocities a wheel that turns by more
than 2.8 rad in a step would begin to wobble by itself: the nutation is beyond what the method can
follow. For bodies with their origin at the centre of mass, as `Body` makes them.

What turns by more than half a radian in a step and is pressed by contacts, whose force is found
once for the whole step, is another matter: a moment that is held while the body nutates by more
than a radian ends up across what it was to stop. Such a body is *guided*: its spin is foretold by
the midpoint rule, its contacts ask for a velocity at the end, and from contact to contact it moves
with that, as in a semi-implicit step. Nothing slips then that would have to be taken back
(and see hrpsim.step.motion.guided_groups).
"""

from __future__ import annotations

from hrpsim.dynamics.spin import solve_rows_of_three
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.model.system import FREE
from hrpsim.spatial.rotation import rotate_quaternion, rotation_from_quaternion
from hrpsim.spatial.vector import matrix_times, transposed_times
from hrpsim.step.motion.guided_groups import keep_group_centres
from hrpsim.step.rows.constrain import is_solved_at_stages


@inlined_kernel
def is_loose(forest, i):
    """Return whether a body is free, alone in its tree, and has its origin at its centre."""
    body = forest.bodies[i]
    return body.joint_type == FREE and forest.dofs[body.v_index].turns_freely != 0


@inner_kernel
def start_turning(s, staged):
    """Keep the angular momenta of loose bodies; their rotations must be current.

    Those that turn far and are pressed will turn as the constraints foretold.
    """
    bodies, work = s.forest.bodies, s.work
    for i in range(bodies.shape[0]):
        if not is_loose(s.forest, i):
            continue
        held, k = work.per_body[i], bodies[i].v_index
        momentum, inertia = held.momentum, bodies[i].inertia
        momentum[0], momentum[1], momentum[2] = _momentum(inertia, s.kinematics[i].R, s.velocity, k)
        held.guided = held.turns_far and _is_pressed(held) and not _is_round(inertia)
        if held.turns_far:
            for r in range(3):
                acceleration = work.dv[k + r] + work.change[k + r]
                held.end_rate[r] = s.velocity[k + r] + s.settings[0].time_step * acceleration
                work.dv[k + r] -= held.gyroscopic[r]
    if staged:
        for number in range(s.step_stats[0].row_count):
            row = s.rows.rows[number]
            if is_solved_at_stages(s, row):
                work.per_body[s.sites.sites[row.site_a].body].guided = 0
                if row.site_b >= 0:
                    work.per_body[s.sites.sites[row.site_b].body].guided = 0


@inlined_kernel
def _is_pressed(held):
    """Return whether a constraint force is held through the stages."""
    load = held.constraint_wrench
    return load[3] != 0.0 or load[4] != 0.0 or load[5] != 0.0


@inlined_kernel
def _is_round(inertia):
    """Return whether an inertia is the same about all axes, but for rounding."""
    m, other = inertia[0, 0], abs(inertia[0, 1]) + abs(inertia[0, 2]) + abs(inertia[1, 2])
    return abs(inertia[1, 1] - m) + abs(inertia[2, 2] - m) + other < 1e-12 * m


@inner_kernel
def turn_to_stage(s, stage, duration):
    """Let loose bodies turn as they do at stage `stage` - 1, for a time from the step's start."""
    bodies, rate, acceleration = s.forest.bodies, s.work.rate, s.work.acceleration
    for i in range(bodies.shape[0]):
        if is_loose(s.forest, i):
            j, k = bodies[i].q_index + 3, bodies[i].v_index
            T, m = rate[stage - 1, j : j + 3], acceleration[stage - 1, k : k + 3]
            _turn(s, i, T, m, duration)


@inner_kernel
def find_turning(s, stage, duration):
    """Write the rates of a stage, `duration` after the start: of T for the quaternion, of L."""
    bodies, rate, acceleration = s.forest.bodies, s.work.rate, s.work.acceleration
    for i in range(bodies.shape[0]):
        if not is_loose(s.forest, i):
            continue
        j, k = bodies[i].q_index + 3, bodies[i].v_index
        R, w = s.kinematics[i].R, s.velocity
        Lx, Ly, Lz = _momentum(bodies[i].inertia, R, w, k)
        mx, my, mz = _momentum(bodies[i].inertia, R, s.work.dv, k)
        wx, wy, wz = w[k], w[k + 1], w[k + 2]
        moment, dT = acceleration[stage], rate[stage]
        moment[k] = mx + wy * Lz - wz * Ly
        moment[k + 1] = my + wz * Lx - wx * Lz
        moment[k + 2] = mz + wx * Ly - wy * Lx
        Tx = Ty = Tz = 0.0
        if stage > 0:
            before = rate[stage - 1]
            Tx, Ty, Tz = duration * before[j], duration * before[j + 1], duration * before[j + 2]
        x, y, z = Ty * wz - Tz * wy, Tz * wx - Tx * wz, Tx * wy - Ty * wx
        dT[j] = wx - 0.5 * x + (Ty * z - Tz * y) / 12.0
        dT[j + 1] = wy - 0.5 * y + (Tz * x - Tx * z) / 12.0
        dT[j + 2] = wz - 0.5 * z + (Tx * y - Ty * x) / 12.0


@inner_kernel
def turn_over_step(s):
    """Let loose bodies do the turn of the whole step."""
    bodies, rate, acceleration = s.forest.bodies, s.work.rate, s.work.acceleration
    T, m = s.work.directions[0], s.work.directions[1]
    any_guided = False
    for i in range(bodies.shape[0]):
        if is_loose(s.forest, i):
            j, k = bodies[i].q_index + 3, bodies[i].v_index
            if s.work.per_body[i].guided:
                _move_guided(s, i, T)
                any_guided = True
                continue
            for r in range(3):
                a, b = j + r, k + r
                T[r] = (rate[0, a] + 2.0 * (rate[1, a] + rate[2, a]) + rate[3, a]) / 6.0
                m[r] = acceleration[0, b] + 2.0 * (acceleration[1, b] + acceleration[2, b])
                m[r] = (m[r] + acceleration[3, b]) / 6.0
            _turn(s, i, T, m, s.settings[0].time_step)
    if any_guided:
        keep_group_centres(s)


@inner_kernel
def _move_guided(s, i, rate):
    """Move a body as the constraints of the step foretold; `rate` (3,) is work.

    It moves with its velocity at the end, at which its contacts neither part nor slip, but along
    that with the mean of start and end.
    """
    work, dt, detour = s.work, s.settings[0].time_step, s.work.per_body[i].detour
    j, k = s.forest.bodies[i].q_index, s.forest.bodies[i].v_index
    for r in range(3):
        s.velocity[k + r] = work.per_body[i].end_rate[r]
    _mean_along(work.velocity_after_impacts, s.velocity, k + 3, rate)
    for r in range(3):
        staged = s.q[j + r]
        s.q[j + r] = work.q_after_impacts[j + r] + dt * rate[r]
        detour[r] = s.q[j + r] - staged
    _mean_along(work.velocity_after_impacts, s.velocity, k, rate)
    for r in range(3, 7):
        s.q[j + r] = work.q_after_impacts[j + r]
    rotate_quaternion(s.q, j + 3, rate[0], rate[1], rate[2], dt)


@inlined_kernel
def _mean_along(start, end, k, mean_out):
    """Write `end` (3,) less half of what it gained along itself since the start."""
    gained = square = 0.0
    for r in range(3):
        gained += end[k + r] * (end[k + r] - start[k + r])
        square += end[k + r] * end[k + r]
    share = 1.0 - 0.5 * gained / square if square > 0.0 else 1.0
    for r in range(3):
        mean_out[r] = share * end[k + r]


@inner_kernel
def _turn(s, i, T, m, duration):
    """Turn a body from where the step began by T (3,) and add the moment m (3,), times a time."""
    body, q, start, R = s.forest.bodies[i], s.q, s.work.q_start, s.kinematics[i].R
    j, k, L = body.q_index + 3, body.v_index, s.work.per_body[i].momentum
    for r in range(4):
        q[j + r] = start[j + r]
    rotate_quaternion(q, j, T[0], T[1], T[2], duration)
    rotation_from_quaternion(q[j], q[j + 1], q[j + 2], q[j + 3], R)
    x, y, z = L[0] + duration * m[0], L[1] + duration * m[1], L[2] + duration * m[2]
    x, y, z = transposed_times(R, x, y, z)
    x, y, z = solve_rows_of_three(body.inertia[0], body.inertia[1], body.inertia[2], x, y, z)
    for r in range(3):
        s.velocity[k + r] = R[r, 0] * x + R[r, 1] * y + R[r, 2] * z


@inner_kernel
def _momentum(inertia, R, w, k):
    """Return R J R' (w[k], w[k + 1], w[k + 2])."""
    x, y, z = transposed_times(R, w[k], w[k + 1], w[k + 2])
    x, y, z = matrix_times(inertia, x, y, z)
    return matrix_times(R, x, y, z)
