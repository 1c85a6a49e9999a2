# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compute poses, velocities and accelerations of the two frames of a connection."""

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Connection,
    Index,
    Kinematics,
    Mat3,
    PlacedConnection,
    Records,
    Vec3,
)
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.vector import point_velocity
from hrpsim.model.system import FREE

PLACED_CONNECTION = np.dtype(
    [
        ("axes_a", "f8", (3, 3)),  # columns: axes of frame a along the world's
        ("axes_b", "f8", (3, 3)),
        ("apart", "f8", (3,)),  # x_a - x_b [m]
        ("arm_a", "f8", (3,)),  # x_a relative to the origin of a's tree (world: absolute) [m]
        ("point_a", "f8", (3,)),  # x_b relative to the origin of a's tree [m]
        ("point_b", "f8", (3,)),  # x_b relative to the origin of b's tree
        ("omega_a", "f8", (3,)),
        ("omega_b", "f8", (3,)),
        ("alpha_a", "f8", (3,)),  # angular acceleration while joint rates stay [rad/s^2]
        ("alpha_b", "f8", (3,)),
        ("leaving", "f8", (3,)),  # d(x_a - x_b)/dt [m/s]
        ("bending", "f8", (3,)),  # d2(x_a - x_b)/dt2 while joint rates stay [m/s^2]
        ("direction", "f8", (3,)),  # direction of the present row
        ("force", "f8", (3,)),  # work
        ("u", "f8", (3,)),  # axes that an angular row holds square
        ("w", "f8", (3,)),
    ]
)


@inner_kernel
def place_frames(
    forest: Forest,
    kinematics: Records[Kinematics],
    connection: Connection,
    joined_out: PlacedConnection,
) -> None:
    """Write the axes and positions of both frames of a connection to PLACED_CONNECTION.

    The axes are `axes_a`, `axes_b`. The positions are `arm_a`, `point_a`, `point_b`, `apart` [m].
    """
    out = joined_out
    a, b = connection.body_a, connection.body_b
    _place(kinematics, a, connection.R_a, connection.p_a, out.axes_a, out.arm_a)
    _place(kinematics, b, connection.R_b, connection.p_b, out.axes_b, out.point_b)
    for r in range(3):
        origin_a = kinematics[forest.bodies[a].root].origin[r] if a >= 0 else 0.0
        origin_b = kinematics[forest.bodies[b].root].origin[r] if b >= 0 else 0.0
        out.apart[r] = (origin_a - origin_b) + (out.arm_a[r] - out.point_b[r])
        out.point_a[r] = out.arm_a[r] - out.apart[r]


@inlined_kernel
def _place(
    kinematics: Records[Kinematics], body: Index, L: Mat3, t: Vec3, axes_out: Mat3, point_out: Vec3
) -> None:
    """Write the axes of a frame, and its point relative to the origin of the body's tree [m]."""
    if body < 0:
        for r in range(3):
            point_out[r] = t[r]
            for k in range(3):
                axes_out[r, k] = L[r, k]
        return
    R, p = kinematics[body].R, kinematics[body].p
    for r in range(3):
        x, y, z = R[r, 0], R[r, 1], R[r, 2]
        point_out[r] = p[r] + x * t[0] + y * t[1] + z * t[2]
        for k in range(3):
            axes_out[r, k] = x * L[0, k] + y * L[1, k] + z * L[2, k]


@inner_kernel
def place_moving_frames(
    forest: Forest,
    kinematics: Records[Kinematics],
    connection: Connection,
    joined_out: PlacedConnection,
) -> None:
    """Write poses, velocities and velocity-product accelerations of both frames of a connection.

    The kernel writes all fields of PLACED_CONNECTION except the work space of a row.
    """
    out = joined_out
    place_frames(forest, kinematics, connection, out)
    for r in range(3):
        out.leaving[r] = out.bending[r] = 0.0
    _move(forest, kinematics, connection.body_a, out.arm_a, 1.0, out.omega_a, out.alpha_a, out)
    _move(forest, kinematics, connection.body_b, out.point_b, -1.0, out.omega_b, out.alpha_b, out)


@inlined_kernel
def _move(
    forest: Forest,
    kinematics: Records[Kinematics],
    body: Index,
    arm: Vec3,
    sign: float,
    omega_out: Vec3,
    alpha_out: Vec3,
    out: PlacedConnection,
) -> None:
    """Write a body's angular velocity and acceleration. Add the point's motion to `out`.

    The motion is multiplied by `sign`. The velocity of a free body's origin counts as constant.
    """
    for r in range(3):
        omega_out[r] = alpha_out[r] = 0.0
    if body < 0:
        return
    v = kinematics[body].v
    ax = ay = az = 0.0
    i = body
    while i >= 0:
        c = kinematics[i].c
        for r in range(3):
            alpha_out[r] += c[r]
        ax, ay, az = ax + c[3], ay + c[4], az + c[5]
        if forest.bodies[i].joint_type == FREE:
            u = kinematics[i].v
            ax -= u[1] * u[5] - u[2] * u[4]
            ay -= u[2] * u[3] - u[0] * u[5]
            az -= u[0] * u[4] - u[1] * u[3]
        i = forest.bodies[i].parent
    for r in range(3):
        omega_out[r] = v[r]
    x, y, z = point_velocity(v, arm[0], arm[1], arm[2])
    leaving, bending, alpha = out.leaving, out.bending, alpha_out
    leaving[0] += sign * x
    leaving[1] += sign * y
    leaving[2] += sign * z
    bending[0] += sign * (ax + alpha[1] * arm[2] - alpha[2] * arm[1] + v[1] * z - v[2] * y)
    bending[1] += sign * (ay + alpha[2] * arm[0] - alpha[0] * arm[2] + v[2] * x - v[0] * z)
    bending[2] += sign * (az + alpha[0] * arm[1] - alpha[1] * arm[0] + v[0] * y - v[1] * x)
