# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rotations in kernels: unit quaternions (x, y, z, w) and rotation matrices R_ab (b to a)."""

import math

from hrpsim.engine.compile.compiled import inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import Index, Mat3, Vector
from hrpsim.engine.spatial.sine_cosine import sine_cosine


@inner_kernel
def rotation_from_quaternion(x: float, y: float, z: float, w: float, R_out: Mat3) -> None:
    """Write the rotation matrix of a quaternion, whose length may differ slightly from 1.

    Args:
        x: first component of the vector part [1].
        y: second component of the vector part [1].
        z: third component of the vector part [1].
        w: scalar part [1].
        R_out: rotation R_ab (3, 3) for the quaternion of b in a, written.
    """
    s = 2.0 / (x * x + y * y + z * z + w * w)
    R_out[0, 0] = 1.0 - s * (y * y + z * z)
    R_out[0, 1] = s * (x * y - z * w)
    R_out[0, 2] = s * (x * z + y * w)
    R_out[1, 0] = s * (x * y + z * w)
    R_out[1, 1] = 1.0 - s * (x * x + z * z)
    R_out[1, 2] = s * (y * z - x * w)
    R_out[2, 0] = s * (x * z - y * w)
    R_out[2, 1] = s * (y * z + x * w)
    R_out[2, 2] = 1.0 - s * (x * x + y * y)


@inner_kernel
def rotated(
    x: float, y: float, z: float, w: float, vx: float, vy: float, vz: float
) -> tuple[float, float, float]:
    """Rotate a vector by a unit quaternion.

    x, y, z, w: unit quaternion. vx, vy, vz: vector (3,) of any unit.

    Returns:
        The rotated vector (x, y, z), in the unit of the vector.
    """
    tx = 2.0 * (y * vz - z * vy)
    ty = 2.0 * (z * vx - x * vz)
    tz = 2.0 * (x * vy - y * vx)
    return (
        vx + w * tx + y * tz - z * ty,
        vy + w * ty + z * tx - x * tz,
        vz + w * tz + x * ty - y * tx,
    )


@inner_kernel
def rotate_quaternion(q: Vector, at: Index, wx: float, wy: float, wz: float, scale: float) -> None:
    """Rotate the quaternion q[at:at + 4] in place by the rotation vector `scale` (wx, wy, wz).

    The exponential map is exact for a constant angular velocity. The result has unit length.

    q: quaternion x, y, z, w within an array (n,).
    at: index of x in `q`.
    wx, wy, wz: rotation vector [rad] or angular velocity [rad/s], along world axes.
    scale: factor of the vector: 1, or the duration [s] if the vector is an angular velocity.
    """
    wx, wy, wz = scale * wx, scale * wy, scale * wz
    square = wx * wx + wy * wy + wz * wz
    angle = math.sqrt(square)
    if angle > 1e-4:
        s, c = sine_cosine(0.5 * angle)
        s /= angle
    else:
        s = 0.5 - square / 48.0
        c = 1.0 - square / 8.0 + square * square / 384.0
    ax, ay, az = s * wx, s * wy, s * wz
    x, y, z, w = q[at], q[at + 1], q[at + 2], q[at + 3]
    nx = c * x + ax * w + ay * z - az * y
    ny = c * y + ay * w + az * x - ax * z
    nz = c * z + az * w + ax * y - ay * x
    nw = c * w - ax * x - ay * y - az * z
    scale = 1.0 / math.sqrt(nx * nx + ny * ny + nz * nz + nw * nw)
    q[at], q[at + 1], q[at + 2], q[at + 3] = nx * scale, ny * scale, nz * scale, nw * scale


@kernel
def quaternion_from_rotation(R: Mat3, q_out: Vector) -> None:
    """Write the unit quaternion of a rotation matrix, with w >= 0.

    Args:
        R: rotation matrix (3, 3).
        q_out: unit quaternion x, y, z, w (4,), written.
    """
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    w2 = 1.0 + trace
    x2 = 1.0 + 2.0 * R[0, 0] - trace
    y2 = 1.0 + 2.0 * R[1, 1] - trace
    z2 = 1.0 + 2.0 * R[2, 2] - trace
    if w2 >= x2 and w2 >= y2 and w2 >= z2:
        x, y, z, w = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], w2
    elif x2 >= y2 and x2 >= z2:
        x, y, z, w = x2, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[2, 1] - R[1, 2]
    elif y2 >= z2:
        x, y, z, w = R[0, 1] + R[1, 0], y2, R[1, 2] + R[2, 1], R[0, 2] - R[2, 0]
    else:
        x, y, z, w = R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], z2, R[1, 0] - R[0, 1]
    scale = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    if w < 0.0:
        scale = -scale
    q_out[0], q_out[1], q_out[2], q_out[3] = x * scale, y * scale, z * scale, w * scale
