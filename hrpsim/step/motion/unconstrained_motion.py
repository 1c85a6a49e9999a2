# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""How a world moves: its acceleration without constraint forces, and along a velocity."""

from __future__ import annotations

import numpy as np

from hrpsim.dynamics.articulated import accelerations, factorise, start_bodies
from hrpsim.dynamics.joint_forces import apply_frictions, joint_forces
from hrpsim.dynamics.spin import free_acceleration, spin_acceleration
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.jit.lazy_kernels import lazy_kernel
from hrpsim.model.system import FIXED, FREE
from hrpsim.spatial.rotation import rotate_quaternion
from hrpsim.spatial.vector import matrix_times, placed_point, transposed_times
from hrpsim.step.motion.actuators import drive_joints
from hrpsim.step.motion.geometric_stiffness import add_geometric_stiffness
from hrpsim.step.scene.records import EULER, RK4
from hrpsim.step.scene.status import DIVERGED, DONE, SINGULAR

# Rotation in an rk4 step above which the middle of the step is predicted [rad].
_FAR_TURN = 0.5


@inlined_kernel
def find_acceleration(s, horizon):
    """Write work.dv for the current poses and velocities; SINGULAR if a joint sees no inertia.

    `horizon` > 0 takes springs, dampers and gains implicitly over that time [s].
    """
    work = s.work
    external_forces(s.kinematics, s.wrenches, s.counts[0].wrench_count, s.articulated)
    joint_forces(
        s.forest,
        s.control,
        s.q,
        s.velocity,
        horizon,
        work.effort,
        work.joint_inertia,
        work.actuator_inertia,
    )
    if s.lazy_kernels[0].drive_joints != 0:
        drive_joints(s)
    if horizon > 0.0 and s.lazy_kernels[0].predict_frictions != 0:
        apply_frictions(work.friction, work.effort, work.joint_inertia)
    status = accelerate(s, horizon)
    if s.lazy_kernels[0].turn_freely != 0 and s.settings[0].integrator != EULER:
        turn_freely(s, s.settings[0].time_step)
    return status


@lazy_kernel(np.float64, used=lambda scene: bool(scene.forest.dofs["turns_freely"].any()))
def turn_freely(s, time_step):
    """Rotate bodies that are alone in their tree without energy gain (hrpsim.dynamics.spin).

    Changes work.dv; about the centre of mass, so only for bodies with their origin there. In an
    rk4 step, only for those that turn too far to be predicted by their acceleration at the start.
    """
    bodies, dofs, dv = s.forest.bodies, s.forest.dofs, s.work.dv
    rk4 = s.settings[0].integrator == RK4
    for i in range(bodies.shape[0]):
        body, held = bodies[i], s.spins[i]
        if body.joint_type != FREE or not dofs[body.v_index].turns_freely:
            continue
        k = body.v_index
        x, y, z = s.velocity[k], s.velocity[k + 1], s.velocity[k + 2]
        limit = _FAR_TURN / time_step
        held.turns_far = 0
        if not rk4 or x * x + y * y + z * z > limit * limit:
            x, y, z = _gyroscopic_change(bodies, s.velocity, s.kinematics, s.spins, i, time_step)
            dv[k], dv[k + 1], dv[k + 2] = dv[k] + x, dv[k + 1] + y, dv[k + 2] + z
            held.turns_far = 1
            held.gyroscopic[0], held.gyroscopic[1], held.gyroscopic[2] = x, y, z
    return DONE


@inner_kernel
def _gyroscopic_change(bodies, velocity, kinematics, spins, i, time_step):
    """Return the rule's contribution to the angular acceleration of a body.

    kinematics has the velocity in the middle of a step that predicted moments alone lead to.
    """
    here, body, k = kinematics[i], bodies[i], bodies[i].v_index
    I, R, v = body.inertia, here.R, velocity
    wx, wy, wz = transposed_times(R, v[k], v[k + 1], v[k + 2])
    mx, my, mz = transposed_times(R, here.v[0], here.v[1], here.v[2])
    ex, ey, ez = free_acceleration(I, mx, my, mz)  # what accelerations() found
    twice, spin = 2.0 / time_step, spins[i].spin_acceleration
    ax, ay, az = twice * (mx - wx), twice * (my - wy), twice * (mz - wz)
    x, y, z = spin_acceleration(I, wx, wy, wz, ax, ay, az, time_step)
    spin[0], spin[1], spin[2] = matrix_times(R, x, y, z)
    return matrix_times(R, x - ex, y - ey, z - ez)


