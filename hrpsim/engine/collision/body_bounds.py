# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bounds of shapes and bodies: balls, boxes, and a bound on the motion of a body's shapes.

d [m] is the displacement of a body since the candidate list was made. The body's rotation changed
from R' to R. Let `arm` be the largest distance of a shape's centre from the body's origin. Then no
centre has moved by more than d + |R - R'| arm, in the Frobenius norm. If this bound is within the
margin of the list, the list is complete, and shapes without a listed pair need no further check.
"""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    BodyBounds,
    Indices,
    Kinematics,
    Mat3,
    Metres,
    Records,
    Seconds,
    Shape,
    Vec3,
    Vec6,
    Vector,
)
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.vector import point_velocity
from hrpsim.model.shapes.geometry import BOX, CAPSULE, PLANE, SPHERE


@kernel
def bounding_radius(kind: int, size: Vector) -> float:
    """Return the radius of the smallest ball about the frame's origin that holds a shape [m].

    The radius of a plane is infinite.

    Args:
        kind: kind of the shape.
        size: size of the shape (3,) [m].
    """
    if kind == PLANE:
        return math.inf
    if kind == SPHERE:
        return size[0]
    if kind == BOX:
        return math.sqrt(size[0] * size[0] + size[1] * size[1] + size[2] * size[2])
    if kind == CAPSULE:
        return size[0] + size[1]
    return math.sqrt(size[0] * size[0] + size[1] * size[1])


@kernel
def shape_aabb(kind: int, size: Vec3, R: Mat3, p: Vec3, lower_out: Vec3, upper_out: Vec3) -> None:
    """Write the axis-aligned bounding box (AABB) of a shape in the world.

    The box of a plane is infinite.

    Args:
        kind: kind of the shape.
        size: size of the shape (3,) [m].
        R: rotation from the shape's frame to the world (3, 3).
        p: origin of the shape's frame in the world (3,) [m].
        lower_out: lower corner (3,) [m], written.
        upper_out: upper corner (3,) [m], written.
    """
    for axis in range(3):
        if kind == PLANE:
            reach = math.inf
        elif kind == SPHERE:
            reach = size[0]
        elif kind == BOX:
            reach = (
                abs(R[axis, 0]) * size[0] + abs(R[axis, 1]) * size[1] + abs(R[axis, 2]) * size[2]
            )
        elif kind == CAPSULE:
            reach = size[0] + abs(R[axis, 2]) * size[1]
        else:
            sine = math.sqrt(R[axis, 0] * R[axis, 0] + R[axis, 1] * R[axis, 1])
            reach = size[0] * sine + abs(R[axis, 2]) * size[1]
        lower_out[axis] = p[axis] - reach
        upper_out[axis] = p[axis] + reach


@kernel
def thickness(kind: int, size: Vec3) -> float:
    """Return the smallest width of a shape [m], infinite for a plane.

    The width is the distance of two parallel planes that enclose the shape.

    Args:
        kind: kind of the shape.
        size: size of the shape (3,) [m].
    """
    if kind == PLANE:
        return math.inf
    if kind == SPHERE or kind == CAPSULE:
        return 2.0 * size[0]
    if kind == BOX:
        return 2.0 * min(size[0], size[1], size[2])
    return 2.0 * min(size[0], size[1])


BODY_BOUNDS = np.dtype(
    [
        ("body", "i8"),
        ("arm", "f8"),  # largest distance of a shape centre from the body origin [m]
        ("extent", "f8"),  # largest distance of a shape point from the body origin [m]
        ("thickness", "f8"),  # thickness of the thinnest shape [m]
        ("slack", "f8"),  # smallest `listed_slack` of the shapes [m]; -1: not valid
        ("listed_R", "f8", (3, 3)),  # rotation when the candidate list was made
        ("listed_p", "f8", (3,)),  # position when the candidate list was made [m]
    ]
)


def new_body_bounds(shapes: np.ndarray) -> np.ndarray:
    """Create the BODY_BOUNDS records of all bodies to which SHAPE records are fixed."""
    moving = shapes[shapes["body"] >= 0]
    bodies, of = np.unique(moving["body"], return_inverse=True)
    body_bounds = np.zeros(len(bodies), dtype=BODY_BOUNDS)
    arms = np.linalg.norm(moving["placement_p"], axis=1)
    body_bounds["body"], body_bounds["thickness"], body_bounds["slack"] = bodies, np.inf, -1.0
    np.maximum.at(body_bounds["arm"], of, arms)
    np.maximum.at(body_bounds["extent"], of, arms + moving["radius"])
    np.minimum.at(body_bounds["thickness"], of, moving["thickness"])
    return body_bounds


@inner_kernel
def all_quiet(
    forest: Forest,
    kinematics: Records[Kinematics],
    margin: Metres,
    time_step: Seconds,
    fast: float,
    body_bounds: Records[BodyBounds],
) -> bool:
    """Return whether the candidate list is certainly complete and no shape is fast.

    A shape is fast if it moves by more than `fast` times its thickness in a step.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        margin: margin of the candidate list [m].
        time_step: [s].
        fast: limit of the motion in a step, as a fraction of the thickness.
        body_bounds: bounds of the bodies.
    """
    for k in range(body_bounds.shape[0]):
        carrying = body_bounds[k]
        link = kinematics[carrying.body]
        origin = kinematics[forest.bodies[carrying.body].root].origin
        p, R = carrying.listed_p, carrying.listed_R
        gone, turned = 0.0, 0.0
        for r in range(3):
            way = origin[r] + link.p[r] - p[r]
            gone += way * way
            for c in range(3):
                turn = link.R[r, c] - R[r, c]
                turned += turn * turn
        if _moves_little(link, carrying, gone, turned, margin, time_step, fast):
            continue
        speed = fastest_within(link.v, link.p[0], link.p[1], link.p[2], carrying.extent)
        travel = time_step * speed
        left = carrying.slack - travel - 0.5 * margin
        moved = math.sqrt(gone) + math.sqrt(turned) * carrying.arm
        if not (moved < left and travel <= fast * carrying.thickness):
            return False
    return True


@inlined_kernel
def _moves_little(
    link: Kinematics,
    carrying: BodyBounds,
    gone: float,
    turned: float,
    margin: Metres,
    time_step: Seconds,
    fast: float,
) -> bool:
    """Return whether a body is certainly slow and near its listed pose, by a test without roots.

    (a + b)^2 is at most 2 (a^2 + b^2), and at most 1.02 a^2 + 51 b^2. The second bound is tight for
    a slow body (b) that has moved far since the list was made (a).
    """
    v, p = link.v, link.p
    x, y, z = point_velocity(v, p[0], p[1], p[2])
    turning = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) * (carrying.extent * carrying.extent)
    travel = time_step * time_step * (x * x + y * y + z * z + turning)
    moved = gone + turned * (carrying.arm * carrying.arm)
    left, thin = carrying.slack - 0.5 * margin, fast * carrying.thickness
    return left > 0.0 and 2.05 * moved + 104.0 * travel < left * left and 2.1 * travel < thin * thin


@inlined_kernel
def fastest_within(v: Vec6, x: float, y: float, z: float, radius: float) -> float:
    """Return an upper bound on the speed of a body's points near a given point [m/s].

    v: twist of the body (6,).
    x, y, z: position of the given point from the origin of the twist [m].
    radius: largest distance of the body's points from the given point [m].
    """
    x, y, z = point_velocity(v, x, y, z)
    turning = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    return math.sqrt(x * x + y * y + z * z) + turning * radius


@inner_kernel
def note_listing(
    forest: Forest,
    kinematics: Records[Kinematics],
    shapes: Records[Shape],
    moving: Indices,
    body_bounds: Records[BodyBounds],
) -> None:
    """Store each body's pose and permitted motion when a candidate list is made."""
    for k in range(body_bounds.shape[0]):
        carrying = body_bounds[k]
        link = kinematics[carrying.body]
        origin = kinematics[forest.bodies[carrying.body].root].origin
        carrying.slack = math.inf
        for r in range(3):
            carrying.listed_p[r] = origin[r] + link.p[r]
            for c in range(3):
                carrying.listed_R[r, c] = link.R[r, c]
    k = 0
    for index in range(moving.shape[0]):
        shape = shapes[moving[index]]
        while body_bounds[k].body != shape.body:
            k = k + 1 if k + 1 < body_bounds.shape[0] else 0
        body_bounds[k].slack = min(body_bounds[k].slack, shape.listed_slack)
