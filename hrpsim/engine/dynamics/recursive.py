# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Inverse dynamics, joint-space inertia matrix and kinetic energy, in world-parallel frames."""

from hrpsim.engine.compile.compiled import inlined_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    Articulated,
    Body,
    Index,
    Inertia,
    Kinematics,
    Matrix,
    Records,
    Vec3,
    Vec6,
    Vector,
)
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.inertia import bias_force
from hrpsim.engine.spatial.simd import load, plus, plus_times, store
from hrpsim.engine.spatial.vector import dot_spatial
from hrpsim.model.system import FIXED, FREE


@kernel
def newton_euler(
    forest: Forest,
    kinematics: Records[Kinematics],
    dv: Vector,
    gravity: Vec3,
    articulated: Records[Articulated],
    effort_out: Vector,
) -> None:
    """Find joint efforts by the recursive Newton-Euler algorithm (RBDA Table 5.1).

    The kernel reads `inertia` and `external` of the bodies' records. The kernel writes the proper
    accelerations `a`, and into `p_A` the wrench that each parent exerts on its child.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        dv: acceleration (nv,) [rad/s^2, m/s^2]. A FREE body has the angular acceleration first,
            then the second derivative of the body's position.
        gravity: acceleration of gravity in the world (3,) [m/s^2].
        articulated: ARTICULATED records of the bodies (n,).
        effort_out: efforts (nv,) [Nm or N], written. The entries of a FREE body are the wrench
            about the body's origin, moment first.
    """
    n = forest.bodies.shape[0]
    for number in range(n):
        i = forest.order[number]
        body = forest.bodies[i]
        link = articulated[i]
        _write_proper_acceleration(body, kinematics[i], dv, gravity, articulated, link.a)
        bias_force(link.inertia, kinematics[i].v, link.a, link.external, link.p_A)
    for number in range(n - 1, -1, -1):
        i = forest.order[number]
        body = forest.bodies[i]
        f = articulated[i].p_A
        k = body.v_index
        if body.joint_type == FREE:
            for r in range(6):
                effort_out[k + r] = f[r]
        elif body.joint_type != FIXED:
            effort_out[k] = dot_spatial(kinematics[i].S, f)
        if body.parent >= 0:
            above = articulated[body.parent].p_A
            store(above, 0, plus(load(above, 0), load(f, 0)))


@inlined_kernel
def _write_proper_acceleration(
    body: Body,
    link: Kinematics,
    dv: Vector,
    gravity: Vec3,
    articulated: Records[Articulated],
    a: Vec6,
) -> None:
    """Write the proper acceleration a (6,) of a body. The parent's acceleration must be known.

    link: KINEMATICS record of the body.
    """
    v, k = link.v, body.v_index
    if body.joint_type == FREE:
        a[0], a[1], a[2] = dv[k], dv[k + 1], dv[k + 2]
        a[3] = dv[k + 3] - gravity[0] - (v[1] * v[5] - v[2] * v[4])
        a[4] = dv[k + 4] - gravity[1] - (v[2] * v[3] - v[0] * v[5])
        a[5] = dv[k + 5] - gravity[2] - (v[0] * v[4] - v[1] * v[3])
        return
    rate = dv[k] if body.joint_type != FIXED else 0.0
    own = plus_times(load(link.c, 0), load(link.S, 0), rate)
    if body.parent >= 0:
        store(a, 0, plus(load(articulated[body.parent].a, 0), own))
        return
    store(a, 0, own)
    for r in range(3):
        a[3 + r] -= gravity[r]


@kernel
def composite_inertia(
    forest: Forest,
    kinematics: Records[Kinematics],
    articulated: Records[Articulated],
    composite_out: Matrix,
    M_out: Matrix,
) -> None:
    """Write the mass matrix by the composite-rigid-body algorithm (RBDA Table 6.2).

    The rotor inertia is added on the diagonal.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        articulated: ARTICULATED records of the bodies (n,). `inertia` is read.
        composite_out: inertia of each body's subtree (n, 10) [kg, kg m, kg m^2], written.
        M_out: mass matrix (nv, nv) [kg, kg m, kg m^2] for the kernels' layout of velocities,
            written. The rows of a FREE body are moment, then force about the body's origin.
    """
    n = forest.bodies.shape[0]
    for i in range(n):
        for r in range(10):
            composite_out[i, r] = articulated[i].inertia[r]
    for i in range(n - 1, -1, -1):
        parent = forest.bodies[i].parent
        if parent >= 0:
            for r in range(10):
                composite_out[parent, r] += composite_out[i, r]
    M_out[:, :] = 0.0
    for i in range(n):
        body = forest.bodies[i]
        joint = body.joint_type
        if joint == FIXED:
            continue
        k = body.v_index
        placed = composite_out[i]
        if joint == FREE:
            _write_free_block(placed, k, M_out)
            continue
        _write_joint_column(forest, kinematics, i, placed, M_out)


