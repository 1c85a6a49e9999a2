"""Spatial inertia in kernels: placing a body's inertia in the world-parallel frame of its tree."""

from __future__ import annotations

from hrpsim.compiled import inner_kernel


@inner_kernel
def place_inertia(mass, com, inertia, R, p, placed_out):
    """Write mass, first moment h (3) and rotational inertia about the tree's origin (6).

    `com` and `inertia` (about com) are given in the body frame, placed by R, p. The order of
    `placed_out` (10,) is m, hx, hy, hz, Jxx, Jyy, Jzz, Jxy, Jxz, Jyz (RBDA eq. 2.63).
    """
    cx = p[0] + R[0, 0] * com[0] + R[0, 1] * com[1] + R[0, 2] * com[2]
    cy = p[1] + R[1, 0] * com[0] + R[1, 1] * com[1] + R[1, 2] * com[2]
    cz = p[2] + R[2, 0] * com[0] + R[2, 1] * com[1] + R[2, 2] * com[2]
    ixx, iyy, izz = inertia[0, 0], inertia[1, 1], inertia[2, 2]
    ixy, ixz, iyz = inertia[0, 1], inertia[0, 2], inertia[1, 2]
    # rows of R inertia
    a00 = R[0, 0] * ixx + R[0, 1] * ixy + R[0, 2] * ixz
    a01 = R[0, 0] * ixy + R[0, 1] * iyy + R[0, 2] * iyz
    a02 = R[0, 0] * ixz + R[0, 1] * iyz + R[0, 2] * izz
    a10 = R[1, 0] * ixx + R[1, 1] * ixy + R[1, 2] * ixz
    a11 = R[1, 0] * ixy + R[1, 1] * iyy + R[1, 2] * iyz
    a12 = R[1, 0] * ixz + R[1, 1] * iyz + R[1, 2] * izz
    a20 = R[2, 0] * ixx + R[2, 1] * ixy + R[2, 2] * ixz
    a21 = R[2, 0] * ixy + R[2, 1] * iyy + R[2, 2] * iyz
    a22 = R[2, 0] * ixz + R[2, 1] * iyz + R[2, 2] * izz
    placed_out[0] = mass
    placed_out[1] = mass * cx
    placed_out[2] = mass * cy
    placed_out[3] = mass * cz
    placed_out[4] = a00 * R[0, 0] + a01 * R[0, 1] + a02 * R[0, 2] + mass * (cy * cy + cz * cz)
    placed_out[5] = a10 * R[1, 0] + a11 * R[1, 1] + a12 * R[1, 2] + mass * (cx * cx + cz * cz)
    placed_out[6] = a20 * R[2, 0] + a21 * R[2, 1] + a22 * R[2, 2] + mass * (cx * cx + cy * cy)
    placed_out[7] = a00 * R[1, 0] + a01 * R[1, 1] + a02 * R[1, 2] - mass * cx * cy
    placed_out[8] = a00 * R[2, 0] + a01 * R[2, 1] + a02 * R[2, 2] - mass * cx * cz
    placed_out[9] = a10 * R[2, 0] + a11 * R[2, 1] + a12 * R[2, 2] - mass * cy * cz


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


@inner_kernel
def cross_force(v, f, force_out):
    """Write v x* f, the rate of change of the force vector `f` carried by the motion `v` (6,)."""
    wx, wy, wz, lx, ly, lz = v[0], v[1], v[2], v[3], v[4], v[5]
    nx, ny, nz, fx, fy, fz = f[0], f[1], f[2], f[3], f[4], f[5]
    force_out[0] = wy * nz - wz * ny + ly * fz - lz * fy
    force_out[1] = wz * nx - wx * nz + lz * fx - lx * fz
    force_out[2] = wx * ny - wy * nx + lx * fy - ly * fx
    force_out[3] = wy * fz - wz * fy
    force_out[4] = wz * fx - wx * fz
    force_out[5] = wx * fy - wy * fx
