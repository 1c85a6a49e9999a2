# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Spatial inertia in kernels: placing a body's inertia in the world-parallel frame of its tree."""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.spatial.vector import placed_point


@inlined_kernel
def place_inertia(mass, com, inertia, R, p, placed_out):
    """Write mass, first moment h (3) and rotational inertia about the tree's origin (6).

    `com` and `inertia` (about com) are given in the body frame, placed by R, p. The order of
    `placed_out` (10,) is m, hx, hy, hz, Jxx, Jyy, Jzz, Jxy, Jxz, Jyz (RBDA eq. 2.63).
    """
    cx, cy, cz = placed_point(R, p, com)
    # read once: to the compiler, the output might be the same memory
    ixx, iyy, izz = inertia[0, 0], inertia[1, 1], inertia[2, 2]
    ixy, ixz, iyz = inertia[0, 1], inertia[0, 2], inertia[1, 2]
    r00, r01, r02 = R[0, 0], R[0, 1], R[0, 2]
    r10, r11, r12 = R[1, 0], R[1, 1], R[1, 2]
    r20, r21, r22 = R[2, 0], R[2, 1], R[2, 2]
    # rows of R inertia
    a00 = r00 * ixx + r01 * ixy + r02 * ixz
    a01 = r00 * ixy + r01 * iyy + r02 * iyz
    a02 = r00 * ixz + r01 * iyz + r02 * izz
    a10 = r10 * ixx + r11 * ixy + r12 * ixz
    a11 = r10 * ixy + r11 * iyy + r12 * iyz
    a12 = r10 * ixz + r11 * iyz + r12 * izz
    a20 = r20 * ixx + r21 * ixy + r22 * ixz
    a21 = r20 * ixy + r21 * iyy + r22 * iyz
    a22 = r20 * ixz + r21 * iyz + r22 * izz
    placed_out[0] = mass
    placed_out[1] = mass * cx
    placed_out[2] = mass * cy
    placed_out[3] = mass * cz
    placed_out[4] = a00 * r00 + a01 * r01 + a02 * r02 + mass * (cy * cy + cz * cz)
    placed_out[5] = a10 * r10 + a11 * r11 + a12 * r12 + mass * (cx * cx + cz * cz)
    placed_out[6] = a20 * r20 + a21 * r21 + a22 * r22 + mass * (cx * cx + cy * cy)
    placed_out[7] = a00 * r10 + a01 * r11 + a02 * r12 - mass * cx * cy
    placed_out[8] = a00 * r20 + a01 * r21 + a02 * r22 - mass * cx * cz
    placed_out[9] = a10 * r20 + a11 * r21 + a12 * r22 - mass * cy * cz


@inner_kernel
def apply_inertia(placed, m, force_out):
    """Write the spatial force (moment, force) = inertia times the motion vector `m` (6,)."""
    mass, hx, hy, hz = placed[0], placed[1], placed[2], placed[3]
    wx, wy, wz, lx, ly, lz = m[0], m[1], m[2], m[3], m[4], m[5]
    force_out[0] = placed[4] * wx + placed[7] * wy + placed[8] * wz + hy * lz - hz * ly
    force_out[1] = placed[7] * wx + placed[5] * wy + placed[9] * wz + hz * lx - hx * lz
    force_out[2] = placed[8] * wx + placed[9] * wy + placed[6] * wz + hx * ly - hy * lx
    force_out[3] = mass * lx + wy * hz - wz * hy
    force_out[4] = mass * ly + wz * hx - wx * hz
    force_out[5] = mass * lz + wx * hy - wy * hx


@inlined_kernel
def bias_force(placed, v, a, external, force_out):
    """Write I a + v x* I v - external: the force on a body that moves with `v` and `a` (6,)."""
    mass, hx, hy, hz = placed[0], placed[1], placed[2], placed[3]
    xx, yy, zz, xy, xz, yz = placed[4], placed[5], placed[6], placed[7], placed[8], placed[9]
    wx, wy, wz, lx, ly, lz = v[0], v[1], v[2], v[3], v[4], v[5]
    nx = xx * wx + xy * wy + xz * wz + hy * lz - hz * ly
    ny = xy * wx + yy * wy + yz * wz + hz * lx - hx * lz
    nz = xz * wx + yz * wy + zz * wz + hx * ly - hy * lx
    fx = mass * lx + wy * hz - wz * hy
    fy = mass * ly + wz * hx - wx * hz
    fz = mass * lz + wx * hy - wy * hx
    ux, uy, uz, ax, ay, az = a[0], a[1], a[2], a[3], a[4], a[5]
    force_out[0] = (xx * ux + xy * uy + xz * uz + hy * az - hz * ay) + (
        (wy * nz - wz * ny) + (ly * fz - lz * fy) - external[0]
    )
    force_out[1] = (xy * ux + yy * uy + yz * uz + hz * ax - hx * az) + (
        (wz * nx - wx * nz) + (lz * fx - lx * fz) - external[1]
    )
    force_out[2] = (xz * ux + yz * uy + zz * uz + hx * ay - hy * ax) + (
        (wx * ny - wy * nx) + (lx * fy - ly * fx) - external[2]
    )
    force_out[3] = (mass * ax + uy * hz - uz * hy) + (wy * fz - wz * fy - external[3])
    force_out[4] = (mass * ay + uz * hx - ux * hz) + (wz * fx - wx * fz - external[4])
    force_out[5] = (mass * az + ux * hy - uy * hx) + (wx * fy - wy * fx - external[5])
