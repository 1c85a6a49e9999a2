# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The linear momentum of a tree of bodies, computed from the leaves to the root.

In the frame of each body, the body's subtree has a mass m, a first moment h = sum m x about the
body's origin, and the momentum p of the motion of joints beyond the body. A joint has the rotation
R, the origin t and the rate of its axis, w or s. Through the joint these quantities pass to the
parent as

    m,   R h + m t,   R (p + w x h + m s),

and at a free root, P = R (p + w x h) + m v. The recursion takes a fraction of the time that the
poses of all bodies in the world would take. Limbs are independent of each other.
"""

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    Body,
    Index,
    Kinematics,
    Records,
    Subtree,
    Vec3,
    Vec6,
    Vector,
)
from hrpsim.engine.kinematics.ball_joint import ball_quaternion
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.rotation import rotated
from hrpsim.engine.spatial.sine_cosine import sine_cosine
from hrpsim.engine.spatial.vector import placed_point, point_velocity
from hrpsim.model.system import PRISMATIC, REVOLUTE

SUBTREE = np.dtype(
    [
        ("mass", "f8"),  # [kg]
        ("moment", "f8", (3,)),  # of mass, about the body's origin, in its frame [kg m]
        ("momentum", "f8", (3,)),  # by joints beyond the body, in its frame [Ns]
        ("_1", "f8"),
    ]
)


@kernel
def tree_momentum(
    forest: Forest,
    q: Vector,
    velocity: Vector,
    root: Index,
    subtrees: Records[Subtree],
    momentum_out: Vec3,
) -> None:
    """Write the linear momentum of the tree on the free body `root`, along world axes.

    Args:
        forest: constants of the bodies and joints.
        q: configuration (nq,).
        velocity: velocity (nv,) [rad/s, m/s], kernels' layout.
        root: index of the free body at the root.
        subtrees: work, SUBTREE records (n,). Afterwards each record describes the subtree of a
            body.
        momentum_out: linear momentum (3,) [Ns], written.
    """
    bodies, order = forest.bodies, forest.order
    last = root
    while last + 1 < bodies.shape[0] and bodies[last + 1].root == root:
        last += 1
    for i in range(root, last + 1):
        body, subtree = bodies[i], subtrees[i]
        subtree.mass = body.mass
        for r in range(3):
            subtree.moment[r] = body.mass * body.com[r]
            subtree.momentum[r] = 0.0
    for number in range(last, root, -1):
        i = order[number]
        _add_to_parent(bodies[i], q, velocity, subtrees[i], subtrees[bodies[i].parent])
    subtree, j, k = subtrees[root], bodies[root].q_index + 3, bodies[root].v_index
    x, y, z, w = q[j], q[j + 1], q[j + 2], q[j + 3]
    h, p = subtree.moment, subtree.momentum
    hx, hy, hz = rotated(x, y, z, w, h[0], h[1], h[2])
    px, py, pz = rotated(x, y, z, w, p[0], p[1], p[2])
    wx, wy, wz = velocity[k], velocity[k + 1], velocity[k + 2]
    momentum_out[0] = px + wy * hz - wz * hy + subtree.mass * velocity[k + 3]
    momentum_out[1] = py + wz * hx - wx * hz + subtree.mass * velocity[k + 4]
    momentum_out[2] = pz + wx * hy - wy * hx + subtree.mass * velocity[k + 5]


@inlined_kernel
def _add_to_parent(
    body: Body, q: Vector, velocity: Vector, here: Subtree, above_out: Subtree
) -> None:
    """Add mass, first moment and momentum of a body's subtree to the parent's subtree."""
    revolute = body.joint_type == REVOLUTE
    sine, cosine = 0.0, 1.0
    if revolute and body.ball == 0:
        sine, cosine = sine_cosine(q[body.q_index])
    m, L, t = here.mass, body.placement_R, body.placement_p
    hx, hy, hz = here.moment[0], here.moment[1], here.moment[2]
    px, py, pz = here.momentum[0], here.momentum[1], here.momentum[2]
    if revolute:
        rate = velocity[body.v_index]
        px, py = px - rate * hy, py + rate * hx
        hx, hy = cosine * hx - sine * hy, sine * hx + cosine * hy
        px, py = cosine * px - sine * py, sine * px + cosine * py
        if body.ball == 1:
            k = body.q_index
            x, y, z, w = ball_quaternion(q[k + 1], q[k + 2], q[k], 1.0)
            hx, hy, hz = rotated(x, y, z, w, hx, hy, hz)
            px, py, pz = rotated(x, y, z, w, px, py, pz)
    elif body.joint_type == PRISMATIC:
        pz += m * velocity[body.v_index]
        hz += m * q[body.q_index]
    above_out.mass += m
    for r in range(3):
        a, b, c = L[r, 0], L[r, 1], L[r, 2]
        above_out.moment[r] += a * hx + b * hy + c * hz + m * t[r]
        above_out.momentum[r] += a * px + b * py + c * pz


@inlined_kernel
def add_momentum(body: Body, link: Kinematics, v: Vec6, momentum: Vec3) -> None:
    """Add the linear momentum of one body to `momentum`.

    Args:
        body: BODY record of the body.
        link: KINEMATICS record that places the body.
        v: twist of the body (6,) [rad/s, m/s].
        momentum: momentum along world axes (3,) [Ns], changed.
    """
    m = body.mass
    x, y, z = placed_point(link.R, link.p, body.com)
    x, y, z = point_velocity(v, x, y, z)
    momentum[0] += m * x
    momentum[1] += m * y
    momentum[2] += m * z
