# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Forward kinematics of a forest: pose and velocity of every body.

All spatial quantities are expressed along the world's axes. The reference point is the origin of
the body's tree: the position of the tree's first body. Inertias and forces then add without
transforms, and a robot far from the world's origin keeps full precision. Spatial vectors have the
angular part first (RBDA chapter 2).
"""

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, kernel
from hrpsim.engine.compile.fields import new_array
from hrpsim.engine.compile.kernel_types import Index, Kinematics, Records, Vector
from hrpsim.engine.kinematics.ball_joint import turn_by_ball
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.rotation import rotation_from_quaternion
from hrpsim.engine.spatial.sine_cosine import sine_cosine
from hrpsim.model.system import FIXED, FREE, PRISMATIC, REVOLUTE

# Fields that are read eight numbers at a time have two spare and fill a cache line.
KINEMATICS = np.dtype(
    [
        ("S", "f8", (6,)),  # motion of a unit joint rate; zero for FIXED and FREE
        ("_1", "f8", (2,)),
        ("v", "f8", (6,)),  # spatial velocity
        ("_2", "f8", (2,)),
        ("c", "f8", (6,)),  # velocity-product acceleration of the joint (RBDA eq. 7.34)
        ("_3", "f8", (2,)),
        ("R", "f8", (3, 3)),  # R_world_body
        ("p", "f8", (3,)),  # body origin relative to the tree's origin [m]
        ("origin", "f8", (3,)),  # world position of the tree's origin, valid at roots [m]
        ("_4", "f8", (1,)),
    ]
)


def new_kinematics(body_count: int) -> np.ndarray:
    """Return zeroed KINEMATICS records for `body_count` bodies."""
    return new_array((body_count,), KINEMATICS)


@kernel
def update_poses(forest: Forest, q: Vector, kinematics_out: Records[Kinematics]) -> None:
    """Write `origin`, `R`, `p` and `S` of every body.

    Args:
        forest: constants of the bodies and joints.
        q: configuration (nq,) [m, quaternion, rad].
        kinematics_out: KINEMATICS records of the bodies (n,), written.
    """
    for i in range(forest.bodies.shape[0]):
        place_body(forest, q, i, kinematics_out)


@kernel
def update_velocities(
    forest: Forest, velocity: Vector, kinematics_out: Records[Kinematics]
) -> None:
    """Write the spatial velocity `v` and the velocity-product acceleration `c` of every body.

    Poses must be current.

    Args:
        forest: constants of the bodies and joints.
        velocity: generalised velocity (nv,) [rad/s, m/s], kernels' layout.
        kinematics_out: KINEMATICS records of the bodies (n,), written.
    """
    for i in range(forest.bodies.shape[0]):
        move_body(forest, velocity, i, kinematics_out)


@inlined_kernel
def place_body(forest: Forest, q: Vector, i: Index, kinematics_out: Records[Kinematics]) -> None:
    """Write `origin`, `R`, `p` and `S` of body `i`. The parent's pose must be current.

    Args:
        forest: constants of the bodies and joints.
        q: configuration (nq,) [m, quaternion, rad].
        i: index of the body.
        kinematics_out: KINEMATICS records of the bodies (n,), written.
    """
    body = forest.bodies[i]
    link = kinematics_out[i]
    R, p, S = link.R, link.p, link.S
    L, t = body.placement_R, body.placement_p
    joint = body.joint_type
    if joint == FREE:
        k = body.q_index
        for a in range(3):
            link.origin[a] = q[k + a]
            p[a] = 0.0
        rotation_from_quaternion(q[k + 3], q[k + 4], q[k + 5], q[k + 6], R)
        return
    if body.parent < 0:
        for a in range(3):
            link.origin[a] = t[a]
            p[a] = 0.0
            for b in range(3):
                R[a, b] = L[a, b]
    else:
        parent = kinematics_out[body.parent]
        # read once: to the compiler, the output might be the same memory
        xx, xy, xz = L[0, 0], L[0, 1], L[0, 2]
        yx, yy, yz = L[1, 0], L[1, 1], L[1, 2]
        zx, zy, zz = L[2, 0], L[2, 1], L[2, 2]
        tx, ty, tz = t[0], t[1], t[2]
        for a in range(3):
            x, y, z = parent.R[a, 0], parent.R[a, 1], parent.R[a, 2]
            p[a] = parent.p[a] + x * tx + y * ty + z * tz
            R[a, 0] = x * xx + y * yx + z * zx
            R[a, 1] = x * xy + y * yy + z * zy
            R[a, 2] = x * xz + y * yz + z * zz
    if joint == REVOLUTE:
        if body.ball == 0:
            sine, cosine = sine_cosine(q[body.q_index])
            for a in range(3):
                x, y = R[a, 0], R[a, 1]
                R[a, 0] = cosine * x + sine * y
                R[a, 1] = cosine * y - sine * x
        elif body.ball == 1:
            turn_by_ball(q, body.q_index, R)
        zx, zy, zz = R[0, 2], R[1, 2], R[2, 2]
        S[0], S[1], S[2] = zx, zy, zz
        S[3] = p[1] * zz - p[2] * zy
        S[4] = p[2] * zx - p[0] * zz
        S[5] = p[0] * zy - p[1] * zx
    elif joint == PRISMATIC:
        slide = q[body.q_index]
        for a in range(3):
            p[a] += slide * R[a, 2]
            S[3 + a] = R[a, 2]


@inlined_kernel
def move_body(
    forest: Forest, velocity: Vector, i: Index, kinematics_out: Records[Kinematics]
) -> None:
    """Write `v` and `c` of body `i`: spatial velocity and velocity-product acceleration.

    The pose of the body, and `v` of the parent, must be current.
    """
    body = forest.bodies[i]
    link = kinematics_out[i]
    S, v, c = link.S, link.v, link.c
    if body.joint_type == FREE:
        for r in range(6):
            v[r] = velocity[body.v_index + r]
        return
    rate = velocity[body.v_index] if body.joint_type != FIXED else 0.0
    sx, sy, sz = rate * S[0], rate * S[1], rate * S[2]
    tx, ty, tz = rate * S[3], rate * S[4], rate * S[5]
    if body.parent < 0:
        v[0], v[1], v[2], v[3], v[4], v[5] = sx, sy, sz, tx, ty, tz
        return
    u = kinematics_out[body.parent].v
    wx, wy, wz, lx, ly, lz = u[0], u[1], u[2], u[3], u[4], u[5]
    v[0], v[1], v[2] = wx + sx, wy + sy, wz + sz
    v[3], v[4], v[5] = lx + tx, ly + ty, lz + tz
    if body.ball > 1:  # the axes of a ball joint rotate with the moved body
        base = forest.bodies[i - body.ball + 1].parent
        if base < 0:
            return
        u = kinematics_out[base].v
        wx, wy, wz, lx, ly, lz = u[0], u[1], u[2], u[3], u[4], u[5]
    # v_parent x (S rate): the same as v x (S rate), for S x S = 0
    c[0] = wy * sz - wz * sy
    c[1] = wz * sx - wx * sz
    c[2] = wx * sy - wy * sx
    c[3] = wy * tz - wz * ty + ly * sz - lz * sy
    c[4] = wz * tx - wx * tz + lz * sx - lx * sz
    c[5] = wx * ty - wy * tx + lx * sy - ly * sx
