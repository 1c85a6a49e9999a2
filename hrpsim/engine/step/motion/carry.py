# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Motion of configurations with constant velocity."""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Body, Index, Seconds, Vector
from hrpsim.engine.kinematics.ball_joint import carry_ball
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.rotation import rotate_quaternion
from hrpsim.model.system import FIXED, FREE


@inlined_kernel
def carry_body(body: Body, velocity: Vector, duration: Seconds, q: Vector) -> None:
    """Move the configuration of one body with constant velocity.

    The quaternion of a body without rotation stays identical to the last bit.

    Args:
        body: record of the body.
        velocity: velocity (nv,) [rad/s, m/s], kernels' layout.
        duration: time of the motion [s].
        q: configuration (nq,), changed in place.
    """
    k, j = body.v_index, body.q_index
    if body.joint_type == FREE:
        for r in range(3):
            q[j + r] += duration * velocity[k + 3 + r]
        x, y, z = velocity[k], velocity[k + 1], velocity[k + 2]
        if x != 0.0 or y != 0.0 or z != 0.0:
            rotate_quaternion(q, j + 3, x, y, z, duration)
    elif body.ball != 0:
        if body.ball == 1:
            carry_ball(q, j, velocity[k], velocity[k + 1], velocity[k + 2], duration)
    elif body.joint_type != FIXED:
        q[j] += duration * velocity[k]


@inner_kernel
def move(forest: Forest, velocity: Vector, duration: Seconds, q: Vector) -> None:
    """Move the configuration of all bodies with constant velocity.

    Args:
        forest: constants of the bodies and joints.
        velocity: velocity (nv,) [rad/s, m/s], kernels' layout.
        duration: time of the motion [s].
        q: configuration (nq,), changed in place.
    """
    for i in range(forest.bodies.shape[0]):
        body = forest.bodies[i]
        joint, k, j = body.joint_type, body.v_index, body.q_index
        if joint == FREE:
            if not _any_moves(velocity, k):
                continue  # without rounding of the quaternion's length
            for r in range(3):
                q[j + r] += duration * velocity[k + 3 + r]
            rotate_quaternion(q, j + 3, velocity[k], velocity[k + 1], velocity[k + 2], duration)
        elif body.ball != 0:
            if body.ball == 1:
                carry_ball(q, j, velocity[k], velocity[k + 1], velocity[k + 2], duration)
        elif joint != FIXED:
            q[j] += duration * velocity[k]


@inlined_kernel
def _any_moves(velocity: Vector, k: Index) -> bool:
    """Return whether any of six velocity components, from index k on, is not zero."""
    angular = velocity[k] != 0.0 or velocity[k + 1] != 0.0 or velocity[k + 2] != 0.0
    return angular or velocity[k + 3] != 0.0 or velocity[k + 4] != 0.0 or velocity[k + 5] != 0.0
