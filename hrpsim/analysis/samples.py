# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Analyse samples of a motion: kinematics, Newton-Euler, whole-body quantities.

A *support* is a link that may be fixed to the world (`hrpsim.analysis.records`).
"""

import math

from hrpsim.analysis.margins import hull_margin, outline_margin
from hrpsim.analysis.records import (
    CENTER_OF_PRESSURE,
    AnalysedRobot,
    Phase,
    Results,
    Sample,
    Support,
    SupportSample,
    ThreadMemory,
)
from hrpsim.analysis.wrench_split import divide_by_norm, keep_pressure_inside
from hrpsim.engine.compile.compiled import inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    Articulated,
    Index,
    IndexTable,
    Indices,
    Kinematics,
    Matrix,
    Records,
    Vec3,
    Vector,
)
from hrpsim.engine.dynamics.articulated import place_inertias
from hrpsim.engine.dynamics.recursive import newton_euler
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.engine.kinematics.layout import acceleration_from_kernel, velocity_from_kernel
from hrpsim.engine.spatial.inertia import apply_inertia
from hrpsim.engine.spatial.rotation import quaternion_from_rotation
from hrpsim.engine.spatial.vector import copy_vector, matrix_times, placed_point, point_velocity
from hrpsim.model.system import FIXED, FREE


@kernel  # many parameters: arrays of the motion instead of the motion
def analyse_samples(
    subject: AnalysedRobot,
    phases: Records[Phase],
    fixed: IndexTable,
    phase_of: Indices,
    q: Matrix,
    v: Matrix,
    dv: Matrix,
    space: ThreadMemory,
    results: Results,
) -> None:
    """Analyse T samples of a motion.

    Args:
        subject: the analysed robot.
        phases: PHASE records (p,).
        fixed: 1 for the supports that are fixed in each phase, otherwise 0 (p, s).
        phase_of: phase of each sample (T,).
        q: configurations (T, nq). Only the joints' entries of q, v and dv are read.
        v: velocities (T, nv).
        dv: accelerations (T, nv).
        space: work memory.
        results: results (T,), written.
    """
    for t in range(q.shape[0]):
        k = phase_of[t]
        _analyse(subject, phases[k], fixed[k], q[t], v[t], dv[t], space, results, t)


@inner_kernel  # many parameters: arrays of the motion instead of the motion
def _analyse(
    subject: AnalysedRobot,
    phase: Phase,
    fixed: Indices,
    q: Vector,
    v: Vector,
    dv: Vector,
    space: ThreadMemory,
    results: Results,
    t: int,
) -> None:
    forest = subject.forest
    kinematics, articulated = space.kinematics, space.articulated
    velocity, acceleration, effort = space.velocity, space.acceleration, space.effort
    q_out, tau_out, sample = results.q[t], results.tau[t], results.samples[t]
    supports = results.supports[t]
    copy_vector(q, q_out)
    copy_vector(v, velocity)
    copy_vector(dv, acceleration)
    base_from_fixed_link(
        forest, subject.supports[phase.reference], phase, space.turn, kinematics, q_out, velocity,
        acceleration,
    )  # fmt: skip
    place_inertias(forest, kinematics, articulated)
    newton_euler(forest, kinematics, acceleration, subject.gravity, articulated, effort)
    copy_vector(effort[:6], space.total)
    _write_totals(
        subject, kinematics, articulated, velocity, q_out, space.total, space.momentum, sample
    )
    _write_points(subject.gravity, kinematics[0].origin, space.total, phase.ground, sample)
    _place_supports(subject, kinematics, phase.ground, space.arms, supports)
    _divide(subject, fixed, space, supports)
    for k in range(effort.shape[0]):
        tau_out[k] = effort[k] + forest.dofs[k].rotor_inertia * acceleration[k]
    for k in range(6):
        tau_out[k] = 0.0
    count = 0
    for i in range(fixed.shape[0]):
        if fixed[i] != 0:
            support = subject.supports[i]
            _unload(forest, kinematics, support.body, space.arms[i], space.shares[i], tau_out)
            count = _add_outline(subject.vertices, support, supports[i], space.points, count)
        _write_support(subject, i, space.shares[i], supports[i])
    sample.margin = hull_margin(space.points, count, sample.zmp[0], sample.zmp[1])
    point = sample.capture_point
    sample.capture_margin = hull_margin(space.points, count, point[0], point[1])
    velocity_from_kernel(forest, q_out, velocity, results.v[t])
    acceleration_from_kernel(forest, q_out, velocity, acceleration, results.dv[t])


@inner_kernel
def _write_totals(
    subject: AnalysedRobot,
    kinematics: Records[Kinematics],
    articulated: Records[Articulated],
    velocity: Vector,
    q: Vector,
    total: Vector,
    momentum: Vector,
    sample: Sample,
) -> None:
    """Write centre of mass, momenta and energies to `sample`. total: external wrench (6,)."""
    forest, g = subject.forest, subject.gravity
    mass = subject.settings[0].mass
    hx = hy = hz = 0.0
    nx = ny = nz = lx = ly = lz = 0.0
    kinetic = potential = 0.0
    for i in range(forest.bodies.shape[0]):
        placed, w = articulated[i].inertia, kinematics[i].v
        hx, hy, hz = hx + placed[1], hy + placed[2], hz + placed[3]
        apply_inertia(placed, w, momentum)
        nx, ny, nz = nx + momentum[0], ny + momentum[1], nz + momentum[2]
        lx, ly, lz = lx + momentum[3], ly + momentum[4], lz + momentum[5]
        for r in range(6):
            kinetic += 0.5 * momentum[r] * w[r]
    for k in range(6, velocity.shape[0]):
        dof = forest.dofs[k]
        stretch = q[dof.q_index] - dof.rest
        kinetic += 0.5 * dof.rotor_inertia * velocity[k] * velocity[k]
        potential += 0.5 * dof.stiffness * stretch * stretch
    x, y, z = hx / mass, hy / mass, hz / mass  # from the base's origin
    com = sample.com
    com[0], com[1], com[2] = q[0] + x, q[1] + y, q[2] + z
    for k in range(3):
        potential -= mass * g[k] * com[k]
        sample.force[k] = total[3 + k]
        sample.com_acceleration[k] = total[3 + k] / mass + g[k]
    sample.linear_momentum[0], sample.com_velocity[0] = lx, lx / mass
    sample.linear_momentum[1], sample.com_velocity[1] = ly, ly / mass
    sample.linear_momentum[2], sample.com_velocity[2] = lz, lz / mass
    sample.angular_momentum[0] = nx - (y * lz - z * ly)
    sample.angular_momentum[1] = ny - (z * lx - x * lz)
    sample.angular_momentum[2] = nz - (x * ly - y * lx)
    sample.angular_momentum_rate[0] = total[0] - (y * total[5] - z * total[4])
    sample.angular_momentum_rate[1] = total[1] - (z * total[3] - x * total[5])
    sample.angular_momentum_rate[2] = total[2] - (x * total[4] - y * total[3])
    sample.kinetic_energy, sample.potential_energy = kinetic, potential


@inner_kernel
def _write_points(gravity: Vec3, q: Vec3, total: Vector, ground: float, sample: Sample) -> None:
    """Write the zero-moment point and the capture point on the ground, a horizontal plane."""
    zmp, point = sample.zmp, sample.capture_point
    drop = ground - q[2]
    zmp[2] = point[2] = ground
    if total[5] > 0.0:
        zmp[0] = q[0] + (drop * total[3] - total[1]) / total[5]
        zmp[1] = q[1] + (drop * total[4] + total[0]) / total[5]
    else:
        zmp[0] = zmp[1] = math.nan
    height = sample.com[2] - ground
    if height > 0.0 and gravity[2] < 0.0:
        period = math.sqrt(height / -gravity[2])
        point[0] = sample.com[0] + period * sample.com_velocity[0]
        point[1] = sample.com[1] + period * sample.com_velocity[1]
    else:
        point[0] = point[1] = math.nan


@inner_kernel
def _place_supports(
    subject: AnalysedRobot,
    kinematics: Records[Kinematics],
    ground: float,
    arms: Matrix,
    supports_out: Records[SupportSample],
) -> None:
    """Write pose, velocity and height of every support.

    arms (s, 3): written with the position of each support relative to the base's origin [m].
    """
    origin = kinematics[0].origin
    for i in range(subject.supports.shape[0]):
        support, out, arm = subject.supports[i], supports_out[i], arms[i]
        motion = kinematics[support.body]
        R, t, v = motion.R, support.p, motion.v
        for a in range(3):
            arm[a] = motion.p[a] + R[a, 0] * t[0] + R[a, 1] * t[1] + R[a, 2] * t[2]
            out.position[a] = origin[a] + arm[a]
            out.angular_velocity[a] = v[a]
            for b in range(3):
                L = support.R
                out.R[a, b] = R[a, 0] * L[0, b] + R[a, 1] * L[1, b] + R[a, 2] * L[2, b]
        x, y, z = point_velocity(v, arm[0], arm[1], arm[2])
        out.velocity[0], out.velocity[1], out.velocity[2] = x, y, z
        lowest = math.inf if support.vertex_end > support.vertex_begin else 0.0
        for k in range(support.vertex_begin, support.vertex_end):
            x, y = subject.vertices[k, 0], subject.vertices[k, 1]
            lowest = min(lowest, out.R[2, 0] * x + out.R[2, 1] * y + out.R[2, 2] * support.height)
        out.height = out.position[2] + lowest - ground


@inner_kernel
def _divide(
    subject: AnalysedRobot, fixed: Indices, space: ThreadMemory, supports: Records[SupportSample]
) -> None:
    """Write the wrench on each fixed support, about the support's origin, to space.shares."""
    settings = subject.settings[0]
    arms, shares, total = space.arms, space.shares, space.total
    count = 0
    for i in range(fixed.shape[0]):
        count += fixed[i]
    if count > 1:
        divide_by_norm(fixed, arms, settings.length, space.norm, space.norm_inverse, total, shares)
        if settings.split == CENTER_OF_PRESSURE:
            keep_pressure_inside(
                subject.supports, subject.vertices, fixed, supports, arms, settings.length,
                space.norm_inverse, space.edges, space.owners, space.coupling, space.factor,
                space.multipliers, space.active, shares,
            )  # fmt: skip
    for i in range(fixed.shape[0]):
        wrench, arm = shares[i], arms[i]
        if fixed[i] == 0:
            for r in range(6):
                wrench[r] = 0.0
        elif count == 1:  # all of it, about the link's own origin
            wrench[0] = total[0] - (arm[1] * total[5] - arm[2] * total[4])
            wrench[1] = total[1] - (arm[2] * total[3] - arm[0] * total[5])
            wrench[2] = total[2] - (arm[0] * total[4] - arm[1] * total[3])
            for r in range(3, 6):
                wrench[r] = total[r]


