# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bounds of shapes and bodies: balls, boxes, and the check that no shape of a body moved far.

Suppose that a body has moved by d [m] and turned from R' to R since the candidate list was made. No
centre of the body's shapes has moved by more than d + |R - R'| arm, in the Frobenius norm. If this
bound is within the margin of the list, shapes that are in no listed pair need no check of their
own.
"""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.spatial.vector import point_velocity
from hrpsim.model.shapes.geometry import BOX, CAPSULE, PLANE, SPHERE


@kernel
def bounding_radius(kind, size):
    """Return the radius of the smallest ball about the frame's origin that holds the shape [m].

    A plane's is infinite.
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
def shape_aabb(kind, size, R, p, lower_out, upper_out):
    """Write the corners (3,) of the smallest world-axis box that holds the shape [m].

    A plane fills all space.

    kind: kind of the shape.
    size: size of the shape (3,) [m].

    Returns:
        rotation from the shape's frame to the world (3, 3).
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
def thickness(kind, size):
    """Return the least width of a shape [m], or infinite for a plane.

    The width is the gap between two planes that hold the shape between them.

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
        ("arm", "f8"),  # of the furthest centre of its shapes, from the body's origin [m]
        ("extent", "f8"),  # of the furthest point of its shapes [m]
        ("thickness", "f8"),  # of its thinnest shape [m]
        ("slack", "f8"),  # least `listed_slack` of its shapes [m]; -1: the rest is unknown
        ("listed_R", "f8", (3, 3)),  # its pose when the candidate list was made
        ("listed_p", "f8", (3,)),  # [m]
    ]
)


def new_body_bounds(shapes: np.ndarray) -> np.ndarray:
    """Return the BODY_BOUNDS records of the bodies that SHAPE records belong to."""
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
def all_quiet(forest, kinematics, margin, time_step, fast, body_bounds):
    """Return whether the candidate list is certainly complete and no shape is fast.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        margin: margin of the candidate list [m].
        time_step: [s].
        fast: fraction of its thickness beyond which a shape's motion in a step is fast.
        body_bounds: bounds of the bodies.
    """
    for k in range(body_bounds.shape[0]):
        carrying = body_bounds[k]
        here = kinematics[carrying.body]
        origin = kinematics[forest.bodies[carrying.body].root].origin
        p, R = carrying.listed_p, carrying.listed_R
        gone, turned = 0.0, 0.0
        for r in range(3):
            way = origin[r] + here.p[r] - p[r]
            gone += way * way
            for c in range(3):
                turn = here.R[r, c] - R[r, c]
                turned += turn * turn
        if _moves_little(here, carrying, gone, turned, margin, time_step, fast):
            continue
        travel = time_step * farthest_speed(here, carrying)
        left = carrying.slack - travel - 0.5 * margin
        moved = math.sqrt(gone) + math.sqrt(turned) * carrying.arm
        if not (moved < left and travel <= fast * carrying.thickness):
            return False
    return True


@inlined_kernel
def _moves_little(here, carrying, gone, turned, margin, time_step, fast):
    """Return whether squares alone, without a root, show that a body nearly rests.

    (a + b)^2 is at most 2 (a^2 + b^2), and at most 1.02 a^2 + 51 b^2: a body may have come far
    since the list was made, but is slow.
    """
    v, p = here.v, here.p
    x, y, z = point_velocity(v, p[0], p[1], p[2])
    turning = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) * (carrying.extent * carrying.extent)
    travel = time_step * time_step * (x * x + y * y + z * z + turning)
    moved = gone + turned * (carrying.arm * carrying.arm)
    left, thin = carrying.slack - 0.5 * margin, fast * carrying.thickness
    return left > 0.0 and 2.05 * moved + 104.0 * travel < left * left and 2.1 * travel < thin * thin


@inlined_kernel
def farthest_speed(here, carrying):
    """Return a bound on the speed of a body's shapes [m/s]."""
    return fastest_within(here.v, here.p[0], here.p[1], here.p[2], carrying.extent)


@inlined_kernel
def fastest_within(v, x, y, z, radius):
    """Return a bound on the speed of a body's points within `radius` [m] of a point [m/s].

    v: twist of the body (6,).
    x, y, z: position of the point from the origin of the twist [m].
    """
    x, y, z = point_velocity(v, x, y, z)
    turning = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    return math.sqrt(x * x + y * y + z * z) + turning * radius


@inner_kernel
def forget_listing(body_bounds):
    """Mark the stored poses of the candidate list as unknown."""
    for k in range(body_bounds.shape[0]):
        body_bounds[k].slack = -1.0


@inner_kernel
def note_listing(forest, kinematics, shapes, moving, body_bounds):
    """Store the poses of the bodies for which a candidate list was made."""
    for k in range(body_bounds.shape[0]):
        carrying = body_bounds[k]
        here = kinematics[carrying.body]
        origin = kinematics[forest.bodies[carrying.body].root].origin
        carrying.slack = math.inf
        for r in range(3):
            carrying.listed_p[r] = origin[r] + here.p[r]
            for c in range(3):
                carrying.listed_R[r, c] = here.R[r, c]
    k = 0
    for index in range(moving.shape[0]):
        shape = shapes[moving[index]]
        while body_bounds[k].body != shape.body:
            k = k + 1 if k + 1 < body_bounds.shape[0] else 0
        body_bounds[k].slack = min(body_bounds[k].slack, shape.listed_slack)
