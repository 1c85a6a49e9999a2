# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""From accelerations to the state at the end of the step."""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.dynamics.joint_forces import add_delivered_effort, joint_forces
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.engine.spatial.vector import copy_vector
from hrpsim.engine.step.continuous.drift import move_on
from hrpsim.engine.step.motion.carry import move
from hrpsim.engine.step.motion.free_rotation import (
    find_turning,
    start_turning,
    turn_held_moments,
    turn_over_step,
    turn_to_stage,
)
from hrpsim.engine.step.motion.half_turns import turn_to_end
from hrpsim.engine.step.motion.rk4_stages import (
    add_stage_efforts,
    begin_stages,
    end_stages,
    hold_velocity_limits,
    release_velocity_limits,
    solve_stage,
)
from hrpsim.engine.step.motion.stick_drift import add_spin, ask_back_slip, start_slip
from hrpsim.engine.step.motion.unconstrained_motion import accelerate, external_forces
from hrpsim.engine.step.scene.records import SEMI_IMPLICIT, is_rk4
from hrpsim.engine.step.scene.status import (
    DIVERGED,
    DONE,
    LARGEST_POSITION,
    LARGEST_SPEED,
    NEEDS_KERNEL,
)
from hrpsim.model.system import FIXED, FREE

# These factors make values beyond a limit infinite.
_POSITION_OVERFLOWS = float(np.finfo(np.float64).max) / LARGEST_POSITION
_SPEED_OVERFLOWS = float(np.finfo(np.float64).max) / LARGEST_SPEED


@inlined_kernel
def integrate_euler(s):
    """Apply the step's acceleration, then drift: from the middle on, or the whole step (euler)."""
    work, dt = s.work, s.settings[0].time_step
    symmetric = s.settings[0].integrator == SEMI_IMPLICIT
    if not symmetric:
        copy_vector(s.velocity, work.velocity_after_impacts)
    horizon = dt if symmetric else 0.0
    work.applied[:] = 0.0
    add_delivered_effort(s.forest, s.control, s.q, s.velocity, horizon, 1.0, work)
    for k in range(s.velocity.shape[0]):
        s.velocity[k] += dt * (work.dv[k] + work.change[k])
    if s.continuous.state[0].start_force:
        move_on(s)
    elif symmetric:
        move(s.forest, s.velocity, 0.5 * dt, s.q)
    else:
        move(s.forest, work.velocity_after_impacts, dt, s.q)
    if symmetric and s.lazy_kernels[0].turn_to_end != 0:
        turn_to_end(s)


@lazy_kernel(used=is_rk4)
def integrate_rk4(s):
    """Integrate by the classical fourth-order method; forces of contacts and limits are held.

    Everything else is evaluated at every stage: gravity, springs, dampers, gains, applied wrenches,
    velocity products, rigid connections, forces at velocity limits.
    """
    settings, counts = s.settings[0], s.counts[0]
    work, dt = s.work, settings.time_step
    rate, acceleration = s.rk4.rate, s.rk4.acceleration
    staged = begin_stages(settings, counts, s.step_stats[0], s.rows, s.direct)
    if staged and s.lazy_kernels[0].solve_stage == 0:
        s.lazy_kernels[1].solve_stage = 1
        return NEEDS_KERNEL
    start_slip(s)
    start_turning(s, staged)
    if s.lazy_kernels[0].turn_held_moments != 0:
        turn_held_moments(s)
    copy_vector(s.q, s.rk4.q_start)
    copy_vector(s.velocity, work.velocity_after_impacts)
    work.applied[:] = 0.0
    for stage in range(4):
        h = dt if stage == 3 else 0.5 * dt
        if stage > 0:
            for k in range(s.q.shape[0]):
                s.q[k] = s.rk4.q_start[k] + h * rate[stage - 1, k]
            for k in range(s.velocity.shape[0]):
                s.velocity[k] = work.velocity_after_impacts[k] + h * acceleration[stage - 1, k]
            turn_to_stage(s, stage, h)
        if stage > 0 or staged:
            if stage_acceleration(s, h / dt) != DONE:
                return DIVERGED  # where the step began, nothing was singular
            if staged:
                solve_stage(s, stage)
            while not staged and release_velocity_limits(
                settings, counts, s.forest, s.control, s.rows, work, (2 * stage - 1) / 6.0
            ):
                if stage_acceleration(s, h / dt) != DONE:
                    return DIVERGED
        else:
            for k in range(s.velocity.shape[0]):
                work.dv[k] += work.change[k]
        weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
        add_stage_efforts(s, weight, stage > 0 or staged)
        add_spin(settings, s.forest.bodies, s.kinematics, s.rk4, stage)
        configuration_rate(s.forest, s.q, s.velocity, rate[stage])
        for k in range(s.velocity.shape[0]):
            acceleration[stage, k] = work.dv[k]
        find_turning(s.forest, s.velocity, s.kinematics, s.rk4, work.dv, stage, h)
    for k in range(s.q.shape[0]):
        total = rate[0, k] + 2.0 * (rate[1, k] + rate[2, k]) + rate[3, k]
        s.q[k] = s.rk4.q_start[k] + dt / 6.0 * total
    for k in range(s.velocity.shape[0]):
        total = acceleration[0, k] + 2.0 * (acceleration[1, k] + acceleration[2, k])
        s.velocity[k] = work.velocity_after_impacts[k] + dt / 6.0 * (total + acceleration[3, k])
    normalise_quaternions(s.forest, s.q)
    turn_over_step(s)
    if staged:
        end_stages(settings, counts, s.rows, s.direct)
    ask_back_slip(settings, counts, s.forest, s.q, s.kinematics, s.collision, s.rows, s.rk4)
    return DONE


