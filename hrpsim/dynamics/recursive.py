"""Inverse dynamics, the joint-space inertia matrix and the centre of mass, in world-parallel frames."""

from __future__ import annotations

from hrpsim.compiled import kernel
from hrpsim.model.system import FIXED, FREE
from hrpsim.spatial.inertia import apply_inertia, cross_force


@kernel
def newton_euler(system, kinematics, inertia, dv, gravity, external, a_out, f_out, effort_out):
    """Recursive Newton-Euler algorithm (RBDA Table 5.1).

    `dv` (nv,): for a FREE body the angular acceleration, then the second derivative of its
    position. `external` (n, 6) acts on the bodies. Writes the proper accelerations a_out (n, 6),
    the wrench f_out (n, 6) that each parent exerts on its child, and effort_out (nv,); the entries
    of a FREE body are its wrench about its own origin, moment first.
    """
    S, v, c = kinematics.S, kinematics.v, kinematics.c
    n = system.parent.shape[0]
    for i in range(n):
        parent = system.parent[i]
        joint = system.joint_type[i]
        k = system.v_index[i]
        if joint == FREE:
            wx, wy, wz, lx, ly, lz = v[i, 0], v[i, 1], v[i, 2], v[i, 3], v[i, 4], v[i, 5]
            a_out[i, 0], a_out[i, 1], a_out[i, 2] = dv[k], dv[k + 1], dv[k + 2]
            a_out[i, 3] = dv[k + 3] - gravity[0] - (wy * lz - wz * ly)
            a_out[i, 4] = dv[k + 4] - gravity[1] - (wz * lx - wx * lz)
            a_out[i, 5] = dv[k + 5] - gravity[2] - (wx * ly - wy * lx)
        else:
            rate = dv[k] if joint != FIXED else 0.0
            for r in range(6):
                above = a_out[parent, r] if parent >= 0 else (0.0 if r < 3 else -gravity[r - 3])
                a_out[i, r] = above + c[i, r] + S[i, r] * rate
        apply_inertia(inertia[i], v[i], f_out[i])
        cross_force(v[i], f_out[i], f_out[i])
        _add_inertial_force(inertia[i], a_out[i], external[i], f_out[i])
    for i in range(n - 1, -1, -1):
        parent = system.parent[i]
        joint = system.joint_type[i]
        k = system.v_index[i]
        if joint == FREE:
            for r in range(6):
                effort_out[k + r] = f_out[i, r]
        elif joint != FIXED:
            total = 0.0
            for r in range(6):
                total += S[i, r] * f_out[i, r]
            effort_out[k] = total
        if parent >= 0:
            for r in range(6):
                f_out[parent, r] += f_out[i, r]


@kernel
def _add_inertial_force(placed, a, external, force):
    mass, hx, hy, hz = placed[0], placed[1], placed[2], placed[3]
    wx, wy, wz, lx, ly, lz = a[0], a[1], a[2], a[3], a[4], a[5]
    nx = placed[4] * wx + placed[7] * wy + placed[8] * wz + hy * lz - hz * ly
    ny = placed[7] * wx + placed[5] * wy + placed[9] * wz + hz * lx - hx * lz
    nz = placed[8] * wx + placed[9] * wy + placed[6] * wz + hx * ly - hy * lx
    force[0] += nx - external[0]
    force[1] += ny - external[1]
    force[2] += nz - external[2]
    force[3] += mass * lx + wy * hz - wz * hy - external[3]
    force[4] += mass * ly + wz * hx - wx * hz - external[4]
    force[5] += mass * lz + wx * hy - wy * hx - external[5]


@kernel
def composite_inertia(system, kinematics, inertia, rotor_inertia, composite_out, M_out):
    """Composite-rigid-body algorithm (RBDA Table 6.2); the rotor inertia is added on the diagonal.

    `composite_out` (n, 10) ends as the inertia of each body's subtree; M_out (nv, nv) is for the
    kernels' velocity, in which a FREE body's rows are moment then force about its origin.
    """
    S = kinematics.S
    n = system.parent.shape[0]
    nv = M_out.shape[0]
    for i in range(n):
        for r in range(10):
            composite_out[i, r] = inertia[i, r]
    for i in range(n - 1, -1, -1):
        parent = system.parent[i]
        if parent >= 0:
            for r in range(10):
                composite_out[parent, r] += composite_out[i, r]
    for r in range(nv):
        for k in range(nv):
            M_out[r, k] = 0.0
    for i in range(n):
        joint = system.joint_type[i]
        if joint == FIXED:
            continue
        k = system.v_index[i]
        placed = composite_out[i]
        if joint == FREE:
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
            continue
        s = S[i]
        m, hx, hy, hz = placed[0], placed[1], placed[2], placed[3]
        f0 = placed[4] * s[0] + placed[7] * s[1] + placed[8] * s[2] + hy * s[5] - hz * s[4]
        f1 = placed[7] * s[0] + placed[5] * s[1] + placed[9] * s[2] + hz * s[3] - hx * s[5]
        f2 = placed[8] * s[0] + placed[9] * s[1] + placed[6] * s[2] + hx * s[4] - hy * s[3]
        f3 = m * s[3] + s[1] * hz - s[2] * hy
        f4 = m * s[4] + s[2] * hx - s[0] * hz
        f5 = m * s[5] + s[0] * hy - s[1] * hx
        M_out[k, k] = (
            rotor_inertia[k]
            + f0 * s[0] + f1 * s[1] + f2 * s[2] + f3 * s[3] + f4 * s[4] + f5 * s[5]
        )  # fmt: skip
        j = system.parent[i]
        while j >= 0:
            l = system.v_index[j]  # noqa: E741
            joint = system.joint_type[j]
            if joint == FREE:
                M_out[k, l] = M_out[l, k] = f0
                M_out[k, l + 1] = M_out[l + 1, k] = f1
                M_out[k, l + 2] = M_out[l + 2, k] = f2
                M_out[k, l + 3] = M_out[l + 3, k] = f3
                M_out[k, l + 4] = M_out[l + 4, k] = f4
                M_out[k, l + 5] = M_out[l + 5, k] = f5
            elif joint != FIXED:
                t = S[j]
                M_out[k, l] = M_out[l, k] = (
                    f0 * t[0] + f1 * t[1] + f2 * t[2] + f3 * t[3] + f4 * t[4] + f5 * t[5]
                )
            j = system.parent[j]


@kernel
def kinetic_energy(system, kinematics, inertia, rotor_inertia, velocity):
    """Return the kinetic energy of the forest, rotors included [J]."""
    total = 0.0
    for i in range(system.parent.shape[0]):
        placed, w = inertia[i], kinematics.v[i]
        f0 = placed[4] * w[0] + placed[7] * w[1] + placed[8] * w[2]
        f1 = placed[7] * w[0] + placed[5] * w[1] + placed[9] * w[2]
        f2 = placed[8] * w[0] + placed[9] * w[1] + placed[6] * w[2]
        hx, hy, hz = placed[1], placed[2], placed[3]
        total += 0.5 * (f0 * w[0] + f1 * w[1] + f2 * w[2])
        total += 0.5 * placed[0] * (w[3] * w[3] + w[4] * w[4] + w[5] * w[5])
        total += w[3] * (w[1] * hz - w[2] * hy)
        total += w[4] * (w[2] * hx - w[0] * hz)
        total += w[5] * (w[0] * hy - w[1] * hx)
        if system.joint_type[i] != FREE and system.joint_type[i] != FIXED:
            k = system.v_index[i]
            total += 0.5 * rotor_inertia[k] * velocity[k] * velocity[k]
    return total
