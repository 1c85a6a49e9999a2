# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Analytic derivatives of inverse and forward dynamics (Carpentier and Mansard, RSS 2018).

In world-parallel frames, with one record for each degree of freedom; the equations are in
docs/explanation/derivations.md, section 20. As in the public layout, a free base has six degrees of
freedom along and about the axes of its own frame. A matrix of derivatives by q, one by v, and the
inertia matrix or its inverse are side by side in `columns` (nv, 3 nv and some to spare).
`above` (nv,) has the next degree of freedom on the path to the root, -1 at its end.
"""

from __future__ import annotations

import numpy as np

from hrpsim.dynamics.articulated import accelerations, factorise, place_inertias, start_bodies
from hrpsim.dynamics.recursive import newton_euler
from hrpsim.jit.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.kinematics.forward import update_poses, update_velocities
from hrpsim.kinematics.layout import acceleration_to_kernel, velocity_to_kernel
from hrpsim.model.system import FREE
from hrpsim.spatial.inertia import apply_inertia
from hrpsim.spatial.simd import (
    LANES,
    load,
    minus_times,
    plus_product,
    product,
    store,
    times,
)

PANEL = 2 * LANES  # the width of `columns` is a multiple of it

DOF_MOTION = np.dtype(
    [
        ("S", "f8", (6,)),  # motion of a unit rate
        ("v_q", "f8", (6,)),  # v_parent x S: derivative of velocity by q, less the rotation
        ("a_q", "f8", (6,)),  # the same of acceleration, less v x v_q
        ("a_v", "f8", (6,)),  # derivative of acceleration by the rate, less v x S
        ("motions", "f8", (6, LANES)),  # columns a_q, a_v, v_q, S, S, S, S
    ]
)

# Of one degree of freedom at a time, which leaves room in the processor's cache.
DOF_FORCES = np.dtype(
    [
        ("by_M", "f8", (6,)),  # I S, of the subtree as all that follow
        ("by_q", "f8", (6,)),  # derivative of the wrench through the joint by q
        ("by_v", "f8", (6,)),  # the same by the rate
        ("moment", "f8", (6,)),  # C^T S
        ("forces", "f8", (6, LANES)),  # columns that `motions` on the path are multiplied by
        ("products", "f8", (LANES,)),
    ]
)

SUBTREE_MOTION = np.dtype(
    [
        ("inertia", "f8", (10,)),
        ("momentum", "f8", (3,)),  # linear [Ns]
        ("P", "f8", (3, 3)),  # sum of mass times velocity times position^T [kg m^2/s]
    ]
)


@kernel
def inverse_derivatives(w, q, v, dv, gravity, columns_out):
    """Write the derivatives of tau by q and v, and M; the records' `external` is current.

    Returns -1, as `forward_derivatives` where it succeeds.
    """
    update_poses(w.forest, q, w.kinematics)
    velocity_to_kernel(w.forest, q, v, w.velocity)
    update_velocities(w.forest, w.velocity, w.kinematics)
    acceleration_to_kernel(w.forest, q, w.velocity, dv, w.acceleration)
    place_inertias(w.forest, w.kinematics, w.articulated)
    _differentiate(w, gravity, columns_out)
    return -1


@kernel
def forward_derivatives(w, q, v, tau, gravity, columns_out):
    """Write the derivatives of dv by q and v, and M^-1; the records' `external` is current.

    Returns -1, or a body whose joint sees no positive inertia.
    """
    update_poses(w.forest, q, w.kinematics)
    velocity_to_kernel(w.forest, q, v, w.velocity)
    update_velocities(w.forest, w.velocity, w.kinematics)
    _apply_base_wrench(w.forest, w.kinematics, tau, w.articulated)
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
    _factorise(w.above, w.factor)
    _solve_negative(w.above, w.factor, columns_out)
    return -1


@inner_kernel
def _differentiate(w, gravity, columns_out):
    newton_euler(w.forest, w.kinematics, w.acceleration, gravity, w.articulated, w.effort)
    _write_motions(w.forest, w.kinematics, w.articulated, gravity, w.dofs)
    _sum_subtrees(w.forest, w.kinematics, w.articulated, w.subtrees)
    nv = w.dofs.shape[0]
    for k in range(nv):
        for r in range(columns_out.shape[1]):
            columns_out[k, r] = 0.0
    for k in range(nv):
        i = w.forest.dofs[k].body
        joint_type, wrench = w.forest.bodies[i].joint_type, w.articulated[i].p_A
        _write_forces(joint_type, wrench, w.subtrees[i], w.dofs[k], w.forces[0])
        _multiply(k, w.forces[0], w.dofs, w.above, columns_out)
        columns_out[k, 2 * nv + k] += w.rotor_inertia[k]


@inner_kernel
def _apply_base_wrench(forest, kinematics, tau, articulated):
    """Add the public generalised force of a FREE body to its `external`."""
    for k in range(tau.shape[0]):
        i = forest.dofs[k].body
        body = forest.bodies[i]
        if body.joint_type == FREE:
            axis = k - body.v_index
            first = 3 if axis < 3 else 0
            for r in range(3):
                articulated[i].external[first + r] += kinematics[i].R[r, axis % 3] * tau[k]


@inner_kernel
def _write_motions(forest, kinematics, articulated, gravity, dofs_out):
    """Write S, v_q, a_q, a_v and `motions`; velocities and accelerations must be current."""
    for k in range(dofs_out.shape[0]):
        here, i = dofs_out[k], forest.dofs[k].body
        body, moving = forest.bodies[i], kinematics[i]
        S, v_q, a_q, a_v = here.S, here.v_q, here.a_q, here.a_v
        axis = k - body.v_index
        for r in range(6):
            v_q[r] = a_q[r] = a_v[r] = 0.0
            S[r] = moving.S[r]
        if body.joint_type == FREE:
            first = 3 if axis < 3 else 0
            for r in range(3):
                S[first + r], S[3 - first + r] = moving.R[r, axis % 3], 0.0
        if body.parent >= 0:
            _add_cross(kinematics[body.parent].v, S, v_q)
            _add_cross(articulated[body.parent].a, S, a_q)
            _add_cross(kinematics[body.parent].v, v_q, a_q)
        else:
            a_q[3] = gravity[2] * S[1] - gravity[1] * S[2]
            a_q[4] = gravity[0] * S[2] - gravity[2] * S[0]
            a_q[5] = gravity[1] * S[0] - gravity[0] * S[1]
        _add_cross(moving.v, S, a_v)
        for r in range(6):
            a_v[r] += v_q[r]
            row = here.motions[r]
            row[0], row[1], row[2] = a_q[r], a_v[r], v_q[r]
            row[3] = row[4] = row[5] = row[6] = S[r]


@inlined_kernel
def _add_cross(v, m, out):
    """Add v x m of spatial motions (RBDA eq. 2.31)."""
    out[0] += v[1] * m[2] - v[2] * m[1]
    out[1] += v[2] * m[0] - v[0] * m[2]
    out[2] += v[0] * m[1] - v[1] * m[0]
    out[3] += v[1] * m[5] - v[2] * m[4] + v[4] * m[2] - v[5] * m[1]
    out[4] += v[2] * m[3] - v[0] * m[5] + v[5] * m[0] - v[3] * m[2]
    out[5] += v[0] * m[4] - v[1] * m[3] + v[3] * m[1] - v[4] * m[0]


@inner_kernel
def _sum_subtrees(forest, kinematics, articulated, subtrees_out):
    """Write inertia, momentum and P of every body with all that it carries."""
    for i in range(subtrees_out.shape[0]):
        here, placed, v = subtrees_out[i], articulated[i].inertia, kinematics[i].v
        for r in range(10):
            here.inertia[r] = placed[r]
        m, hx, hy, hz = placed[0], placed[1], placed[2], placed[3]
        wx, wy, wz, lx, ly, lz = v[0], v[1], v[2], v[3], v[4], v[5]
        here.momentum[0] = m * lx + wy * hz - wz * hy
        here.momentum[1] = m * ly + wz * hx - wx * hz
        here.momentum[2] = m * lz + wx * hy - wy * hx
        # second moments of mass, from the moments of inertia
        half = 0.5 * (placed[4] + placed[5] + placed[6])
        xx, yy, zz = half - placed[4], half - placed[5], half - placed[6]
        xy, xz, yz = -placed[7], -placed[8], -placed[9]
        P = here.P
        P[0, 0] = lx * hx + wy * xz - wz * xy
        P[0, 1] = lx * hy + wy * yz - wz * yy
        P[0, 2] = lx * hz + wy * zz - wz * yz
        P[1, 0] = ly * hx + wz * xx - wx * xz
        P[1, 1] = ly * hy + wz * xy - wx * yz
        P[1, 2] = ly * hz + wz * xz - wx * zz
        P[2, 0] = lz * hx + wx * xy - wy * xx
        P[2, 1] = lz * hy + wx * yy - wy * xy
        P[2, 2] = lz * hz + wx * yz - wy * xz
    for i in range(subtrees_out.shape[0] - 1, -1, -1):
        parent = forest.bodies[i].parent
        if parent >= 0:
            here, above = subtrees_out[i], subtrees_out[parent]
            for r in range(10):
                above.inertia[r] += here.inertia[r]
            for r in range(3):
                above.momentum[r] += here.momentum[r]
                for c in range(3):
                    above.P[r, c] += here.P[r, c]


@inner_kernel
def _write_forces(joint_type, f, carried, dof, forces_out):
    """Write the derivatives of the wrench `f` through the joint of a degree of freedom."""
    S, by_q, by_v, moment = dof.S, forces_out.by_q, forces_out.by_v, forces_out.moment
    apply_inertia(carried.inertia, S, forces_out.by_M)
    apply_inertia(carried.inertia, dof.a_q, by_q)
    apply_inertia(carried.inertia, dof.a_v, by_v)
    _add_coriolis(carried, dof.v_q, by_q)
    _add_coriolis(carried, S, by_v)
    if joint_type != FREE:  # whose own columns see no rotation of the wrench
        by_q[0] += S[1] * f[2] - S[2] * f[1] + S[4] * f[5] - S[5] * f[4]
        by_q[1] += S[2] * f[0] - S[0] * f[2] + S[5] * f[3] - S[3] * f[5]
        by_q[2] += S[0] * f[1] - S[1] * f[0] + S[3] * f[4] - S[4] * f[3]
        by_q[3] += S[1] * f[5] - S[2] * f[4]
        by_q[4] += S[2] * f[3] - S[0] * f[5]
        by_q[5] += S[0] * f[4] - S[1] * f[3]
    P, p = carried.P, carried.momentum
    trace = P[0, 0] + P[1, 1] + P[2, 2]
    for r in range(3):
        moment[r] = trace * S[r] - P[0, r] * S[0] - P[1, r] * S[1] - P[2, r] * S[2]
        moment[3 + r] = 0.0
    moment[0] = 2.0 * (moment[0] + p[1] * S[5] - p[2] * S[4])
    moment[1] = 2.0 * (moment[1] + p[2] * S[3] - p[0] * S[5])
    moment[2] = 2.0 * (moment[2] + p[0] * S[4] - p[1] * S[3])
    for r in range(6):
        row = forces_out.forces[r]
        row[0] = row[1] = row[6] = forces_out.by_M[r]
        row[2] = row[3] = moment[r]
        row[4], row[5] = by_q[r], by_v[r]


@inlined_kernel
def _add_coriolis(carried, m, force_out):
    """Add C m: the force that keeps a subtree on its course while a twist `m` is added."""
    P, p = carried.P, carried.momentum
    x, y, z = 2.0 * m[0], 2.0 * m[1], 2.0 * m[2]
    trace = P[0, 0] + P[1, 1] + P[2, 2]
    force_out[0] += trace * x - P[0, 0] * x - P[0, 1] * y - P[0, 2] * z
    force_out[1] += trace * y - P[1, 0] * x - P[1, 1] * y - P[1, 2] * z
    force_out[2] += trace * z - P[2, 0] * x - P[2, 1] * y - P[2, 2] * z
    force_out[3] += y * p[2] - z * p[1]
    force_out[4] += z * p[0] - x * p[2]
    force_out[5] += x * p[1] - y * p[0]


@inner_kernel
def _multiply(k, forces, dofs, above, columns_out):
    """Write products of forces and motions of all pairs of `k` and its path, seven at once."""
    nv, rows, found = dofs.shape[0], forces.forces, forces.products
    f0, f1, f2 = load(rows, 0), load(rows, LANES), load(rows, 2 * LANES)
    f3, f4, f5 = load(rows, 3 * LANES), load(rows, 4 * LANES), load(rows, 5 * LANES)
    j = k
    while j >= 0:
        moved = dofs[j].motions
        total = plus_product(product(f0, load(moved, 0)), f1, load(moved, LANES))
        total = plus_product(total, f2, load(moved, 2 * LANES))
        total = plus_product(total, f3, load(moved, 3 * LANES))
        total = plus_product(total, f4, load(moved, 4 * LANES))
        store(found, 0, plus_product(total, f5, load(moved, 5 * LANES)))
        columns_out[j, k], columns_out[j, nv + k] = found[4], found[5]
        columns_out[k, j], columns_out[k, nv + j] = found[0] + found[2], found[1] + found[3]
        columns_out[j, 2 * nv + k] = columns_out[k, 2 * nv + j] = found[6]
        j = above[j]


@inner_kernel
def _factorise(above, M):
    """Write L below the diagonal of M = L^T D L, and D^-1 on it (RBDA Table 6.3)."""
    for k in range(M.shape[0] - 1, -1, -1):
        M[k, k] = 1.0 / M[k, k]
        i = above[k]
        while i >= 0:
            share, j = M[k, i] * M[k, k], i
            while j >= 0:
                M[i, j] -= share * M[k, j]
                j = above[j]
            M[k, i] = share
            i = above[i]


@inner_kernel
def _solve_negative(above, factor, columns):
    """Solve -M X = B in place, `PANEL` columns at a time (RBDA section 6.5)."""
    nv, width = columns.shape
    for c in range(0, width, PANEL):
        for k in range(nv - 1, -1, -1):
            at = k * width + c
            x, y, j = load(columns, at), load(columns, at + LANES), above[k]
            while j >= 0:
                at, share = j * width + c, factor[k, j]
                store(columns, at, minus_times(load(columns, at), x, share))
                at += LANES
                store(columns, at, minus_times(load(columns, at), y, share))
                j = above[j]
        for k in range(nv):
            at, inverse, j = k * width + c, -factor[k, k], above[k]
            x, y = times(load(columns, at), inverse), times(load(columns, at + LANES), inverse)
            while j >= 0:
                other, share = j * width + c, factor[k, j]
                x = minus_times(x, load(columns, other), share)
                y = minus_times(y, load(columns, other + LANES), share)
                j = above[j]
            store(columns, at, x)
            store(columns, at + LANES, y)
