"""The articulated-body algorithm (RBDA Table 7.1) in world-parallel frames, pass by pass.

The passes are separate kernels because a step uses them apart: the factorisation (I_A, U, D) once,
then one cheap sweep for every further set of forces. Accelerations here are *proper*: gravity is
the acceleration -g of the world, so that I_A a + p_A is the wrench through a joint.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hrpsim.compiled import kernel
from hrpsim.model.system import FIXED, FREE, PRISMATIC, REVOLUTE
from hrpsim.spatial.inertia import apply_inertia, cross_force, place_inertia


class Articulated(NamedTuple):
    """The factorisation of `n` bodies and the bias of the latest forces."""

    inertia: np.ndarray  # (n, 10) placed rigid-body inertia
    I_A: np.ndarray  # (n, 6, 6) articulated-body inertia
    U: np.ndarray  # (n, 6) I_A S
    D_inverse: np.ndarray  # (n,) 1 / (S^T I_A S + rotor inertia), 0 for FIXED
    root_inverse: np.ndarray  # (n, 6, 6) I_A^-1, at FREE roots
    p_A: np.ndarray  # (n, 6) articulated bias force
    u: np.ndarray  # (n,) tau - S^T p_A
    a: np.ndarray  # (n, 6) proper spatial acceleration


def new_articulated(body_count: int) -> Articulated:
    """Return zeroed arrays for `body_count` bodies."""
    n = body_count
    return Articulated(
        inertia=np.zeros((n, 10)),
        I_A=np.zeros((n, 6, 6)),
        U=np.zeros((n, 6)),
        D_inverse=np.zeros(n),
        root_inverse=np.zeros((n, 6, 6)),
        p_A=np.zeros((n, 6)),
        u=np.zeros(n),
        a=np.zeros((n, 6)),
    )


@kernel
def place_inertias(system, kinematics, articulated_out):
    """Write the rigid-body inertia of every body about its tree's origin."""
    for i in range(system.parent.shape[0]):
        place_inertia(
            system.mass[i],
            system.com[i],
            system.inertia[i],
            kinematics.R[i],
            kinematics.p[i],
            articulated_out.inertia[i],
        )


@kernel
def factorise(system, kinematics, joint_inertia, articulated_out):
    """Write I_A, U, D_inverse and root_inverse (pass 2 of the algorithm without its forces).

    `joint_inertia` (nv,) is added to the inertia each joint sees: the rotor inertia, and what an
    implicit integrator adds for springs and dampers. Returns -1, or the first body whose joint
    sees no positive inertia.
    """
    S, I_A, U = kinematics.S, articulated_out.I_A, articulated_out.U
    n = system.parent.shape[0]
    for i in range(n):
        placed = articulated_out.inertia[i]
        m, hx, hy, hz = placed[0], placed[1], placed[2], placed[3]
        I = I_A[i]  # noqa: E741
        I[0, 0], I[0, 1], I[0, 2] = placed[4], placed[7], placed[8]
        I[1, 0], I[1, 1], I[1, 2] = placed[7], placed[5], placed[9]
        I[2, 0], I[2, 1], I[2, 2] = placed[8], placed[9], placed[6]
        I[0, 3], I[0, 4], I[0, 5] = 0.0, -hz, hy
        I[1, 3], I[1, 4], I[1, 5] = hz, 0.0, -hx
        I[2, 3], I[2, 4], I[2, 5] = -hy, hx, 0.0
        I[3, 0], I[3, 1], I[3, 2] = 0.0, hz, -hy
        I[4, 0], I[4, 1], I[4, 2] = -hz, 0.0, hx
        I[5, 0], I[5, 1], I[5, 2] = hy, -hx, 0.0
        I[3, 3], I[3, 4], I[3, 5] = m, 0.0, 0.0
        I[4, 3], I[4, 4], I[4, 5] = 0.0, m, 0.0
        I[5, 3], I[5, 4], I[5, 5] = 0.0, 0.0, m
    singular = -1
    for i in range(n - 1, -1, -1):
        joint = system.joint_type[i]
        parent = system.parent[i]
        I = I_A[i]  # noqa: E741
        if joint == REVOLUTE or joint == PRISMATIC:
            D = joint_inertia[system.v_index[i]]
            first = 0 if joint == REVOLUTE else 3
            for r in range(6):
                total = 0.0
                for k in range(first, 6):
                    total += I[r, k] * S[i, k]
                U[i, r] = total
                D += S[i, r] * total
            if not D > 0.0:
                singular = i
                continue
            inverse = 1.0 / D
            articulated_out.D_inverse[i] = inverse
            if parent >= 0:
                P = I_A[parent]
                for r in range(6):
                    scaled = U[i, r] * inverse
                    for k in range(6):
                        P[r, k] += I[r, k] - scaled * U[i, k]
        elif joint == FREE:
            if not invert_symmetric(I, articulated_out.root_inverse[i]):
                singular = i
        elif parent >= 0:
            P = I_A[parent]
            for r in range(6):
                for k in range(6):
                    P[r, k] += I[r, k]
    return singular