@inlined_kernel
def _write_joint_column(
    forest: Forest, kinematics: Records[Kinematics], i: Index, placed: Inertia, M_out: Matrix
) -> None:
    """Write the row and column of a body's joint, up to the root of the tree.

    placed: inertia of the body's subtree (10,).
    """
    s, k = kinematics[i].S, forest.bodies[i].v_index
    m, hx, hy, hz = placed[0], placed[1], placed[2], placed[3]
    f0 = placed[4] * s[0] + placed[7] * s[1] + placed[8] * s[2] + hy * s[5] - hz * s[4]
    f1 = placed[7] * s[0] + placed[5] * s[1] + placed[9] * s[2] + hz * s[3] - hx * s[5]
    f2 = placed[8] * s[0] + placed[9] * s[1] + placed[6] * s[2] + hx * s[4] - hy * s[3]
    f3 = m * s[3] + s[1] * hz - s[2] * hy
    f4 = m * s[4] + s[2] * hx - s[0] * hz
    f5 = m * s[5] + s[0] * hy - s[1] * hx
    M_out[k, k] = (
        forest.dofs[k].rotor_inertia
        + f0 * s[0] + f1 * s[1] + f2 * s[2] + f3 * s[3] + f4 * s[4] + f5 * s[5]
    )  # fmt: skip
    j = forest.bodies[i].parent
    while j >= 0:
        support = forest.bodies[j]
        l = support.v_index
        if support.joint_type == FREE:
            M_out[k, l] = M_out[l, k] = f0
            M_out[k, l + 1] = M_out[l + 1, k] = f1
            M_out[k, l + 2] = M_out[l + 2, k] = f2
            M_out[k, l + 3] = M_out[l + 3, k] = f3
            M_out[k, l + 4] = M_out[l + 4, k] = f4
            M_out[k, l + 5] = M_out[l + 5, k] = f5
        elif support.joint_type != FIXED:
            t = kinematics[j].S
            M_out[k, l] = M_out[l, k] = (
                f0 * t[0] + f1 * t[1] + f2 * t[2] + f3 * t[3] + f4 * t[4] + f5 * t[5]
            )
        j = support.parent


@inlined_kernel
def _write_free_block(placed: Inertia, k: Index, M_out: Matrix) -> None:
    """Write the 6x6 block of a FREE body. `placed` (10,) is the inertia of the body's subtree."""
    m, hx, hy, hz = placed[0], placed[1], placed[2], placed[3]
    M_out[k, k], M_out[k + 1, k + 1], M_out[k + 2, k + 2] = placed[4], placed[5], placed[6]
    M_out[k, k + 1] = M_out[k + 1, k] = placed[7]
    M_out[k, k + 2] = M_out[k + 2, k] = placed[8]
    M_out[k + 1, k + 2] = M_out[k + 2, k + 1] = placed[9]
    M_out[k, k + 4] = M_out[k + 4, k] = -hz
    M_out[k, k + 5] = M_out[k + 5, k] = hy
    M_out[k + 1, k + 3] = M_out[k + 3, k + 1] = hz
    M_out[k + 1, k + 5] = M_out[k + 5, k + 1] = -hx
    M_out[k + 2, k + 3] = M_out[k + 3, k + 2] = -hy
    M_out[k + 2, k + 4] = M_out[k + 4, k + 2] = hx
    for r in range(3):
        M_out[k + 3 + r, k + 3 + r] = m


@kernel
def kinetic_energy(
    forest: Forest,
    kinematics: Records[Kinematics],
    articulated: Records[Articulated],
    velocity: Vector,
) -> float:
    """Return the kinetic energy of the forest, rotors included [J].

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,). `v` is read.
        articulated: ARTICULATED records of the bodies (n,). `inertia` is read.
        velocity: velocity (nv,) [rad/s, m/s]. Only the rates of joints are read, for the rotors.
    """
    total = 0.0
    for i in range(forest.bodies.shape[0]):
        body = forest.bodies[i]
        placed, w = articulated[i].inertia, kinematics[i].v
        f0 = placed[4] * w[0] + placed[7] * w[1] + placed[8] * w[2]
        f1 = placed[7] * w[0] + placed[5] * w[1] + placed[9] * w[2]
        f2 = placed[8] * w[0] + placed[9] * w[1] + placed[6] * w[2]
        hx, hy, hz = placed[1], placed[2], placed[3]
        total += 0.5 * (f0 * w[0] + f1 * w[1] + f2 * w[2])
        total += 0.5 * placed[0] * (w[3] * w[3] + w[4] * w[4] + w[5] * w[5])
        total += w[3] * (w[1] * hz - w[2] * hy)
        total += w[4] * (w[2] * hx - w[0] * hz)
        total += w[5] * (w[0] * hy - w[1] * hx)
        if body.joint_type != FREE and body.joint_type != FIXED:
            k = body.v_index
            total += 0.5 * forest.dofs[k].rotor_inertia * velocity[k] * velocity[k]
    return total
