# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Conversion between the public layout of velocities and the kernels' layout.

- Public layout (Pinocchio's): a free base has the linear velocity first, then the angular velocity,
  both in the base frame.
- Kernels' layout: a free base has the angular velocity first, then the velocity of its origin, both
  along the world's axes.

Joint rates and q are the same in both layouts.
"""

import math

from hrpsim.engine.compile.compiled import inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import Index, Vector
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.rotation import rotated
from hrpsim.model.system import FREE


@kernel
def velocity_to_kernel(forest: Forest, q: Vector, v: Vector, velocity_out: Vector) -> None:
    """Convert a velocity from the public layout to the kernels' layout.

    Args:
        forest: constants of the bodies and joints.
        q: configuration (nq,).
        v: velocity (nv,) [m/s, rad/s], public layout.
        velocity_out: velocity (nv,) [rad/s, m/s], kernels' layout, written.
    """
    for k in range(v.shape[0]):
        velocity_out[k] = v[k]
    for i in range(forest.bodies.shape[0]):
        body = forest.bodies[i]
        if body.joint_type == FREE:
            k, j = body.v_index, body.q_index
            x, y, z, w = _unit_quaternion(q, j + 3)
            lx, ly, lz = rotated(x, y, z, w, v[k], v[k + 1], v[k + 2])
            wx, wy, wz = rotated(x, y, z, w, v[k + 3], v[k + 4], v[k + 5])
            velocity_out[k], velocity_out[k + 1], velocity_out[k + 2] = wx, wy, wz
            velocity_out[k + 3], velocity_out[k + 4], velocity_out[k + 5] = lx, ly, lz


@kernel
def velocity_from_kernel(forest: Forest, q: Vector, velocity: Vector, v_out: Vector) -> None:
    """Convert a velocity from the kernels' layout to the public layout.

    Args:
        forest: constants of the bodies and joints.
        q: configuration (nq,).
        velocity: velocity (nv,) [rad/s, m/s], kernels' layout.
        v_out: velocity (nv,) [m/s, rad/s], public layout, written.
    """
    for k in range(velocity.shape[0]):
        v_out[k] = velocity[k]
    make_public(forest, q, v_out)


@inner_kernel
def make_public(forest: Forest, q: Vector, velocity: Vector) -> None:
    """Convert a velocity in place from the kernels' layout to the public layout.

    Args:
        forest: constants of the bodies and joints.
        q: configuration (nq,).
        velocity: velocity (nv,) [rad/s, m/s], changed in place.
    """
    for i in range(forest.bodies.shape[0]):
        body = forest.bodies[i]
        if body.joint_type == FREE:
            k, j = body.v_index, body.q_index
            x, y, z, w = _unit_quaternion(q, j + 3)
            wx, wy, wz = rotated(-x, -y, -z, w, velocity[k], velocity[k + 1], velocity[k + 2])
            lx, ly, lz = rotated(-x, -y, -z, w, velocity[k + 3], velocity[k + 4], velocity[k + 5])
            velocity[k], velocity[k + 1], velocity[k + 2] = lx, ly, lz
            velocity[k + 3], velocity[k + 4], velocity[k + 5] = wx, wy, wz


@inner_kernel
def _unit_quaternion(q: Vector, at: Index) -> tuple[float, float, float, float]:
    x, y, z, w = q[at], q[at + 1], q[at + 2], q[at + 3]
    scale = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    return x * scale, y * scale, z * scale, w * scale


@kernel
def acceleration_to_kernel(
    forest: Forest, q: Vector, velocity: Vector, dv: Vector, acceleration_out: Vector
) -> None:
    """Convert an acceleration from the public layout to the kernels' layout.

    The public acceleration of a free base is the time derivative of components along the rotating
    base axes. The kernels' acceleration is (d omega/dt, d^2 p/dt^2) in the world.

    Args:
        forest: constants of the bodies and joints.
        q: configuration (nq,).
        velocity: velocity (nv,) [rad/s, m/s], kernels' layout.
        dv: time derivative of the public velocity (nv,) [m/s^2, rad/s^2].
        acceleration_out: acceleration (nv,) [rad/s^2, m/s^2], kernels' layout, written.
    """
    velocity_to_kernel(forest, q, dv, acceleration_out)
    _add_turning(forest, velocity, 1.0, acceleration_out)


@kernel
def acceleration_from_kernel(
    forest: Forest, q: Vector, velocity: Vector, acceleration: Vector, dv_out: Vector
) -> None:
    """Convert an acceleration from the kernels' layout to the public layout.

    Args:
        forest: constants of the bodies and joints.
        q: configuration (nq,).
        velocity: velocity (nv,) [rad/s, m/s], kernels' layout.
        acceleration: acceleration (nv,) [rad/s^2, m/s^2], kernels' layout, overwritten.
        dv_out: time derivative of the public velocity (nv,) [m/s^2, rad/s^2], written.
    """
    _add_turning(forest, velocity, -1.0, acceleration)
    velocity_from_kernel(forest, q, acceleration, dv_out)


@inner_kernel
def _add_turning(forest: Forest, velocity: Vector, sign: float, acceleration: Vector) -> None:
    for i in range(forest.bodies.shape[0]):
        body = forest.bodies[i]
        if body.joint_type == FREE:
            k = body.v_index
            wx, wy, wz = velocity[k], velocity[k + 1], velocity[k + 2]
            lx, ly, lz = velocity[k + 3], velocity[k + 4], velocity[k + 5]
            acceleration[k + 3] += sign * (wy * lz - wz * ly)
            acceleration[k + 4] += sign * (wz * lx - wx * lz)
            acceleration[k + 5] += sign * (wx * ly - wy * lx)
