# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rotation of single free bodies in an rk4 step.

Without moments, the body rotates by F(t), with the angular velocity f(t) in the axes of the body
(`turn_freely_for`). The stages integrate only the change of this rotation by the moment m. This
change is the rotation vector T, with the rotation R = exp(T) F. The angular velocity in the axes of
the body is u = f + d, where d is its change by the moment. L is the angular momentum in world axes:

    dT/dt = r - T x r / 2 + T x (T x r) / 12,  r = R d,   dd/dt = du/dt - df/dt,   dL/dt = m

(Munthe-Kaas). The angular velocity is computed from d, not from L and the inertia J. If J is small
about one axis, an error of R would give a large error of J^-1 R^T L about this axis. In a few steps
the error would grow. A constant moment changes L exactly, for any rotation. Therefore L gives a
final correction of R such that R J u equals L. The correction is as small as the error of the step.
All bodies here have the origin at the centre of mass, as `Body` ensures.

The contact forces and their points change over the step (hrpsim.engine.step.motion.held_forces).

A body with contacts may rotate by more than half a radian in a step. Its contact force is computed
only once per step. If the body nutates by more than a radian, a constant moment would act
perpendicular to the rotation that it should stop. The rotation of this body is *predicted*. The
body receives the moments of the step at the start, and then rotates freely, as in the solution of
its contacts. Its centre of mass moves by the stages, as for all other bodies.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    HeldForce,
    Index,
    Kinematics,
    Mat3,
    Records,
    Scene,
    Seconds,
    Vector,
)
from hrpsim.engine.dynamics.spin import free_acceleration, solve_rows_of_three, turn_freely_for
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.rotation import rotate_quaternion, rotated, rotation_from_quaternion
from hrpsim.engine.spatial.vector import matrix_times, transposed_times
from hrpsim.engine.step.motion.half_turns import is_round, turns_freely, write_free_acceleration
from hrpsim.engine.step.motion.records import Rk4
from hrpsim.engine.step.rows.constrain import is_solved_at_stages

# Largest rotation that aligns R with L [rad], and as a fraction of the rotation of the step. The
# moments on bodies nearly at rest, as in a stack, cancel, so that rounding gives their direction.
_LARGEST_ALIGNMENT = 0.1


@inner_kernel
def start_turning(s: Scene, staged: bool) -> None:
    """Store the angular momenta of free bodies [Nms] at the start of an rk4 step.

    Poses must be current. For bodies with contacts that rotate far, the rotation is predicted.

    Args:
        s: the scene.
        staged: whether rigid connections are solved at the stages.
    """
    bodies, work = s.forest.bodies, s.work
    for i in range(bodies.shape[0]):
        if not turns_freely(s.forest, i):
            continue
        rotation, spin, k = s.rk4.turns[i], s.spins[i], bodies[i].v_index
        momentum, inertia = rotation.momentum, bodies[i].inertia
        momentum[0], momentum[1], momentum[2] = _momentum(inertia, s.kinematics[i].R, s.velocity, k)
        rotation.predicted = spin.turns_far and _is_pressed(s.rk4.held[i]) and not is_round(inertia)
        _find_free_motion(s, i)
        if spin.turns_far:
            link = s.kinematics[i]
            write_free_acceleration(inertia, link)
            for r in range(3):
                acceleration = work.dv[k + r] + work.change[k + r]
                rotation.end_rate[r] = s.velocity[k + r] + s.settings[0].time_step * acceleration
                work.dv[k + r] += link.c[r]
                link.c[r] = 0.0  # computed at the stages
    if staged:
        _leave_to_stages(s)


@inlined_kernel
def _leave_to_stages(s: Scene) -> None:
    """Clear the prediction for bodies with rows that are solved at the stages."""
    for number in range(s.counts[0].row_count):
        row = s.rows.rows[number]
        if is_solved_at_stages(s.settings[0], row):
            s.rk4.turns[s.constrained.bodies[row.constrained_a].body].predicted = 0
            if row.constrained_b >= 0:
                s.rk4.turns[s.constrained.bodies[row.constrained_b].body].predicted = 0


@inner_kernel
def _find_free_motion(s: Scene, i: Index) -> None:
    """Write the free rotation of a body at the start, the middle and the end of the step."""
    rotation, R, v, k = s.rk4.turns[i], s.kinematics[i].R, s.velocity, s.forest.bodies[i].v_index
    inertia, j, half = s.forest.bodies[i].inertia, s.forest.bodies[i].q_index + 3, 0.5
    q, u = rotation.free_orientation, rotation.free_velocity
    for r in range(4):
        q[0, r] = s.q[j + r]
    u[0, 0], u[0, 1], u[0, 2] = transposed_times(R, v[k], v[k + 1], v[k + 2])
    half *= s.settings[0].time_step
    for part in range(1, 3):
        for r in range(4):
            q[part, r] = q[part - 1, r]
        x, y, z = u[part - 1, 0], u[part - 1, 1], u[part - 1, 2]
        if is_round(inertia):
            wx, wy, wz = rotated(q[part, 0], q[part, 1], q[part, 2], q[part, 3], x, y, z)
            rotate_quaternion(q[part], 0, wx, wy, wz, half)
        else:
            x, y, z = turn_freely_for(inertia, q[part], x, y, z, half, s.work.turning)
        u[part, 0], u[part, 1], u[part, 2] = x, y, z


