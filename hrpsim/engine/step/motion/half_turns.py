# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rotation of single free bodies in a semi-implicit step: half, moments, half.

The body rotates freely to the middle of the step of size h. There it receives the moments of the
whole step, and then rotates freely to the end (Strang splitting). R is the rotation. The angular
velocity w, the inertia J and the moment n are in the axes of the body. The index m marks the
middle:

    (R, w) -> free for h/2 -> (R_m, w_m),   w_m' = w_m + h J^-1 n,   (R_m, w_m') -> free for h/2.

Free rotation conserves the energy and the angular momentum in the world. Therefore only moments
change the angular momentum, exactly by h R n, at any step size. The two halves are symmetric in
time, so the method has second order. The gyroscopic torque does not need a prediction of the
moments.

All other functions of the step move bodies with constant velocity. The first half therefore sets an
initial rotation from which the constant velocity w_m leads to R_m.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Body,
    Connection,
    Index,
    Kinematics,
    Mat3,
    Matrix,
    Records,
    Scene,
    Seconds,
    Spin,
    Vector,
)
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.dynamics.spin import (
    ORIENTATION,
    free_acceleration,
    spin_acceleration,
    turn_freely_for,
)
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.rotation import rotate_quaternion
from hrpsim.engine.spatial.vector import matrix_times, transposed_times
from hrpsim.engine.step.motion.midpoint import drift_to_middle
from hrpsim.engine.step.scene.status import DONE
from hrpsim.model.system import FREE

FIRST_HALF, SECOND_HALF = range(2)

# Limits of the rotation in half a step [rad]. Below _STILL, the gyroscopic torque is rounding.
# Below _SMALL and above _LARGE, it changes only the angular velocity. For small rotations, this
# makes no difference. For large ones, a body with contacts may nutate by a radian between the
# moments of two steps, which is too late. The implicit rule for the velocity nutates by less.
_STILL = 1e-8
_SMALL = 2.5e-3
_LARGE = 0.5
# Relative change of the angular velocity in half a step, by rounding, about a principal axis.
_PRINCIPAL = 1e-13
# Rotation in an rk4 step above which its stages are inaccurate for bodies with contacts [rad].
_FAR_TURN = 0.5
# Largest difference of successive smooth accelerations, as a fraction of the later one.
_SMOOTH = 0.25


@inlined_kernel
def turns_freely(forest: Forest, i: int) -> bool:
    """Return whether body `i` is free, alone in its tree, with the centre of mass as origin."""
    body = forest.bodies[i]
    return body.joint_type == FREE and forest.dofs[body.v_index].turns_freely != 0


@inlined_kernel
def is_round(inertia: Mat3) -> bool:
    """Return whether the principal moments of an inertia are equal, except for rounding.

    Args:
        inertia: rotational inertia (3, 3) [kg m^2].
    """
    m, other = inertia[0, 0], abs(inertia[0, 1]) + abs(inertia[0, 2]) + abs(inertia[1, 2])
    return abs(inertia[1, 1] - m) + abs(inertia[2, 2] - m) + other < 1e-12 * m


@lazy_kernel(feature="half_turns")
def drift_with_free_bodies(s: Scene) -> int:
    """Rotate free bodies to the middle of a semi-implicit step, and drift all bodies there.

    The velocity at the middle does not include moments, because chains of free bodies come apart at
    large steps with predicted moments. A body whose only connection is to the world, such as a top
    on its tip, is an exception. This body receives half of the last step's moments.
    """
    half = s.settings[0].drift
    for i in range(s.forest.bodies.shape[0]):
        if turns_freely(s.forest, i):
            turn_half(s.forest.bodies[i], half, FIRST_HALF, s.q, s.velocity, s.work.turning)
    drift_to_middle(s)
    any_connected = s.connections.shape[0] > 0
    if any_connected:
        _count_connections(s.forest.bodies, s.connections, s.spins)
    for i in range(s.forest.bodies.shape[0]):
        if turns_freely(s.forest, i):
            k, own = s.forest.bodies[i].v_index, s.spins[i]
            pinned = any_connected and own.connections == 1
            own.ahead = half if pinned and _is_smooth(s.past_accelerations, k) else 0.0
            for r in range(k, k + 6):
                s.work.velocity_middle[r] = s.velocity[r] + own.ahead * s.past_accelerations[r, 0]
    return DONE


