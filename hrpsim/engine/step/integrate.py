# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Integration from accelerations to the state at the end of the step."""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Vector
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.dynamics.joint_forces import add_delivered_effort, joint_forces
from hrpsim.engine.kinematics.ball_joint import shorten_ball, write_ball_rate
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.engine.spatial.vector import copy_vector
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.continuous.drift import move_on
from hrpsim.engine.step.motion.body_rates import turn_by_body_rates, write_body_rates
from hrpsim.engine.step.motion.carry import move
from hrpsim.engine.step.motion.free_rotation import (
    find_turning,
    start_turning,
    turn_over_step,
    turn_to_stage,
)
from hrpsim.engine.step.motion.half_turns import turn_to_end
from hrpsim.engine.step.motion.held_forces import change_held_forces
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
from hrpsim.engine.step.scene.integrators import SYMPLECTIC
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
_WEIGHTS = (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0)  # of the stages of rk4


@inlined_kernel
def integrate_semi_implicit(s: Scene) -> None:
    """Apply the step's acceleration, then move all bodies from mid-step to the end of the step."""
    accelerate_velocity(s)
    if s.continuous.state[0].start_force:
        move_on(s)
    else:
        move(s.forest, s.velocity, s.settings[0].drift, s.q)
    if s.settings[0].half_turns:
        turn_to_end(s)


@inlined_kernel
def integrate_euler(s: Scene) -> None:
    """Apply the step's acceleration, then move all bodies with one constant velocity.

    The constant velocity is the velocity at the start of the step. With SYMPLECTIC it is the
    velocity at the end.
    """
    copy_vector(s.velocity, s.work.velocity_after_impacts)
    accelerate_velocity(s)
    if s.settings[0].integrator == SYMPLECTIC:
        move(s.forest, s.velocity, s.settings[0].time_step, s.q)
    else:
        move(s.forest, s.work.velocity_after_impacts, s.settings[0].time_step, s.q)


@inlined_kernel
def accelerate_velocity(s: Scene) -> None:
    """Apply the step's acceleration to the velocity, and write the efforts of actuators."""
    work, dt, horizon = s.work, s.settings[0].time_step, s.settings[0].horizon
    work.applied[:] = 0.0
    add_delivered_effort(s.forest, s.control, s.q, s.velocity, horizon, 1.0, work)
    for k in range(s.velocity.shape[0]):
        s.velocity[k] += dt * (work.dv[k] + work.change[k])