@inner_kernel
def _unload(
    forest: Forest,
    kinematics: Records[Kinematics],
    i: Index,
    arm: Vector,
    share: Vector,
    tau_out: Vector,
) -> None:
    """Subtract the joint efforts J^T w due to the wrench w on body i from tau_out."""
    n0 = share[0] + arm[1] * share[5] - arm[2] * share[4]
    n1 = share[1] + arm[2] * share[3] - arm[0] * share[5]
    n2 = share[2] + arm[0] * share[4] - arm[1] * share[3]
    while i >= 0:
        body = forest.bodies[i]
        joint = body.joint_type
        if joint != FIXED and joint != FREE:
            S = kinematics[i].S
            tau_out[body.v_index] -= (
                S[0] * n0 + S[1] * n1 + S[2] * n2
                + S[3] * share[3] + S[4] * share[4] + S[5] * share[5]
            )  # fmt: skip
        i = body.parent


@inner_kernel
def _add_outline(
    vertices: Matrix, support: Support, here: SupportSample, points: Matrix, count: int
) -> int:
    """Append the outline of a support, in world coordinates, to `points` (., 2) [m].

    Returns the new number of points.
    """
    h, R = support.height, here.R
    for k in range(support.vertex_begin, support.vertex_end):
        x, y = vertices[k, 0], vertices[k, 1]
        points[count, 0] = here.position[0] + R[0, 0] * x + R[0, 1] * y + R[0, 2] * h
        points[count, 1] = here.position[1] + R[1, 0] * x + R[1, 1] * y + R[1, 2] * h
        count += 1
    return count


