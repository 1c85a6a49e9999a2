# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Ball joints: three bodies that rotate about x, y and z, with one rotation vector.

Positions q[j], q[j + 1], q[j + 2] are the rotation vector phi [rad] along x, y, z. Rates are the
angular velocity omega along the axes of the moved body. The joint frame of the first body has x as
its third axis, and y and z as its first and second (hrpsim.model.shapes.placement).
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Mat3, Seconds, Vector
from hrpsim.engine.spatial.sine_cosine import sine_cosine

_SMALL = 1e-8  # square of an angle below which series are exact [rad^2]
_Quaternion = tuple[float, float, float, float]


@inner_kernel
def turn_by_ball(q: Vector, j: Index, R: Mat3) -> None:
    """Rotate the joint frame of the first body of a ball joint.

    Args:
        q: configuration (nq,).
        j: index of the first position of the joint.
        R: orientation (3, 3), changed in place.
    """
    x, y, z, w = ball_quaternion(q[j + 1], q[j + 2], q[j], 1.0)
    for a in range(3):
        u, v, n = R[a, 0], R[a, 1], R[a, 2]
        # the row times the matrix is the vector, rotated back
        tx, ty, tz = 2.0 * (v * z - n * y), 2.0 * (n * x - u * z), 2.0 * (u * y - v * x)
        R[a, 0] = u + w * tx - (y * tz - z * ty)
        R[a, 1] = v + w * ty - (z * tx - x * tz)
        R[a, 2] = n + w * tz - (x * ty - y * tx)


@inner_kernel
def carry_ball(q: Vector, j: Index, x: float, y: float, z: float, duration: Seconds) -> None:
    """Rotate a ball joint with constant angular velocity.

    Args:
        q: configuration (nq,), changed in place. The rotation vector is then at most pi long.
        j: index of the first position of the joint.
        x: first component of the angular velocity [rad/s].
        y: second component of the angular velocity [rad/s].
        z: third component of the angular velocity [rad/s].
        duration: [s].
    """
    if x != 0.0 or y != 0.0 or z != 0.0:
        _write_turned(q[j], q[j + 1], q[j + 2], x, y, z, duration, q, j)


@inner_kernel
def find_ball_turn(start: Vector, end: Vector, j: Index, way_out: Vector, k: Index) -> None:
    """Write the shortest rotation vector from one position of a ball joint to another.

    Args:
        start: configuration at the start (nq,).
        end: configuration at the end (nq,).
        j: index of the first position of the joint.
        way_out: angular velocity that needs unit time, written from index `k` on (nv,).
        k: index of the first rate of the joint.
    """
    a, b, c = -start[j], -start[j + 1], -start[j + 2]
    _write_turned(a, b, c, end[j], end[j + 1], end[j + 2], 1.0, way_out, k)


@inner_kernel
def write_ball_rate(q: Vector, j: Index, velocity: Vector, k: Index, rate_out: Vector) -> None:
    """Write the time derivative of a rotation vector.

    The derivative is omega + phi x omega / 2 + c phi x (phi x omega), with
    c = (1 - (a / 2) cot(a / 2)) / a^2 and the angle a = |phi|.

    Args:
        q: configuration (nq,).
        j: index of the first position of the joint.
        velocity: velocity (nv,) [rad/s, m/s].
        k: index of the first rate of the joint.
        rate_out: derivative (nq,), written from index `j` on [rad/s].
    """
    x, y, z = q[j], q[j + 1], q[j + 2]
    a, b, c = velocity[k], velocity[k + 1], velocity[k + 2]
    square = x * x + y * y + z * z
    factor = 1.0 / 12.0 + square / 720.0
    if square > _SMALL:
        half = 0.5 * math.sqrt(square)
        sine, cosine = sine_cosine(half)
        factor = (1.0 - half * cosine / sine) / square
    u, v, w = y * c - z * b, z * a - x * c, x * b - y * a
    rate_out[j] = a + 0.5 * u + factor * (y * w - z * v)
    rate_out[j + 1] = b + 0.5 * v + factor * (z * u - x * w)
    rate_out[j + 2] = c + 0.5 * w + factor * (x * v - y * u)


@inner_kernel
def shorten_ball(q: Vector, j: Index) -> None:
    """Replace a rotation vector between pi and 3 pi by the shorter one of the same rotation.

    Args:
        q: configuration (nq,), changed in place.
        j: index of the first position of the joint.
    """
    length = math.sqrt(q[j] ** 2 + q[j + 1] ** 2 + q[j + 2] ** 2)
    if length > math.pi:
        for r in range(3):
            q[j + r] *= 1.0 - 2.0 * math.pi / length


@inner_kernel
def ball_quaternion(x: float, y: float, z: float, scale: float) -> _Quaternion:
    """Return the unit quaternion x, y, z, w of the rotation vector `scale` (x, y, z).

    The joint frame of a ball's first body has the components q[j + 1], q[j + 2], q[j].
    """
    x, y, z = scale * x, scale * y, scale * z
    square = x * x + y * y + z * z
    sine, cosine = 0.5 - square / 48.0, 1.0 - square / 8.0
    if square > _SMALL:
        angle = math.sqrt(square)
        sine, cosine = sine_cosine(0.5 * angle)
        sine /= angle
    return sine * x, sine * y, sine * z, cosine


@inlined_kernel
def _write_turned(
    a: float, b: float, c: float, x: float, y: float, z: float, duration: Seconds,
    out: Vector, at: Index,
) -> None:  # fmt: skip
    """Write the shortest rotation vector of a turned frame to out[at:at + 3].

    Args:
        a: first component of the rotation vector of the frame [rad].
        b: second component of the rotation vector of the frame [rad].
        c: third component of the rotation vector of the frame [rad].
        x: first component of the angular velocity, along the axes of the frame [rad/s].
        y: second component of the angular velocity, along the axes of the frame [rad/s].
        z: third component of the angular velocity, along the axes of the frame [rad/s].
        duration: [s].
        out: vector to write.
        at: first index to write.
    """
    a, b, c, d = ball_quaternion(a, b, c, 1.0)
    x, y, z, w = ball_quaternion(x, y, z, duration)
    u, v, n = (
        d * x + a * w + b * z - c * y,
        d * y + b * w + c * x - a * z,
        d * z + c * w + a * y - b * x,
    )
    w = d * w - a * x - b * y - c * z
    if w < 0.0:
        u, v, n, w = -u, -v, -n, -w
    sine = math.sqrt(u * u + v * v + n * n)
    scale = 2.0 / w
    if sine > 1e-12:
        scale = 2.0 * math.atan2(sine, w) / sine
    out[at], out[at + 1], out[at + 2] = scale * u, scale * v, scale * n