@kernel
def invert_symmetric(A, inverse_out):
    """Invert a symmetric positive definite 6x6 matrix; return whether it is one.

    Cholesky in place of the output, then L^-T L^-1.
    """
    L = inverse_out
    for j in range(6):
        d = A[j, j]
        for k in range(j):
            d -= L[j, k] * L[j, k]
        if not d > 0.0:
            return False
        d = math.sqrt(d)
        L[j, j] = d
        for i in range(j + 1, 6):
            total = A[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = total / d
    for j in range(6):
        L[j, j] = 1.0 / L[j, j]
        for i in range(j + 1, 6):
            total = 0.0
            for k in range(j, i):
                total -= L[i, k] * L[k, j]
            L[i, j] = total / L[i, i]
    for i in range(6):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, 6):
                total += L[k, i] * L[k, j]
            L[i, j] = total
            L[j, i] = total
    return True


@kernel
def bias_forces(system, kinematics, external, articulated_out):
    """Write p_A = v x* I v - external for every body (RBDA eq. 7.33); `external` is (n, 6)."""
    v, p_A, inertia = kinematics.v, articulated_out.p_A, articulated_out.inertia
    for i in range(system.parent.shape[0]):
        apply_inertia(inertia[i], v[i], p_A[i])
        cross_force(v[i], p_A[i], p_A[i])
        for r in range(6):
            p_A[i, r] -= external[i, r]


@kernel
def accelerations(system, kinematics, effort, gravity, articulated, dv_out):
    """Propagate p_A to the roots, then accelerations to the leaves (rest of pass 2, and pass 3).

    `effort` (nv,) [Nm or N] acts on joints, not on FREE bodies; `gravity` (3,) [m/s^2]. Writes u, a, p_A and the generalised
    acceleration dv_out (nv,): for a FREE body the angular acceleration, then the second
    derivative of its position.
    """
    S, v, c = kinematics.S, kinematics.v, kinematics.c
    I_A, U, D_inverse = articulated.I_A, articulated.U, articulated.D_inverse
    p_A, u, a = articulated.p_A, articulated.u, articulated.a
    n = system.parent.shape[0]
    for i in range(n - 1, -1, -1):
        joint = system.joint_type[i]
        parent = system.parent[i]
        if joint == FREE:
            continue
        gain = 0.0
        if joint != FIXED:
            total = effort[system.v_index[i]]
            for r in range(6):
                total -= S[i, r] * p_A[i, r]
            u[i] = total
            for r in range(6):
                total -= U[i, r] * c[i, r]
            gain = total * D_inverse[i]
        if parent >= 0:
            I = I_A[i]  # noqa: E741
            for r in range(6):
                total = p_A[i, r] + U[i, r] * gain
                for k in range(6):
                    total += I[r, k] * c[i, k]
                p_A[parent, r] += total
    for i in range(n):
        joint = system.joint_type[i]
        parent = system.parent[i]
        if joint == FREE:
            k = system.v_index[i]
            for r in range(6):
                total = 0.0
                for s in range(6):
                    total -= articulated.root_inverse[i, r, s] * p_A[i, s]
                a[i, r] = total
            wx, wy, wz, lx, ly, lz = v[i, 0], v[i, 1], v[i, 2], v[i, 3], v[i, 4], v[i, 5]
            dv_out[k] = a[i, 0]
            dv_out[k + 1] = a[i, 1]
            dv_out[k + 2] = a[i, 2]
            dv_out[k + 3] = a[i, 3] + gravity[0] + wy * lz - wz * ly
            dv_out[k + 4] = a[i, 4] + gravity[1] + wz * lx - wx * lz
            dv_out[k + 5] = a[i, 5] + gravity[2] + wx * ly - wy * lx
            continue
        if parent < 0:
            for r in range(3):
                a[i, r] = c[i, r]
                a[i, 3 + r] = c[i, 3 + r] - gravity[r]
        else:
            for r in range(6):
                a[i, r] = a[parent, r] + c[i, r]
        if joint != FIXED:
            total = u[i]
            for r in range(6):
                total -= U[i, r] * a[i, r]
            rate = total * D_inverse[i]
            dv_out[system.v_index[i]] = rate
            for r in range(6):
                a[i, r] += S[i, r] * rate
