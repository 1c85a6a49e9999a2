# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Analytic derivatives of inverse and forward dynamics (Carpentier and Mansard, RSS 2018).

All quantities are in world-parallel frames. Section 20 of docs/explanation/derivations.md says how
the equations differ from the papers. As in the public layout, a free base has six degrees of
freedom along and about its own axes. Arrays:

- `columns` (nv, 3 nv or more): the derivatives with respect to q and v, and M or its inverse.
- `above` (nv,): the next degree of freedom on the path to the root, -1 at the path's end.
- `motions` (nv, 6, 8): motion vectors of each degree of freedom as columns. S appears four times.
- `forces` (7, 8): force vectors of one degree of freedom as columns, which are multiplied by the
  columns of `motions`. The last row gets the products.
- `subtrees` (n, 22): quantities of the subtree of a body. The inertia (10), twice the linear
  momentum (3), and K row by row (9). K w is the moment of the Coriolis force for an angular
  velocity w.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    Articulated,
    Index,
    Indices,
    Kinematics,
    Matrix,
    Records,
    Tensor,
    Vec3,
    Vec6,
    Vector,
)
from hrpsim.engine.dynamics.articulated import (
    Workspace,
    accelerations,
    apply_base_wrench,
    factorise,
    place_inertias,
    start_bodies,
)
from hrpsim.engine.dynamics.recursive import newton_euler
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.engine.kinematics.layout import acceleration_to_kernel, velocity_to_kernel
from hrpsim.engine.spatial.inertia import apply_inertia
from hrpsim.engine.spatial.simd import LANES, load, minus_times, plus_product, product, store, times
from hrpsim.model.system import FREE

PANEL = 2 * LANES  # the width of `columns` is a multiple of it
A_Q, A_V, V_Q, MOTION = range(4)  # columns of `motions`


@kernel
def inverse_derivatives(
    w: Workspace, q: Vector, v: Vector, dv: Vector, gravity: Vec3, columns_out: Matrix
) -> int:
    """Write the derivatives of inverse dynamics with respect to q and v, and M.

    `external` of the bodies must be current.

    Args:
        w: work arrays.
        q: configuration (nq,).
        v: velocity (nv,) [m/s, rad/s], public layout.
        dv: acceleration (nv,) [m/s^2, rad/s^2], public layout.
        gravity: (3,) [m/s^2].
        columns_out: derivative with respect to q, derivative with respect to v, M (nv, 3 nv or
            more), written.

    Returns:
        -1, as `forward_derivatives` without an error.
    """
    update_poses(w.forest, q, w.kinematics)
    velocity_to_kernel(w.forest, q, v, w.velocity)
    update_velocities(w.forest, w.velocity, w.kinematics)
    acceleration_to_kernel(w.forest, q, w.velocity, dv, w.acceleration)
    place_inertias(w.forest, w.kinematics, w.articulated)
    _differentiate(w, gravity, columns_out)
    return -1


@kernel
def forward_derivatives(
    w: Workspace, q: Vector, v: Vector, tau: Vector, gravity: Vec3, columns_out: Matrix
) -> int:
    """Write the derivatives of forward dynamics with respect to q and v, and M^-1.

    `external` of the bodies must be current.

    Args:
        w: work arrays. `external` of free bodies receives `tau`.
        q: configuration (nq,).
        v: velocity (nv,) [m/s, rad/s], public layout.
        tau: generalised force (nv,) [N, Nm], public layout.
        gravity: (3,) [m/s^2].
        columns_out: derivative with respect to q, derivative with respect to v, M^-1 (nv, 3 nv or
            more), written.

    Returns:
        -1, or the index of a body whose joint has no positive inertia.
    """
    update_poses(w.forest, q, w.kinematics)
    velocity_to_kernel(w.forest, q, v, w.velocity)
    update_velocities(w.forest, w.velocity, w.kinematics)
    apply_base_wrench(w.forest, w.kinematics, tau, w.articulated)
    start_bodies(w.forest, w.kinematics, w.articulated)
    singular = factorise(w.forest, w.kinematics, w.rotor_inertia, tau, w.articulated)
    if singular >= 0:
        return singular
    accelerations(w.forest, w.kinematics, gravity, w.articulated, w.acceleration)
    _differentiate(w, gravity, columns_out)
    nv = tau.shape[0]
    for k in range(nv):
        for r in range(nv):
            w.factor[k, r] = columns_out[k, 2 * nv + r]
            columns_out[k, 2 * nv + r] = -1.0 if r == k else 0.0
    factorise_mass(w.above, w.factor)
    solve_negative(w.above, w.factor, columns_out)
    return -1