@inlined_kernel
def accelerate(s, horizon):
    """Write work.dv for work.effort, work.joint_inertia and the external forces."""
    work = s.work
    start_bodies(s.forest, s.kinematics, s.articulated)
    loaded = horizon > 0.0 and s.connections.shape[0] > 0
    if loaded:
        add_geometric_stiffness(s, horizon)
    singular = factorise(s.forest, s.kinematics, work.joint_inertia, work.effort, s.articulated)
    if singular >= 0:
        added = work.geometric_stiffness[singular]
        s.failure[0].needed = singular
        s.failure[0].load = added[0] + added[1] + added[2] if loaded else 0.0
        return SINGULAR if _is_finite(s.kinematics, s.articulated, singular) else DIVERGED
    accelerations(s.forest, s.kinematics, s.settings[0].gravity, s.articulated, work.dv)
    return DONE


@inner_kernel
def _is_finite(kinematics, articulated, i):
    """Return whether the inertia of a body is, or the state from which it comes is not."""
    total = 0.0
    for r in range(6):
        for c in range(6):
            total += 0.0 * articulated[i].I_A[r, c]
        total += 0.0 * kinematics[i].S[r]
    return total == 0.0


@inner_kernel
def external_forces(kinematics, wrenches, wrench_count, articulated_out):
    """Write the users' wrenches as spatial forces on bodies."""
    for i in range(articulated_out.shape[0]):
        external = articulated_out[i].external
        for r in range(6):
            external[r] = 0.0
    for k in range(wrench_count):
        wrench = wrenches[k]
        here = kinematics[wrench.body]
        f = wrench.force
        x, y, z = placed_point(here.R, here.p, wrench.point)
        external = articulated_out[wrench.body].external
        external[0] += wrench.torque[0] + y * f[2] - z * f[1]
        external[1] += wrench.torque[1] + z * f[0] - x * f[2]
        external[2] += wrench.torque[2] + x * f[1] - y * f[0]
        for r in range(3):
            external[3 + r] += f[r]


@inlined_kernel
def carry_body(body, velocity, duration, q):
    """Carry one body's part of q along a constant velocity (kernels' layout) for `duration` [s].

    The quaternion of a body that does not turn keeps its bits.
    """
    k, j = body.v_index, body.q_index
    if body.joint_type == FREE:
        for r in range(3):
            q[j + r] += duration * velocity[k + 3 + r]
        x, y, z = velocity[k], velocity[k + 1], velocity[k + 2]
        if x != 0.0 or y != 0.0 or z != 0.0:
            rotate_quaternion(q, j + 3, x, y, z, duration)
    elif body.joint_type != FIXED:
        q[j] += duration * velocity[k]


@inner_kernel
def move(forest, velocity, duration, q):
    """Carry q along a constant velocity (kernels' layout) for `duration` [s]."""
    for i in range(forest.bodies.shape[0]):
        body = forest.bodies[i]
        joint, k, j = body.joint_type, body.v_index, body.q_index
        if joint == FREE:
            if not _any_moves(velocity, k):
                continue  # not even by the rounding of its quaternion's length
            for r in range(3):
                q[j + r] += duration * velocity[k + 3 + r]
            rotate_quaternion(q, j + 3, velocity[k], velocity[k + 1], velocity[k + 2], duration)
        elif joint != FIXED:
            q[j] += duration * velocity[k]


@inlined_kernel
def _any_moves(velocity, k):
    """Return whether any of the six velocities of a free body is not zero."""
    angular = velocity[k] != 0.0 or velocity[k + 1] != 0.0 or velocity[k + 2] != 0.0
    return angular or velocity[k + 3] != 0.0 or velocity[k + 4] != 0.0 or velocity[k + 5] != 0.0