@inner_kernel
def stage_acceleration(s, part: float):
    """Write work.dv at the state of a stage, with the step's constraint forces.

    Forces keep their directions and travel with the bodies that they push. A force left at its
    first place would turn a body that slides fast.

    part: fraction of the step at which the stage is.
    """
    work, kinematics = s.work, s.kinematics
    update_poses(s.forest, s.q, kinematics)
    update_velocities(s.forest, s.velocity, kinematics)
    joint_forces(s.forest, s.control, s.q, s.velocity, 0.0, work)
    for index in range(s.forest.joints.shape[0]):
        k = s.forest.joints[index]
        if k >= work.effort.shape[0]:
            break
        work.effort[k] += work.constraint_effort[k]
    hold_velocity_limits(s)
    external_forces(kinematics, s.wrenches, s.counts[0].wrench_count, s.articulated)
    for i in range(s.forest.bodies.shape[0]):
        before, now = s.rk4.held[i].p, kinematics[i].p
        x, y, z = now[0] - before[0], now[1] - before[1], now[2] - before[2]
        f, external, turning = (
            s.rk4.held[i].wrench,
            s.articulated[i].external,
            s.rk4.held[i].turning,
        )
        external[0] += f[0] + part * turning[0] + y * f[5] - z * f[4]
        external[1] += f[1] + part * turning[1] + z * f[3] - x * f[5]
        external[2] += f[2] + part * turning[2] + x * f[4] - y * f[3]
        for r in range(3, 6):
            external[r] += f[r]
    return accelerate(s, 0.0)


@inlined_kernel
def correct_positions(settings, forest, q, work):
    """Move along the displacement rate that corrects penetration; velocities do not change."""
    move(forest, work.correction_velocity, settings.time_step, q)


@inner_kernel
def configuration_rate(forest, q, velocity, rate_out):
    """Write dq/dt (nq,), which is omega q / 2 for a quaternion."""
    for i in range(forest.bodies.shape[0]):
        body = forest.bodies[i]
        joint, k, j = body.joint_type, body.v_index, body.q_index
        if joint == FREE:
            for r in range(3):
                rate_out[j + r] = velocity[k + 3 + r]
            wx, wy, wz = 0.5 * velocity[k], 0.5 * velocity[k + 1], 0.5 * velocity[k + 2]
            x, y, z, w = q[j + 3], q[j + 4], q[j + 5], q[j + 6]
            rate_out[j + 3] = wx * w + wy * z - wz * y
            rate_out[j + 4] = wy * w + wz * x - wx * z
            rate_out[j + 5] = wz * w + wx * y - wy * x
            rate_out[j + 6] = -wx * x - wy * y - wz * z
        elif joint != FIXED:
            rate_out[j] = velocity[k]


@inner_kernel
def normalise_quaternions(forest, q):
    """Give every free body's quaternion unit length."""
    for i in range(forest.bodies.shape[0]):
        if forest.bodies[i].joint_type == FREE:
            j = forest.bodies[i].q_index + 3
            square = q[j] ** 2 + q[j + 1] ** 2 + q[j + 2] ** 2 + q[j + 3] ** 2
            scale = 1.0 / math.sqrt(square)  # length 0 or infinity: it has diverged
            if not 0.0 < scale < math.inf:
                scale = math.nan
            for r in range(4):
                q[j + r] *= scale


@inner_kernel
def within_limits(q, velocity):
    """Return whether the state holds finite numbers below the limits only."""
    total = 0.0
    for k in range(q.shape[0]):
        total += 0.0 * (_POSITION_OVERFLOWS * q[k])
    for k in range(velocity.shape[0]):
        total += 0.0 * (_SPEED_OVERFLOWS * velocity[k])
    return total == 0.0
