# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Free rotation of a rigid body over a step, without gain or loss of energy.

I is the inertia, w and w' are the angular velocities at both ends of the step dt. An explicit
gyroscopic torque adds energy in every step, and much energy if a body turns by more than a fraction
of a radian per step. The implicit midpoint rule

    I (w' - w) + dt m x I m = 0,  m = (w + w') / 2,

in the body's frame conserves both quadratic invariants of Euler's equations, w I w and |I w|, at
any step size. With a moment n the rule is I (w' - w) + dt m x I m = dt n. The gyroscopic torque is
then the torque in the middle of the step, for any moment.

Without moments the Taylor series of the motion is exact up to rounding, and takes less time.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Mat3, Matrix, Seconds, Vec3, Vector
from hrpsim.engine.spatial.rotation import rotate_quaternion, rotated
from hrpsim.engine.spatial.vector import matrix_times

_ITERATIONS = 12
_ACCURACY = 1e-15  # of the angular velocity and its change
_FOUND = 1e-8  # the same, where rounding leaves more: an inertia may be small about one axis

# The series of free rotation: how many terms may follow the first, how far a body turns in one
# series [rad], how many series a call may need, and the size of a term that is rounding.
_MOST_TERMS = 12
_FINE_TURN = 0.25
_MOST_PARTS = 128
_LAST_DIGIT = 1e-17
TURNING = _MOST_TERMS + 2, 10  # shape of the work of `turn_freely_for`
ORIENTATION = _MOST_TERMS + 1  # row of the same that it leaves to its callers


@inner_kernel
def solve_rows_of_three(
    a: Vec3 | tuple[float, float, float],
    b: Vector | tuple[float, float, float],
    c: Vector | tuple[float, float, float],
    x: float,
    y: float,
    z: float,
) -> tuple[float, float, float]:
    """Solve the linear system A u = (x, y, z) of three equations.

    a, b, c: rows of A (3,). x, y, z: right-hand side.

    Returns:
        The three components of u, which are not finite if A is singular.
    """
    p0, p1, p2 = b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]
    q0, q1, q2 = c[1] * a[2] - c[2] * a[1], c[2] * a[0] - c[0] * a[2], c[0] * a[1] - c[1] * a[0]
    r0, r1, r2 = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    scale = 1.0 / (a[0] * p0 + a[1] * p1 + a[2] * p2)
    return (
        scale * (x * p0 + y * q0 + z * r0),
        scale * (x * p1 + y * q1 + z * r1),
        scale * (x * p2 + y * q2 + z * r2),
    )


@inlined_kernel
def free_acceleration(I: Mat3, wx: float, wy: float, wz: float) -> tuple[float, float, float]:
    """Return the angular acceleration I^-1 (I w x w) of a body without a moment [rad/s^2].

    All quantities are in body axes.

    I: inertia about the centre of mass (3, 3) [kg m^2]. wx, wy, wz: angular velocity w [rad/s].

    Returns:
        (x, y, z) [rad/s^2].
    """
    lx, ly, lz = matrix_times(I, wx, wy, wz)
    return solve_rows_of_three(
        I[0], I[1], I[2], wz * ly - wy * lz, wx * lz - wz * lx, wy * lx - wx * ly
    )


@inner_kernel
def spin_acceleration(
    I: Mat3, wx: float, wy: float, wz: float, ax: float, ay: float, az: float, time_step: Seconds
) -> tuple[float, float, float]:
    """Return the mean angular acceleration that the gyroscopic torque causes in a step [rad/s^2].

    The result is zero if the body turns so far in a step that the implicit rule has no solution
    nearby. All quantities are in body axes.

    I: inertia about the centre of mass (3, 3) [kg m^2]. wx, wy, wz: angular velocity at the start
    of the step [rad/s]. ax, ay, az: angular acceleration that other moments cause [rad/s^2].
    time_step: [s].
    """
    ux, uy, uz = time_step * ax, time_step * ay, time_step * az  # w' - w
    tx, ty, tz = matrix_times(I, ux, uy, uz)
    size = abs(wx) + abs(wy) + abs(wz) + abs(ux) + abs(uy) + abs(uz)
    half, left = 0.5 * time_step, 0.0
    for _ in range(_ITERATIONS):
        mx, my, mz = wx + 0.5 * ux, wy + 0.5 * uy, wz + 0.5 * uz
        lx, ly, lz = matrix_times(I, mx, my, mz)
        fx, fy, fz = matrix_times(I, ux, uy, uz)
        fx += time_step * (my * lz - mz * ly) - tx
        fy += time_step * (mz * lx - mx * lz) - ty
        fz += time_step * (mx * ly - my * lx) - tz
        # The derivative by u: I + dt/2 ([m x] I - [I m x]).
        a = (
            I[0, 0] + half * (my * I[2, 0] - mz * I[1, 0]),
            I[0, 1] + half * (my * I[2, 1] - mz * I[1, 1] + lz),
            I[0, 2] + half * (my * I[2, 2] - mz * I[1, 2] - ly),
        )
        b = (
            I[1, 0] + half * (mz * I[0, 0] - mx * I[2, 0] - lz),
            I[1, 1] + half * (mz * I[0, 1] - mx * I[2, 1]),
            I[1, 2] + half * (mz * I[0, 2] - mx * I[2, 2] + lx),
        )
        c = (
            I[2, 0] + half * (mx * I[1, 0] - my * I[0, 0] + ly),
            I[2, 1] + half * (mx * I[1, 1] - my * I[0, 1] - lx),
            I[2, 2] + half * (mx * I[1, 2] - my * I[0, 2]),
        )
        dx, dy, dz = solve_rows_of_three(a, b, c, fx, fy, fz)
        ux, uy, uz = ux - dx, uy - dy, uz - dz
        left = abs(dx) + abs(dy) + abs(dz)
        if left <= _ACCURACY * size:
            break
    if not left <= _FOUND * size:
        return 0.0, 0.0, 0.0
    return ux / time_step - ax, uy / time_step - ay, uz / time_step - az