@inlined_kernel
def _count_connections(
    bodies: Records[Body], connections: Records[Connection], spins: Records[Spin]
) -> None:
    """Count the connections of each body. A connection to a moving body counts twice.

    A count of 1 then means that the only connection is to the world.
    """
    for i in range(bodies.shape[0]):
        spins[i].connections = 0
    for c in range(connections.shape[0]):
        connection = connections[c]
        a, b = connection.body_a, connection.body_b
        if connection.enabled and a >= 0:
            spins[a].connections += 2 if b >= 0 else 1
        if connection.enabled and b >= 0:
            spins[b].connections += 2 if a >= 0 else 1


@lazy_kernel(feature="half_turns")
def turn_to_end(s: Scene) -> int:
    """Rotate free bodies over the second half of a semi-implicit step.

    The kernel changes s.q and s.velocity.
    """
    half = s.settings[0].drift
    for i in range(s.forest.bodies.shape[0]):
        if turns_freely(s.forest, i):
            turn_half(s.forest.bodies[i], half, SECOND_HALF, s.q, s.velocity, s.work.turning)
    return DONE


@inlined_kernel
def _rate_after(
    inertia: Mat3, is_slow: bool, x: float, y: float, z: float, half: float, turning: Matrix
) -> tuple[float, float, float]:
    """Return the angular velocity in the axes of a body after half a step without moments [rad/s].

    A slow body uses a series from a unit quaternion, a fast body the implicit gyroscopic rule.
    """
    if is_slow:
        orientation = turning[ORIENTATION]
        orientation[0], orientation[1], orientation[2], orientation[3] = 0.0, 0.0, 0.0, 1.0
        return turn_freely_for(inertia, orientation, x, y, z, half, turning)
    ax, ay, az = spin_acceleration(inertia, x, y, z, 0.0, 0.0, 0.0, half)
    return x + half * ax, y + half * ay, z + half * az


@inlined_kernel
def _turn_by_mean(
    q: Vector,
    j: Index,
    end: tuple[float, float, float],
    start: tuple[float, float, float],
    duration: Seconds,
    part: int,
) -> None:
    """Correct the rotation of a body so that it uses the mean of the rates at start and end.

    Args:
        q: configuration (nq,), changed.
        j: index of the body's quaternion in q.
        end: rate after the half step, in the axes of the body [rad/s].
        start: rate before the half step, in world axes [rad/s].
        duration: factor of the difference of both rates [s].
        part: FIRST_HALF or SECOND_HALF.
    """
    x, y, z = _rotated(q, j, 1.0, end[0], end[1], end[2])
    signed_duration = duration if part == SECOND_HALF else -duration
    rotate_quaternion(q, j, x - start[0], y - start[1], z - start[2], signed_duration)