@inlined_kernel
def _is_pressed(held: HeldForce) -> bool:
    """Return whether the constraint force on a body is not zero."""
    load = held.wrench
    return load[3] != 0.0 or load[4] != 0.0 or load[5] != 0.0


@inner_kernel
def turn_to_stage(s: Scene, stage: int, duration: Seconds) -> None:
    """Rotate free bodies with the rates of the previous stage.

    Args:
        s: the scene.
        stage: number of the stage, 1 to 3.
        duration: time from the start of the step [s].
    """
    bodies, rate, acceleration = s.forest.bodies, s.rk4.rate, s.rk4.acceleration
    for i in range(bodies.shape[0]):
        if turns_freely(s.forest, i):
            j, k = bodies[i].q_index + 3, bodies[i].v_index
            T, m = rate[stage - 1, j : j + 3], acceleration[stage - 1, k : k + 3]
            _turn(s, i, (stage + 1) // 2, T, s.rk4.turns[i].deviation[stage - 1], m, duration)


@inner_kernel
def find_turning(
    forest: Forest,
    velocity: Vector,
    kinematics: Records[Kinematics],
    rk4: Rk4,
    dv: Vector,
    stage: int,
    duration: Seconds,
) -> None:
    """Write the time derivatives of T, d and L of free bodies at a stage into `rk4`.

    Args:
        forest: constants of the bodies and joints.
        velocity: velocity of the stage (nv,) [rad/s, m/s], kernels' layout.
        kinematics: KINEMATICS records of the bodies (n,).
        rk4: work records of the method. `rate`, `acceleration` and `deviation` of the stage are
            written.
        dv: acceleration of the stage (nv,) [rad/s^2, m/s^2], kernels' layout.
        stage: number of the stage, 0 to 3.
        duration: time from the start of the step [s].
    """
    bodies, rate, acceleration = forest.bodies, rk4.rate, rk4.acceleration
    for i in range(bodies.shape[0]):
        if not turns_freely(forest, i):
            continue
        j, k, rotation = bodies[i].q_index + 3, bodies[i].v_index, rk4.turns[i]
        inertia, R, w, dw = bodies[i].inertia, kinematics[i].R, velocity, dv
        Lx, Ly, Lz = _momentum(inertia, R, w, k)
        mx, my, mz = _momentum(inertia, R, dw, k)
        wx, wy, wz = w[k], w[k + 1], w[k + 2]
        moment, dT, deviation = acceleration[stage], rate[stage], rotation.deviation[stage]
        moment[k] = mx + wy * Lz - wz * Ly
        moment[k + 1] = my + wz * Lx - wx * Lz
        moment[k + 2] = mz + wx * Ly - wy * Lx
        free = rotation.free_velocity[(stage + 1) // 2]
        ax, ay, az = transposed_times(R, dw[k], dw[k + 1], dw[k + 2])
        x, y, z = free_acceleration(inertia, free[0], free[1], free[2])
        deviation[0], deviation[1], deviation[2] = ax - x, ay - y, az - z
        x, y, z = matrix_times(R, free[0], free[1], free[2])
        wx, wy, wz = wx - x, wy - y, wz - z
        Tx = Ty = Tz = 0.0
        if stage > 0:
            before = rate[stage - 1]
            Tx, Ty, Tz = duration * before[j], duration * before[j + 1], duration * before[j + 2]
        x, y, z = Ty * wz - Tz * wy, Tz * wx - Tx * wz, Tx * wy - Ty * wx
        dT[j] = wx - 0.5 * x + (Ty * z - Tz * y) / 12.0
        dT[j + 1] = wy - 0.5 * y + (Tz * x - Tx * z) / 12.0
        dT[j + 2] = wz - 0.5 * z + (Tx * y - Ty * x) / 12.0


@inner_kernel
def turn_over_step(s: Scene) -> None:
    """Rotate free bodies over the whole step, with the weighted sum of all stages' rates."""
    bodies, rate, acceleration = s.forest.bodies, s.rk4.rate, s.rk4.acceleration
    T, m, d = s.work.directions[0], s.work.directions[1], s.work.directions[2]
    for i in range(bodies.shape[0]):
        if turns_freely(s.forest, i):
            j, k = bodies[i].q_index + 3, bodies[i].v_index
            if s.rk4.turns[i].predicted:
                _turn_as_predicted(s, i)
                continue
            deviation = s.rk4.turns[i].deviation
            for r in range(3):
                a, b = j + r, k + r
                d[r] = deviation[0, r] + 2.0 * (deviation[1, r] + deviation[2, r])
                d[r] = (d[r] + deviation[3, r]) / 6.0
                T[r] = (rate[0, a] + 2.0 * (rate[1, a] + rate[2, a]) + rate[3, a]) / 6.0
                m[r] = acceleration[0, b] + 2.0 * (acceleration[1, b] + acceleration[2, b])
                m[r] = (m[r] + acceleration[3, b]) / 6.0
            _turn(s, i, 2, T, d, m, s.settings[0].time_step)


@inner_kernel
def _turn_as_predicted(s: Scene, i: Index) -> None:
    """Rotate a body freely over the step, after the moments of the step act at its start."""
    body, rate = s.forest.bodies[i], s.rk4.turns[i].end_rate
    j, k = body.q_index + 3, body.v_index
    for r in range(j, j + 4):
        s.q[r] = s.rk4.q_start[r]
    x, y, z = rotated(-s.q[j], -s.q[j + 1], -s.q[j + 2], s.q[j + 3], rate[0], rate[1], rate[2])
    q, dt = s.q[j : j + 4], s.settings[0].time_step
    x, y, z = turn_freely_for(body.inertia, q, x, y, z, dt, s.work.turning)
    x, y, z = rotated(s.q[j], s.q[j + 1], s.q[j + 2], s.q[j + 3], x, y, z)
    s.velocity[k], s.velocity[k + 1], s.velocity[k + 2] = x, y, z


@inner_kernel
def _turn(
    s: Scene, i: Index, part: int, T: Vector, d: Vector, m: Vector, duration: Seconds
) -> None:
    """Write the rotation of a body after a given time.

    Args:
        s: the scene.
        i: index of the body among the bodies that rotate freely.
        part: 1 for the middle of the step, 2 for its end.
        T: rate of the rotation vector due to moments (3,) [rad/s].
        d: rate of the angular velocity due to moments, in the axes of the body (3,) [rad/s^2].
        m: moment in world axes (3,) [Nm].
        duration: time since the start of the step [s].
    """
    body, q, R = s.forest.bodies[i], s.q, s.kinematics[i].R
    j, k, rotation = body.q_index + 3, body.v_index, s.rk4.turns[i]
    L, free, inertia = rotation.momentum, rotation.free_velocity[part], body.inertia
    for r in range(4):
        q[j + r] = rotation.free_orientation[part, r]
    rotate_quaternion(q, j, T[0], T[1], T[2], duration)
    x, y, z = free[0] + duration * d[0], free[1] + duration * d[1], free[2] + duration * d[2]
    Lx, Ly, Lz = L[0] + duration * m[0], L[1] + duration * m[1], L[2] + duration * m[2]
    lx, ly, lz = matrix_times(inertia, x, y, z)
    lx, ly, lz = rotated(q[j], q[j + 1], q[j + 2], q[j + 3], lx, ly, lz)
    ax, ay, az = ly * Lz - lz * Ly, lz * Lx - lx * Lz, lx * Ly - ly * Lx
    sine, cosine = math.sqrt(ax * ax + ay * ay + az * az), lx * Lx + ly * Ly + lz * Lz
    turn = duration * math.sqrt(x * x + y * y + z * z)
    aligned = sine < _LARGEST_ALIGNMENT * min(turn, 1.0) * cosine
    if aligned and sine > 0.0:
        rotate_quaternion(q, j, ax, ay, az, math.atan2(sine, cosine) / sine)
    rotation_from_quaternion(q[j], q[j + 1], q[j + 2], q[j + 3], R)
    if aligned:
        scale = math.sqrt((Lx * Lx + Ly * Ly + Lz * Lz) / (lx * lx + ly * ly + lz * lz))
        x, y, z = scale * x, scale * y, scale * z
    else:
        x, y, z = transposed_times(R, Lx, Ly, Lz)
        x, y, z = solve_rows_of_three(inertia[0], inertia[1], inertia[2], x, y, z)
    for r in range(3):
        s.velocity[k + r] = R[r, 0] * x + R[r, 1] * y + R[r, 2] * z


@inner_kernel
def _momentum(inertia: Mat3, R: Mat3, w: Vector, k: Index) -> tuple[float, float, float]:
    """Return the angular momentum R J R^T w (x, y, z) [Nms] of the angular velocity w[k:k + 3]."""
    x, y, z = transposed_times(R, w[k], w[k + 1], w[k + 2])
    x, y, z = matrix_times(inertia, x, y, z)
    return matrix_times(R, x, y, z)
