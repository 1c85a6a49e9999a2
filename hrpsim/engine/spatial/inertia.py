# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Spatial inertia in kernels: placing a body's inertia in the world-parallel frame of its tree."""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Inertia, Mat3, Vec3, Vec6
from hrpsim.engine.spatial.vector import placed_point


@inlined_kernel
def place_inertia(
    mass: float, com: Vec3, inertia: Mat3, R: Mat3, p: Vec3, placed_out: Inertia
) -> None:
    """Write the spatial inertia of a body about the origin of its tree (RBDA eq. 2.63).

    Args:
        mass: mass of the body [kg].
        com: centre of mass in the body frame (3,) [m].
        inertia: rotational inertia about the centre of mass, in the body frame (3, 3) [kg m^2].
        R: rotation R_world_body (3, 3).
        p: origin of the body relative to the tree's origin, along world axes (3,) [m].
        placed_out: m [kg], hx, hy, hz [kg m], Jxx, Jyy, Jzz, Jxy, Jxz, Jyz [kg m^2] (10,), written.
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
def apply_inertia(placed: Inertia, m: Vec6, force_out: Vec6) -> None:
    """Multiply a spatial inertia by a motion vector.

    Args:
        placed: spatial inertia (10,), as written by `place_inertia`.
        m: twist [rad/s, m/s] or spatial acceleration [rad/s^2, m/s^2] (6,), angular part first.
        force_out: momentum [Nms, Ns] or force [Nm, N] (6,), angular part first, written.
    """
    mass, hx, hy, hz = placed[0], placed[1], placed[2], placed[3]
    wx, wy, wz, lx, ly, lz = m[0], m[1], m[2], m[3], m[4], m[5]
    force_out[0] = placed[4] * wx + placed[7] * wy + placed[8] * wz + hy * lz - hz * ly
    force_out[1] = placed[7] * wx + placed[5] * wy + placed[9] * wz + hz * lx - hx * lz
    force_out[2] = placed[8] * wx + placed[9] * wy + placed[6] * wz + hx * ly - hy * lx
    force_out[3] = mass * lx + wy * hz - wz * hy
    force_out[4] = mass * ly + wz * hx - wx * hz
    force_out[5] = mass * lz + wx * hy - wy * hx


@inlined_kernel
def bias_force(placed: Inertia, v: Vec6, a: Vec6, external: Vec6, force_out: Vec6) -> None:
    """Write the spatial force I a + v x* I v - external on a moving body (RBDA Table 5.1).

    All vectors have the angular part first and refer to the tree's origin.

    Args:
        placed: spatial inertia I (10,), as written by `place_inertia`.
        v: twist of the body (6,) [rad/s, m/s].
        a: spatial acceleration of the body (6,) [rad/s^2, m/s^2].
        external: external force on the body (6,) [Nm, N].
        force_out: force through the joint (6,) [Nm, N], written.
    """
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