@inner_kernel
def turn_half(
    body: Body, half: float, part: int, q: Vector, velocity: Vector, turning: Matrix
) -> None:
    """Advance the velocity and the rotation of one free body over half a step without moments.

    The rotation is such that the later drift at constant velocity ends at the exact rotation.

    Args:
        body: record of the body.
        half: half of the time step [s].
        part: FIRST_HALF or SECOND_HALF of the step.
        q: configuration (nq,). The quaternion of the body is changed.
        velocity: velocity in the layout of the kernels (nv,) [rad/s, m/s]. The angular velocity of
            the body is changed.
        turning: work array of `turn_freely_for`, shape TURNING of hrpsim.engine.dynamics.spin.
    """
    j, k, inertia = body.q_index + 3, body.v_index, body.inertia
    wx, wy, wz = velocity[k], velocity[k + 1], velocity[k + 2]
    square = half * half * (wx * wx + wy * wy + wz * wz)
    if square < _STILL * _STILL or is_round(inertia):
        return
    x, y, z = _rotated(q, j, -1.0, wx, wy, wz)
    ax, ay, az = free_acceleration(inertia, x, y, z)
    if half * (abs(ax) + abs(ay) + abs(az)) < _PRINCIPAL * (abs(x) + abs(y) + abs(z)):
        return
    exact = _SMALL * _SMALL < square and square < _LARGE * _LARGE
    if exact and part == SECOND_HALF:
        rotate_quaternion(q, j, wx, wy, wz, -half)  # the rates stay in the axes of the body
    energy = _twice_energy(inertia, x, y, z)
    if exact:
        x, y, z = turn_freely_for(inertia, q[j : j + 4], x, y, z, half, turning)
    else:
        x, y, z = _rate_after(inertia, square < _SMALL * _SMALL, x, y, z, half, turning)
    new_energy = _twice_energy(inertia, x, y, z)
    correction = 0.5 * (energy - new_energy) / new_energy  # rounding
    ex, ey, ez = x + correction * x, y + correction * y, z + correction * z
    if square < _SMALL * _SMALL:
        _turn_by_mean(q, j, (ex, ey, ez), (wx, wy, wz), 0.5 * half, part)
    x, y, z = _rotated(q, j, 1.0, ex, ey, ez)
    velocity[k], velocity[k + 1], velocity[k + 2] = x, y, z
    if exact and part == FIRST_HALF:
        rotate_quaternion(q, j, x, y, z, -half)


@inlined_kernel
def _rotated(
    q: Vector, j: int, sign: float, vx: float, vy: float, vz: float
) -> tuple[float, float, float]:
    """Return a vector rotated by the quaternion q[j:j + 4] of any length.

    If `sign` is -1, the inverse rotation is applied. The length of the vector does not change,
    except for rounding without bias.
    """
    x, y, z, w = sign * q[j], sign * q[j + 1], sign * q[j + 2], q[j + 3]
    scale = 2.0 / (x * x + y * y + z * z + w * w)
    tx, ty, tz = (scale * (y * vz - z * vy), scale * (z * vx - x * vz), scale * (x * vy - y * vx))
    return (
        vx + w * tx + y * tz - z * ty,
        vy + w * ty + z * tx - x * tz,
        vz + w * tz + x * ty - y * tx,
    )


@inlined_kernel
def _twice_energy(I: Mat3, x: float, y: float, z: float) -> float:
    """Return w . I w, which is twice the rotational energy."""
    lx, ly, lz = matrix_times(I, x, y, z)
    return x * lx + y * ly + z * lz


@lazy_kernel(feature="free_rotation")
def write_free_accelerations(s: Scene) -> int:
    """Write the acceleration of free rotation as the velocity product of each free body.

    The equations of motion then give the accelerations from moments alone. In an rk4 step, only
    bodies that rotate too far for the stages are written (hrpsim.engine.step.motion.free_rotation).
    The kernel writes `c` of s.kinematics [rad/s^2] and `turns_far` of s.spins.
    """
    staged = s.settings[0].staged != 0
    limit = _FAR_TURN / s.settings[0].time_step
    for i in range(s.forest.bodies.shape[0]):
        if not turns_freely(s.forest, i):
            continue
        link, spin = s.kinematics[i], s.spins[i]
        x, y, z = link.v[0], link.v[1], link.v[2]
        spin.turns_far = 1 if staged and x * x + y * y + z * z > limit * limit else 0
        link.c[0] = link.c[1] = link.c[2] = 0.0
        if spin.turns_far or not staged:
            write_free_acceleration(s.forest.bodies[i].inertia, link)
    return DONE