@inner_kernel
def _write_support(subject: AnalysedRobot, i: Index, share: Vector, out: SupportSample) -> None:
    """Write the wrench on a support, the centre of pressure and the required friction."""
    support, R = subject.supports[i], out.R
    f, n, h = out.force, out.torque, support.height
    for c in range(3):
        n[c] = R[0, c] * share[0] + R[1, c] * share[1] + R[2, c] * share[2]
        f[c] = R[0, c] * share[3] + R[1, c] * share[4] + R[2, c] * share[5]
    if f[2] > 0.0:
        x, y = (h * f[0] - n[1]) / f[2], (h * f[1] + n[0]) / f[2]
        for a in range(3):
            out.cop[a] = out.position[a] + R[a, 0] * x + R[a, 1] * y + R[a, 2] * h
        out.cop_margin = outline_margin(
            subject.vertices, support.vertex_begin, support.vertex_end, x, y
        )
        out.friction = math.hypot(f[0], f[1]) / f[2]
    else:
        out.cop[0] = out.cop[1] = out.cop[2] = math.nan
        out.cop_margin = out.friction = math.nan


@inner_kernel
def base_from_fixed_link(
    forest: Forest,
    support: Support,
    phase: Phase,
    link: Matrix,
    kinematics: Records[Kinematics],
    q: Vector,
    velocity: Vector,
    acceleration: Vector,
) -> None:
    """Compute the base's motion from the fixed link, and the kinematics of the robot.

    The joints' entries of q, velocity and acceleration are read. The base's entries are written.
    First, the base is taken at rest at the origin. The fixed link then has a pose (R, p), and its
    body has a spatial velocity v. The base's pose maps this pose to the pose of `phase`. The base
    moves at -v. The base's acceleration is such that the body's acceleration is zero.

    link (3, 3): work memory for R.
    """
    for k in range(6):
        q[k] = 0.0
    q[6] = 1.0
    update_poses(forest, q, kinematics)
    _undo(forest, support.body, kinematics, 0.0, velocity)
    motion, L, v = kinematics[support.body], support.R, velocity
    for b in range(3):
        link[0, b], link[1, b], link[2, b] = matrix_times(motion.R, L[0, b], L[1, b], L[2, b])
    x, y, z = placed_point(motion.R, motion.p, support.p)
    R = kinematics[0].R  # of the base, from the link's columns
    for b in range(3):
        row = phase.R[b]
        R[b, 0], R[b, 1], R[b, 2] = matrix_times(link, row[0], row[1], row[2])
    x, y, z = matrix_times(R, x, y, z)
    q[0], q[1], q[2] = phase.p[0] - x, phase.p[1] - y, phase.p[2] - z
    quaternion_from_rotation(R, q[3:7])
    v[0], v[1], v[2] = matrix_times(R, v[0], v[1], v[2])
    v[3], v[4], v[5] = matrix_times(R, v[3], v[4], v[5])
    update_poses(forest, q, kinematics)
    update_velocities(forest, v, kinematics)
    a = acceleration
    _undo(forest, support.body, kinematics, 1.0, a)
    a[3] += v[1] * v[5] - v[2] * v[4]  # from the spatial acceleration to that of the origin
    a[4] += v[2] * v[3] - v[0] * v[5]
    a[5] += v[0] * v[4] - v[1] * v[3]


@inner_kernel
def _undo(
    forest: Forest, i: Index, kinematics: Records[Kinematics], bias: float, rates: Vector
) -> None:
    """Write the base's entries of `rates` (nv,) that keep body i at rest: -sum (S rate + bias c).

    The sum is over the joints between the base and body i. bias: 1 for accelerations, 0 for
    velocities.
    """
    for r in range(6):
        rates[r] = 0.0
    while forest.bodies[i].parent >= 0:
        body, motion = forest.bodies[i], kinematics[i]
        rate = rates[body.v_index] if body.joint_type != FIXED else 0.0
        for r in range(6):
            rates[r] -= motion.S[r] * rate + bias * motion.c[r]
        i = body.parent