@inner_kernel
def _differentiate(w: Workspace, gravity: Vec3, columns_out: Matrix) -> None:
    newton_euler(w.forest, w.kinematics, w.acceleration, gravity, w.articulated, w.effort)
    _write_motions(w.forest, w.kinematics, w.articulated, gravity, w.motions)
    sum_subtrees(w.forest, w.kinematics, w.articulated, w.subtrees)
    columns_out[:, :] = 0.0
    nv = w.above.shape[0]
    for k in range(nv):
        i = w.forest.dofs[k].body
        write_forces(w.subtrees[i], w.motions[k], w.forces)
        if w.forest.bodies[i].joint_type != FREE:  # whose columns meet their own rows only
            add_cross_force(w.motions[k, :, MOTION], w.articulated[i].p_A, w.forces[:, 4])
        _multiply(k, w.forces, w.motions, w.above, columns_out)
        columns_out[k, 2 * nv + k] += w.rotor_inertia[k]


@inner_kernel
def _write_motions(
    forest: Forest,
    kinematics: Records[Kinematics],
    articulated: Records[Articulated],
    gravity: Vec3,
    motions_out: Tensor,
) -> None:
    """Write S of every degree of freedom, and the derivatives V_Q, A_Q and A_V of the motion.

    V_Q = v_parent x S is the derivative of the velocity with respect to q. A_Q is the derivative of
    the acceleration with respect to q, minus v x V_Q. A_V is the derivative of the acceleration
    with respect to the rate, minus v x S.
    """
    for k in range(motions_out.shape[0]):
        i, motion = forest.dofs[k].body, motions_out[k]
        body, moving = forest.bodies[i], kinematics[i]
        a_q, a_v, v_q, S = motion[:, A_Q], motion[:, A_V], motion[:, V_Q], motion[:, MOTION]
        for r in range(6):
            v_q[r] = a_q[r] = a_v[r] = 0.0
            S[r] = moving.S[r]
        if body.joint_type == FREE:
            axis = k - body.v_index
            for r in range(3):
                S[(3 if axis < 3 else 0) + r] = moving.R[r, axis % 3]
        if body.parent >= 0:
            add_cross(kinematics[body.parent].v, S, v_q)
            add_cross(articulated[body.parent].a, S, a_q)
            add_cross(kinematics[body.parent].v, v_q, a_q)
        else:
            a_q[3] = gravity[2] * S[1] - gravity[1] * S[2]
            a_q[4] = gravity[0] * S[2] - gravity[2] * S[0]
            a_q[5] = gravity[1] * S[0] - gravity[0] * S[1]
        add_cross(moving.v, S, a_v)
        for r in range(6):
            a_v[r] += v_q[r]
            motion[r, 4] = motion[r, 5] = motion[r, 6] = S[r]


@inlined_kernel
def add_cross(v: Vec6, m: Vector, out: Vector) -> None:
    """Add v x m of spatial motions (6,), angular part first (RBDA eq. 2.31)."""
    out[0] += v[1] * m[2] - v[2] * m[1]
    out[1] += v[2] * m[0] - v[0] * m[2]
    out[2] += v[0] * m[1] - v[1] * m[0]
    out[3] += v[1] * m[5] - v[2] * m[4] + v[4] * m[2] - v[5] * m[1]
    out[4] += v[2] * m[3] - v[0] * m[5] + v[5] * m[0] - v[3] * m[2]
    out[5] += v[0] * m[4] - v[1] * m[3] + v[3] * m[1] - v[4] * m[0]


