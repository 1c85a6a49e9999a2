"""The articulated-body algorithm (RBDA Table 7.1) in world-parallel frames, pass by pass.

The passes are separate kernels because a step uses them apart: the factorisation (I_A, U, D) once,
then one cheap sweep for every further set of forces. Accelerations here are *proper*: gravity is
the acceleration -g of the world, so that I_A a + p_A is the wrench through a joint.
"""

from __future__ import annotations

import math

import numpy as np

from hrpsim.compiled import inner_kernel, kernel
from hrpsim.model.system import FIXED, FREE, PRISMATIC, REVOLUTE
from hrpsim.spatial.inertia import apply_inertia, cross_force, place_inertia

# Inertia this small beside the rest of a body's is what rounding leaves of none.
_NEGLIGIBLE = 1e-14

ARTICULATED = np.dtype(
    [
        ("inertia", "f8", (10,)),  # placed rigid-body inertia
        ("I_A", "f8", (6, 6)),  # articulated-body inertia
        ("U", "f8", (6,)),  # I_A S
        ("D_inverse", "f8"),  # 1 / (S^T I_A S + rotor inertia), 0 for FIXED and FREE
        ("p_A", "f8", (6,)),  # articulated bias force
        ("u", "f8"),  # tau - S^T p_A
        ("a", "f8", (6,)),  # proper spatial acceleration
        ("external", "f8", (6,)),  # force on the body besides gravity, joints and constraints
        ("load", "f8", (6,)),  # further forces of which `respond` finds the effect
        ("da", "f8", (6,)),  # acceleration that the loads add
        ("root_inverse", "f8", (6, 6)),  # I_A^-1, at FREE bodies
    ]
)


def new_articulated(body_count: int) -> np.ndarray:
    """Return zeroed ARTICULATED records for `body_count` bodies."""
    return np.zeros(body_count, dtype=ARTICULATED)


@kernel
def place_inertias(forest, kinematics, articulated_out):
    """Write the rigid-body inertia of every body about its tree's origin."""
    for i in range(forest.bodies.shape[0]):
        body = forest.bodies[i]
        here = kinematics[i]
        place_inertia(body.mass, body.com, body.inertia, here.R, here.p, articulated_out[i].inertia)


@kernel
def factorise(forest, kinematics, joint_inertia, articulated_out):
    """Write I_A, U, D_inverse and root_inverse (pass 2 of the algorithm without its forces).

    `joint_inertia` (nv,) is added to the inertia each joint sees: the rotor inertia, and what an
    implicit integrator adds for springs and dampers. Returns -1, or a body whose joint sees no
    positive inertia.
    """
    n = forest.bodies.shape[0]
    for i in range(n):
        _spread_inertia(articulated_out[i].inertia, articulated_out[i].I_A)
    singular = -1
    for i in range(n - 1, -1, -1):
        body = forest.bodies[i]
        here = articulated_out[i]
        I_A, U = here.I_A, here.U
        joint = body.joint_type
        if joint == REVOLUTE or joint == PRISMATIC:
            S = kinematics[i].S
            D = joint_inertia[body.v_index]
            trace = 0.0
            for r in range(6):
                trace += I_A[r, r]
                total = 0.0
                for k in range(6):
                    total += I_A[r, k] * S[k]
                U[r] = total
                D += S[r] * total
            if not (D > 0.0 and D > _NEGLIGIBLE * trace):
                singular = i
                continue
            inverse = 1.0 / D
            here.D_inverse = inverse
            if body.parent >= 0:
                above = articulated_out[body.parent].I_A
                for r in range(6):
                    scaled = U[r] * inverse
                    for k in range(6):
                        above[r, k] += I_A[r, k] - scaled * U[k]
        elif joint == FREE:
            if not invert_symmetric(I_A, here.root_inverse):
                singular = i
        elif body.parent >= 0:
            above = articulated_out[body.parent].I_A
            for r in range(6):
                for k in range(6):
                    above[r, k] += I_A[r, k]
    return singular


@inner_kernel
def _spread_inertia(placed, I_out):
    """Write the 6x6 matrix of a placed inertia."""
    m, hx, hy, hz = placed[0], placed[1], placed[2], placed[3]
    I_out[0, 0], I_out[0, 1], I_out[0, 2] = placed[4], placed[7], placed[8]
    I_out[1, 0], I_out[1, 1], I_out[1, 2] = placed[7], placed[5], placed[9]
    I_out[2, 0], I_out[2, 1], I_out[2, 2] = placed[8], placed[9], placed[6]
    I_out[0, 3], I_out[0, 4], I_out[0, 5] = 0.0, -hz, hy
    I_out[1, 3], I_out[1, 4], I_out[1, 5] = hz, 0.0, -hx
    I_out[2, 3], I_out[2, 4], I_out[2, 5] = -hy, hx, 0.0
    I_out[3, 0], I_out[3, 1], I_out[3, 2] = 0.0, hz, -hy
    I_out[4, 0], I_out[4, 1], I_out[4, 2] = -hz, 0.0, hx
    I_out[5, 0], I_out[5, 1], I_out[5, 2] = hy, -hx, 0.0
    I_out[3, 3], I_out[3, 4], I_out[3, 5] = m, 0.0, 0.0
    I_out[4, 3], I_out[4, 4], I_out[4, 5] = 0.0, m, 0.0
    I_out[5, 3], I_out[5, 4], I_out[5, 5] = 0.0, 0.0, m