@inner_kernel
def turn_freely_for(
    I: Mat3, q: Vector, wx: float, wy: float, wz: float, duration: Seconds, turning: Matrix
) -> tuple[float, float, float]:
    """Rotate a free body for a time, and return the final angular velocity (x, y, z) [rad/s].

    No moments act. Both angular velocities are in body axes. The Taylor series of the equations

        I w' = I w x w,   q' = q (w, 0) / 2

    are summed until the terms are below rounding errors. With the coefficients w_k, l_k = I w_k and
    q_k,

        (n + 1) l_(n+1) = sum of l_k x w_(n-k),   2 (n + 1) q_(n+1) = sum of q_k (w_(n-k), 0).

    If the body turns so far that too many series would be needed, steps of the implicit rule are
    taken. These steps conserve the energy and the magnitude of the angular momentum.

    I: inertia about the centre of mass (3, 3) [kg m^2]. q: unit quaternion x, y, z, w (4,), changed
    in place. wx, wy, wz: angular velocity at the start [rad/s]. duration: time of the rotation [s].
    turning: work, of shape TURNING (terms, 10). The row ORIENTATION is not used.
    """
    turn = math.sqrt(wx * wx + wy * wy + wz * wz) * duration
    if not turn < _FINE_TURN * _MOST_PARTS:
        return _turn_far(I, q, wx, wy, wz, duration)
    count = 1 + int(turn / _FINE_TURN)
    h = duration / count
    wx, wy, wz = h * wx, h * wy, h * wz
    for _ in range(count):
        wx, wy, wz = _add_series(I, q, wx, wy, wz, turning)
    return wx / h, wy / h, wz / h


@inner_kernel
def _turn_far(
    I: Mat3, q: Vector, wx: float, wy: float, wz: float, duration: Seconds
) -> tuple[float, float, float]:
    """Rotate a body without moments by steps of the implicit rule, for any angle of rotation.

    The arguments and the result are the same as of `turn_freely_for`.
    """
    h = duration / _MOST_PARTS
    for _ in range(_MOST_PARTS):
        ax, ay, az = spin_acceleration(I, wx, wy, wz, 0.0, 0.0, 0.0, h)
        mx, my, mz = wx + 0.5 * h * ax, wy + 0.5 * h * ay, wz + 0.5 * h * az
        mx, my, mz = rotated(q[0], q[1], q[2], q[3], mx, my, mz)
        rotate_quaternion(q, 0, mx, my, mz, h)
        wx, wy, wz = wx + h * ax, wy + h * ay, wz + h * az
    return wx, wy, wz


@inner_kernel
def _add_series(
    I: Mat3, q: Vector, wx: float, wy: float, wz: float, terms: Matrix
) -> tuple[float, float, float]:
    """Sum the series over one unit of time. Change q, and return the final angular velocity.

    wx, wy, wz: angular velocity, per unit of time [rad].
    """
    first = terms[0]
    first[0], first[1], first[2] = wx, wy, wz
    first[3], first[4], first[5] = matrix_times(I, wx, wy, wz)
    for r in range(4):
        first[6 + r] = q[r]
    least = _LAST_DIGIT * (abs(wx) + abs(wy) + abs(wz))
    for n in range(_MOST_TERMS):
        lx = ly = lz = x = y = z = s = 0.0
        for k in range(n + 1):
            a, b = terms[k], terms[n - k]
            lx += a[4] * b[2] - a[5] * b[1]
            ly += a[5] * b[0] - a[3] * b[2]
            lz += a[3] * b[1] - a[4] * b[0]
            x += a[9] * b[0] + a[7] * b[2] - a[8] * b[1]
            y += a[9] * b[1] + a[8] * b[0] - a[6] * b[2]
            z += a[9] * b[2] + a[6] * b[1] - a[7] * b[0]
            s -= a[6] * b[0] + a[7] * b[1] + a[8] * b[2]
        factor = 1.0 / (n + 1)
        lx, ly, lz = factor * lx, factor * ly, factor * lz
        factor *= 0.5
        x, y, z, s = factor * x, factor * y, factor * z, factor * s
        ux, uy, uz = solve_rows_of_three(I[0], I[1], I[2], lx, ly, lz)
        wx, wy, wz = wx + ux, wy + uy, wz + uz
        q[0], q[1], q[2], q[3] = q[0] + x, q[1] + y, q[2] + z, q[3] + s
        if (
            abs(ux) + abs(uy) + abs(uz) <= least
            and abs(x) + abs(y) + abs(z) + abs(s) <= _LAST_DIGIT
        ):
            break
        after = terms[n + 1]
        after[0], after[1], after[2] = ux, uy, uz
        after[3], after[4], after[5] = lx, ly, lz
        after[6], after[7], after[8], after[9] = x, y, z, s
    scale = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    for r in range(4):
        q[r] *= scale
    return wx, wy, wz
