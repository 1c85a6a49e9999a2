# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Balls and axis-aligned boxes that hold a shape."""

import math

from hrpsim.jit.compiled import kernel
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

    R (3, 3) turns the shape's frame to the world, p (3,) is its origin. A plane fills all space.
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
    """Return the least width of a shape: of the gap between two planes that holds it [m].

    A plane's is infinite.
    """
    if kind == PLANE:
        return math.inf
    if kind == SPHERE or kind == CAPSULE:
        return 2.0 * size[0]
    if kind == BOX:
        return 2.0 * min(size[0], size[1], size[2])
    return 2.0 * min(size[0], size[1])