@inner_kernel
def invert_symmetric(A, inverse_out):
    """Invert a symmetric positive definite 6x6 matrix; return whether it is one.

    Cholesky in place of the output, then L^-T L^-1.
    """
    L = inverse_out
    trace = A[0, 0] + A[1, 1] + A[2, 2] + A[3, 3] + A[4, 4] + A[5, 5]
    for j in range(6):
        d = A[j, j]
        for k in range(j):
            d -= L[j, k] * L[j, k]
        if not (d > 0.0 and d > _NEGLIGIBLE * trace):
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
def bias_forces(forest, kinematics, articulated_out):
    """Write p_A = v x* I v - external for every body (RBDA eq. 7.33)."""
    for i in range(forest.bodies.shape[0]):
        here = articulated_out[i]
        v, p_A = kinematics[i].v, here.p_A
        apply_inertia(here.inertia, v, p_A)
        cross_force(v, p_A, p_A)
        for r in range(6):
            p_A[r] -= here.external[r]


@kernel
def accelerations(forest, kinematics, effort, gravity, articulated, dv_out):
    """Propagate p_A to the roots, then accelerations to the leaves (rest of pass 2, and pass 3).

    `effort` (nv,) [Nm or N] acts on joints, not on FREE bodies; `gravity` (3,) [m/s^2]. Writes u,
    a, p_A and the generalised acceleration dv_out (nv,): for a FREE body the angular acceleration,
    then the second derivative of its position.
    """
    n = forest.bodies.shape[0]
    for i in range(n - 1, -1, -1):
        body = forest.bodies[i]
        if body.joint_type == FREE:
            continue
        here = articulated[i]
        U, p_A = here.U, here.p_A
        S, c = kinematics[i].S, kinematics[i].c
        gain = 0.0
        if body.joint_type != FIXED:
            total = effort[body.v_index]
            for r in range(6):
                total -= S[r] * p_A[r]
            here.u = total
            for r in range(6):
                total -= U[r] * c[r]
            gain = total * here.D_inverse
        if body.parent >= 0:
            above = articulated[body.parent].p_A
            I_A = here.I_A
            for r in range(6):
                total = p_A[r] + U[r] * gain
                for k in range(6):
                    total += I_A[r, k] * c[k]
                above[r] += total
    for i in range(n):
        body = forest.bodies[i]
        here = articulated[i]
        a = here.a
        k = body.v_index
        if body.joint_type == FREE:
            v = kinematics[i].v
            for r in range(6):
                total = 0.0
                for s in range(6):
                    total -= here.root_inverse[r, s] * here.p_A[s]
                a[r] = total
            dv_out[k], dv_out[k + 1], dv_out[k + 2] = a[0], a[1], a[2]
            dv_out[k + 3] = a[3] + gravity[0] + v[1] * v[5] - v[2] * v[4]
            dv_out[k + 4] = a[4] + gravity[1] + v[2] * v[3] - v[0] * v[5]
            dv_out[k + 5] = a[5] + gravity[2] + v[0] * v[4] - v[1] * v[3]
            continue
        c = kinematics[i].c
        if body.parent < 0:
            for r in range(3):
                a[r] = c[r]
                a[3 + r] = c[3 + r] - gravity[r]
        else:
            above = articulated[body.parent].a
            for r in range(6):
                a[r] = above[r] + c[r]
        if body.joint_type != FIXED:
            S, U = kinematics[i].S, here.U
            total = here.u
            for r in range(6):
                total -= U[r] * a[r]
            rate = total * here.D_inverse
            dv_out[k] = rate
            for r in range(6):
                a[r] += S[r] * rate


@inner_kernel
def respond(forest, kinematics, articulated, effort, dv_out):
    """Find the change of motion that `load` on bodies and `effort` (nv,) on joints alone cause.

    Forces give accelerations, impulses velocities; gravity and bias take no part. Writes `da`, and
    dv_out (nv,) for the kernels' velocity; `load` ends as what it adds to the bodies' p_A, negated.
    """
    n = forest.bodies.shape[0]
    for i in range(n - 1, -1, -1):
        body = forest.bodies[i]
        if body.joint_type == FREE:
            continue
        here = articulated[i]
        load = here.load
        gain = 0.0
        if body.joint_type != FIXED:
            S = kinematics[i].S
            total = effort[body.v_index]
            for r in range(6):
                total += S[r] * load[r]
            dv_out[body.v_index] = total
            gain = total * here.D_inverse
        if body.parent >= 0:
            above = articulated[body.parent].load
            U = here.U
            for r in range(6):
                above[r] += load[r] - U[r] * gain
    for i in range(n):
        body = forest.bodies[i]
        here = articulated[i]
        da = here.da
        k = body.v_index
        if body.joint_type == FREE:
            for r in range(6):
                total = 0.0
                for s in range(6):
                    total += here.root_inverse[r, s] * here.load[s]
                da[r] = total
                dv_out[k + r] = total
            continue
        if body.parent >= 0:
            above = articulated[body.parent].da
            for r in range(6):
                da[r] = above[r]
        else:
            for r in range(6):
                da[r] = 0.0
        if body.joint_type != FIXED:
            S, U = kinematics[i].S, here.U
            total = dv_out[k]
            for r in range(6):
                total -= U[r] * da[r]
            rate = total * here.D_inverse
            dv_out[k] = rate
            for r in range(6):
                da[r] += S[r] * rate