@inlined_kernel
def add_cross_force(m: Vector, f: Vec6, out: Vector) -> None:
    """Add m x* f of a motion and a force (6,), angular part first (RBDA eq. 2.32)."""
    out[0] += m[1] * f[2] - m[2] * f[1] + m[4] * f[5] - m[5] * f[4]
    out[1] += m[2] * f[0] - m[0] * f[2] + m[5] * f[3] - m[3] * f[5]
    out[2] += m[0] * f[1] - m[1] * f[0] + m[3] * f[4] - m[4] * f[3]
    out[3] += m[1] * f[5] - m[2] * f[4]
    out[4] += m[2] * f[3] - m[0] * f[5]
    out[5] += m[0] * f[4] - m[1] * f[3]


@inner_kernel
def sum_subtrees(
    forest: Forest,
    kinematics: Records[Kinematics],
    articulated: Records[Articulated],
    subtrees_out: Matrix,
) -> None:
    """Write inertia, momentum and K of the subtree of every body.

    K = 2 (tr(P) 1 - P) with P = l h^T + w x M_2, M_2 being the second moments of mass.
    """
    for i in range(subtrees_out.shape[0]):
        subtree, placed, v = subtrees_out[i], articulated[i].inertia, kinematics[i].v
        for r in range(10):
            subtree[r] = placed[r]
        m, hx, hy, hz = 2.0 * placed[0], 2.0 * placed[1], 2.0 * placed[2], 2.0 * placed[3]
        wx, wy, wz, lx, ly, lz = v[0], v[1], v[2], v[3], v[4], v[5]
        subtree[10] = m * lx + wy * hz - wz * hy
        subtree[11] = m * ly + wz * hx - wx * hz
        subtree[12] = m * lz + wx * hy - wy * hx
        trace = placed[4] + placed[5] + placed[6]
        xx, yy, zz = trace - 2.0 * placed[4], trace - 2.0 * placed[5], trace - 2.0 * placed[6]
        xy, xz, yz = -2.0 * placed[7], -2.0 * placed[8], -2.0 * placed[9]
        subtree[13] = ly * hy + lz * hz - wy * xz + wz * xy
        subtree[14] = wz * yy - wy * yz - lx * hy
        subtree[15] = wz * yz - wy * zz - lx * hz
        subtree[16] = wx * xz - wz * xx - ly * hx
        subtree[17] = lx * hx + lz * hz - wz * xy + wx * yz
        subtree[18] = wx * zz - wz * xz - ly * hz
        subtree[19] = wy * xx - wx * xy - lz * hx
        subtree[20] = wy * xy - wx * yy - lz * hy
        subtree[21] = lx * hx + ly * hy - wx * yz + wy * xz
    for i in range(subtrees_out.shape[0] - 1, -1, -1):
        if forest.bodies[i].parent >= 0:
            subtree, above = subtrees_out[i], subtrees_out[forest.bodies[i].parent]
            for r in range(22):
                above[r] += subtree[r]


@inner_kernel
def write_forces(carried: Vector, motions: Matrix, forces_out: Matrix) -> None:
    """Write the forces of a subtree for one degree of freedom, as columns of `forces_out`.

    The columns are I S, C^T S, and the forces due to A_Q, A_V and V_Q, in the order in which
    `_multiply` needs them.
    """
    S, p, K = motions[:, MOTION], carried[10:13], carried[13:22]
    by_S, moment = forces_out[:, 0], forces_out[:, 2]
    by_q, by_v = forces_out[:, 4], forces_out[:, 5]
    apply_inertia(carried, S, by_S)
    apply_inertia(carried, motions[:, A_Q], by_q)
    apply_inertia(carried, motions[:, A_V], by_v)
    _add_coriolis(carried, motions[:, V_Q], by_q)
    _add_coriolis(carried, S, by_v)
    for r in range(3):
        moment[r] = K[r] * S[0] + K[3 + r] * S[1] + K[6 + r] * S[2]
    moment[0] += p[1] * S[5] - p[2] * S[4]
    moment[1] += p[2] * S[3] - p[0] * S[5]
    moment[2] += p[0] * S[4] - p[1] * S[3]
    for r in range(6):
        forces_out[r, 1] = forces_out[r, 6] = by_S[r]
        forces_out[r, 3] = moment[r]