@lazy_kernel(feature="free_rotation")
def expect_free_turns(s: Scene) -> int:
    """Replace the velocity product of each free body by its mean until the end of the step.

    Constraint rows hold at the end of the step and need this mean. The moments of the last step are
    assumed to act again, except in an rk4 step. The kernel writes `c` of s.kinematics [rad/s^2].
    """
    settings, past = s.settings[0], s.past_accelerations
    staged, duration = settings.staged != 0, settings.time_step - settings.drift
    for i in range(s.forest.bodies.shape[0]):
        if turns_freely(s.forest, i) and (s.spins[i].turns_far or not staged):
            body, link = s.forest.bodies[i], s.kinematics[i]
            kick = 0.0 if staged else settings.time_step - s.spins[i].ahead
            expect_free_turn(body, s.q, past, kick, duration, s.work.turning, link)
    return DONE


@inner_kernel
def write_free_acceleration(inertia: Mat3, link: Kinematics) -> None:
    """Write the angular acceleration of a free rotation as velocity product link.c [rad/s^2].

    Args:
        inertia: rotational inertia about the centre of mass, in the body frame (3, 3) [kg m^2].
        link: KINEMATICS record of the body. `R` and `v` are read.
    """
    x, y, z = transposed_times(link.R, link.v[0], link.v[1], link.v[2])
    x, y, z = free_acceleration(inertia, x, y, z)
    link.c[0], link.c[1], link.c[2] = matrix_times(link.R, x, y, z)


@inner_kernel
def expect_free_turn(
    body: Body,
    q: Vector,
    past: Matrix,
    kick: float,
    duration: float,
    turning: Matrix,
    link: Kinematics,
) -> None:
    """Replace link.c by the mean angular acceleration without moments over a duration [rad/s^2].

    If the accelerations of the last two steps are similar, the last one first acts for the time
    `kick`. For a body that rotates slowly, link.c does not change.

    Args:
        body: record of the body.
        q: configuration (nq,).
        past: accelerations of the last steps in the layout of the kernels (nv, 2 or more)
            [rad/s^2, m/s^2].
        kick: duration of the moments [s].
        duration: duration of the free rotation [s].
        turning: work array of `turn_freely_for`, shape TURNING of hrpsim.engine.dynamics.spin.
        link: KINEMATICS record of the body. link.v is the velocity in the middle of the step, which
            includes half of the step's moments.
    """
    k, inertia = body.v_index, body.inertia
    x, y, z = link.v[0], link.v[1], link.v[2]
    square = duration * duration * (x * x + y * y + z * z)
    if square < _SMALL * _SMALL or square > _LARGE * _LARGE or is_round(inertia):
        return
    if _is_smooth(past, k):
        x, y, z = x + kick * past[k, 0], y + kick * past[k + 1, 0], z + kick * past[k + 2, 0]
    orientation = turning[ORIENTATION]
    for r in range(4):
        orientation[r] = q[body.q_index + 3 + r]
    ex, ey, ez = transposed_times(link.R, x, y, z)
    ex, ey, ez = turn_freely_for(inertia, orientation, ex, ey, ez, duration, turning)
    ex, ey, ez = _rotated(orientation, 0, 1.0, ex, ey, ez)
    rate = 1.0 / duration
    link.c[0], link.c[1], link.c[2] = rate * (ex - x), rate * (ey - y), rate * (ez - z)


@inlined_kernel
def _is_smooth(past: Matrix, k: int) -> bool:
    """Return whether the angular accelerations of the last two steps are similar.

    After free flight, for example, an acceleration may come from an impact. It is then not assumed
    to act again.
    """
    difference = size = 0.0
    for r in range(k, k + 3):
        difference += (past[r, 0] - past[r, 1]) ** 2
        size += past[r, 0] ** 2
    return difference <= _SMOOTH * _SMOOTH * size
