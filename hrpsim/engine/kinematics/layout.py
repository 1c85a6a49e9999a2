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
from hrpsim.engine.spatial.rotation import rotated
from hrpsim.model.system import FREE


@kernel
def velocity_to_kernel(forest, q, v, velocity_out):
    """Write the kernels' velocity for the public `v` (both (nv,))."""
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
def velocity_from_kernel(forest, q, velocity, v_out):
    """Write the public v for the kernels' `velocity` (both (nv,))."""
    for k in range(velocity.shape[0]):
        v_out[k] = velocity[k]
    make_public(forest, q, v_out)


@inner_kernel
def make_public(forest, q, velocity):
    """Change a velocity (nv,) in place from the kernels' layout to the public layout."""
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
def _unit_quaternion(q, at):
    x, y, z, w = q[at], q[at + 1], q[at + 2], q[at + 3]
    scale = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    return x * scale, y * scale, z * scale, w * scale


@kernel
def acceleration_to_kernel(forest, q, velocity, dv, acceleration_out):
    """Write (d omega/dt, d^2 p/dt^2) in the world for the public dv, the rate of the public v."""
    velocity_to_kernel(forest, q, dv, acceleration_out)
    _add_turning(forest, velocity, 1.0, acceleration_out)


@kernel
def acceleration_from_kernel(forest, q, velocity, acceleration, dv_out):
    """Write the public acceleration dv_out (nv,), and overwrite `acceleration`.

    Args:
        forest: constants of the bodies and joints.
        q: configuration (nq,).
        velocity: velocity (nv,), kernels' layout.
        acceleration: acceleration (nv,), kernels' layout.
        dv_out: acceleration (nv,), public layout.
    """
    _add_turning(forest, velocity, -1.0, acceleration)
    velocity_from_kernel(forest, q, acceleration, dv_out)


@inner_kernel
def _add_turning(forest, velocity, sign, acceleration):
    for i in range(forest.bodies.shape[0]):
        body = forest.bodies[i]
        if body.joint_type == FREE:
            k = body.v_index
            wx, wy, wz = velocity[k], velocity[k + 1], velocity[k + 2]
            lx, ly, lz = velocity[k + 3], velocity[k + 4], velocity[k + 5]
            acceleration[k + 3] += sign * (wy * lz - wz * ly)
            acceleration[k + 4] += sign * (wz * lx - wx * lz)
            acceleration[k + 5] += sign * (wx * ly - wy * lx)