@inlined_kernel
def _add_coriolis(carried: Vector, m: Vector, force_out: Vector) -> None:
    """Add C m to a force: the Coriolis force on a subtree when its twist changes by `m`."""
    p, K = carried[10:13], carried[13:22]
    for r in range(3):
        force_out[r] += K[3 * r] * m[0] + K[3 * r + 1] * m[1] + K[3 * r + 2] * m[2]
    force_out[3] += m[1] * p[2] - m[2] * p[1]
    force_out[4] += m[2] * p[0] - m[0] * p[2]
    force_out[5] += m[0] * p[1] - m[1] * p[0]


@inner_kernel
def _multiply(
    k: Index, forces: Matrix, motions: Tensor, above: Indices, columns_out: Matrix
) -> None:
    """Multiply the forces of degree of freedom `k` by the motions on its path to the root.

    The products are written to the entries (j, k) and (k, j) of the matrices in `columns_out`.
    """
    nv, sums, j = above.shape[0], forces[6], k
    while j >= 0:
        moved = motions[j]
        total = product(load(forces, 0), load(moved, 0))
        for at in range(LANES, 6 * LANES, LANES):
            total = plus_product(total, load(forces, at), load(moved, at))
        store(sums, 0, total)
        columns_out[j, k], columns_out[j, nv + k] = sums[4], sums[5]
        columns_out[k, j], columns_out[k, nv + j] = sums[0] + sums[2], sums[1] + sums[3]
        columns_out[j, 2 * nv + k] = columns_out[k, 2 * nv + j] = sums[6]
        j = above[j]


@inner_kernel
def factorise_mass(above: Indices, M: Matrix) -> None:
    """Factorise the mass matrix M = L^T D L in place (RBDA Table 6.3).

    Args:
        above: next degree of freedom on the path to the root (nv,), -1 at the end.
        M: mass matrix (nv, nv), replaced by L below and D^-1 on the diagonal.
    """
    for k in range(M.shape[0] - 1, -1, -1):
        M[k, k] = 1.0 / M[k, k]
        i = above[k]
        while i >= 0:
            factor, j = M[k, i] * M[k, k], i
            while j >= 0:
                M[i, j] -= factor * M[k, j]
                j = above[j]
            M[k, i] = factor
            i = above[i]


@inner_kernel
def solve_negative(above: Indices, factor: Matrix, columns: Matrix) -> None:
    """Solve -M X = B in place, `PANEL` columns at a time (RBDA section 6.5).

    Args:
        above: next degree of freedom on the path to the root (nv,), -1 at the end.
        factor: factors of M by `factorise_mass` (nv, nv).
        columns: B (nv, multiple of PANEL), replaced by X.
    """
    nv, width = columns.shape
    for c in range(0, width, PANEL):
        for k in range(nv - 1, -1, -1):
            at = k * width + c
            x, y, j = load(columns, at), load(columns, at + LANES), above[k]
            while j >= 0:
                at, entry = j * width + c, factor[k, j]
                store(columns, at, minus_times(load(columns, at), x, entry))
                at += LANES
                store(columns, at, minus_times(load(columns, at), y, entry))
                j = above[j]
        for k in range(nv):
            at, inverse, j = k * width + c, -factor[k, k], above[k]
            x, y = times(load(columns, at), inverse), times(load(columns, at + LANES), inverse)
            while j >= 0:
                other, entry = j * width + c, factor[k, j]
                x = minus_times(x, load(columns, other), entry)
                y = minus_times(y, load(columns, other + LANES), entry)
                j = above[j]
            store(columns, at, x)
            store(columns, at + LANES, y)