@lazy_kernel(feature="staged")
def integrate_rk4(s: Scene) -> int:
    """Integrate by the classical fourth-order method, with constant forces of contacts and limits.

    Gravity, springs, dampers, gains, applied wrenches, velocity products, rigid connections, and
    forces at velocity limits are evaluated at every stage.
    """
    settings, work, dt = s.settings[0], s.work, s.settings[0].time_step
    solved = begin_stages(s) if s.step_stats[0].direct_rows > 0 else 0
    if solved == NEEDS_KERNEL:
        return NEEDS_KERNEL
    staged = solved != 0
    start_slip(s)
    start_turning(s, staged)
    if settings.stage_turns:
        change_held_forces(s)
    copy_vector(s.q, s.rk4.q_start)
    copy_vector(s.velocity, work.velocity_after_impacts)
    work.applied[:] = 0.0
    for stage in range(4):
        h = dt if stage == 3 else 0.5 * dt
        if stage > 0:
            _go_to_stage(s, stage, h)
        if _solve_stage(s, stage, staged, 0.5 * ((stage + 1) // 2)) != DONE:
            return DIVERGED  # not SINGULAR, since the start of the step was not singular
        add_stage_efforts(s, _WEIGHTS[stage], stage > 0 or staged)
        add_spin(settings, s.forest.bodies, s.kinematics, s.rk4, stage)
        configuration_rate(s.forest, s.q, s.velocity, s.rk4.rate[stage])
        copy_vector(work.dv, s.rk4.acceleration[stage])
        find_turning(s.forest, s.velocity, s.kinematics, s.rk4, work.dv, stage, h)
        if settings.as_mujoco:
            write_body_rates(s.forest, s.q, s.velocity, work.dv, s.rk4, stage, h)
    _add_stages(s)
    if settings.as_mujoco:
        turn_by_body_rates(s, 4, dt)
    normalise_quaternions(s.forest, s.q)
    turn_over_step(s)
    if staged:
        end_stages(settings, s.counts[0], s.rows, s.direct)
    ask_back_slip(settings, s.counts[0], s.forest, s.q, s.kinematics, s.collision, s.rows, s.rk4)
    return DONE


@inlined_kernel
def _go_to_stage(s: Scene, stage: int, h: float) -> None:
    """Write the state of a stage, `h` [s] after the start of the step."""
    start, rate, acceleration = s.rk4.q_start, s.rk4.rate, s.rk4.acceleration
    for k in range(s.q.shape[0]):
        s.q[k] = start[k] + h * rate[stage - 1, k]
    for k in range(s.velocity.shape[0]):
        s.velocity[k] = s.work.velocity_after_impacts[k] + h * acceleration[stage - 1, k]
    turn_to_stage(s, stage, h)
    if s.settings[0].as_mujoco:
        turn_by_body_rates(s, stage, h)


@inlined_kernel
def _solve_stage(s: Scene, stage: int, staged: bool, part: float) -> int:
    """Write the acceleration of a stage to work.dv.

    Args:
        s: the scene.
        stage: number of the stage. At the first stage, the start of the step, the acceleration is
            known unless rows are `staged`.
        staged: whether any row is solved at the stages.
        part: time of the stage, as a fraction of the step.

    Returns:
        The status.
    """
    work = s.work
    if stage == 0 and not staged:
        for k in range(work.dv.shape[0]):
            work.dv[k] += work.change[k]
        return DONE
    status = stage_acceleration(s, part)
    if staged:
        if status == DONE:
            solve_stage(s, stage)
        return status
    weight_before = (2 * stage - 1) / 6.0
    while status == DONE and release_velocity_limits(
        s.settings[0], s.counts[0], s.forest, s.control, s.rows, work, weight_before
    ):
        status = stage_acceleration(s, part)
    return status


@inlined_kernel
def _add_stages(s: Scene) -> None:
    """Write the state at the end of the step from the rates at the stages."""
    dt, rate, acceleration = s.settings[0].time_step, s.rk4.rate, s.rk4.acceleration
    for k in range(s.q.shape[0]):
        total = rate[0, k] + 2.0 * (rate[1, k] + rate[2, k]) + rate[3, k]
        s.q[k] = s.rk4.q_start[k] + dt / 6.0 * total
    for k in range(s.velocity.shape[0]):
        total = acceleration[0, k] + 2.0 * (acceleration[1, k] + acceleration[2, k])
        s.velocity[k] = s.work.velocity_after_impacts[k] + dt / 6.0 * (total + acceleration[3, k])


@inner_kernel
def stage_acceleration(s: Scene, part: float) -> int:
    """Write work.dv at the state of a stage, with the step's constraint forces.

    Each force keeps its direction and moves with its body. A force at a fixed point would rotate a
    body that slides fast.

    Args:
        s: the scene.
        part: time of the stage, as a fraction of the step.
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
        start_position, position = s.rk4.held[i].p, kinematics[i].p
        x, y = position[0] - start_position[0], position[1] - start_position[1]
        z = position[2] - start_position[2]
        f, external = s.rk4.held[i].wrench, s.articulated[i].external
        change = s.rk4.held[i].change[round(2.0 * part)]
        fx, fy, fz = f[3] + change[3], f[4] + change[4], f[5] + change[5]
        external[0] += f[0] + change[0] + y * fz - z * fy
        external[1] += f[1] + change[1] + z * fx - x * fz
        external[2] += f[2] + change[2] + x * fy - y * fx
        external[3] += fx
        external[4] += fy
        external[5] += fz
    return accelerate(s, 0.0)


@inner_kernel
def configuration_rate(forest: Forest, q: Vector, velocity: Vector, rate_out: Vector) -> None:
    """Write the time derivative of the configuration, dq/dt (nq,).

    The derivative of a quaternion q is omega q / 2. Ball joints: `write_ball_rate`.
    """
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
        elif body.ball != 0:
            if body.ball == 1:
                write_ball_rate(q, j, velocity, k, rate_out)
        elif joint != FIXED:
            rate_out[j] = velocity[k]


@inner_kernel
def normalise_quaternions(forest: Forest, q: Vector) -> None:
    """Normalise the quaternions of all free bodies, and shorten rotation vectors to pi."""
    for i in range(forest.bodies.shape[0]):
        if forest.bodies[i].ball == 1:
            shorten_ball(q, forest.bodies[i].q_index)
        if forest.bodies[i].joint_type == FREE:
            j = forest.bodies[i].q_index + 3
            square = q[j] ** 2 + q[j + 1] ** 2 + q[j + 2] ** 2 + q[j + 3] ** 2
            scale = 1.0 / math.sqrt(square)  # length 0 or infinity: it has diverged
            if not 0.0 < scale < math.inf:
                scale = math.nan
            for r in range(4):
                q[j + r] *= scale


@inner_kernel
def within_limits(q: Vector, velocity: Vector) -> bool:
    """Return whether all numbers of the state are finite and below the limits.

    Args:
        q: configuration (nq,) [m, quaternion, rad].
        velocity: velocity (nv,) [rad/s, m/s].
    """
    total = 0.0
    for k in range(q.shape[0]):
        total += 0.0 * (_POSITION_OVERFLOWS * q[k])
    for k in range(velocity.shape[0]):
        total += 0.0 * (_SPEED_OVERFLOWS * velocity[k])
    return total == 0.0
