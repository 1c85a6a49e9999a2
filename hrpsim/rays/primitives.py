# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rays and primitive shapes, in the shape's frame: where a line is inside; surface normals."""

import math

from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.model.shapes.geometry import BOX, CAPSULE, PLANE, SPHERE

# A surface this near before or behind the start of a ray is at the start [m].
AT_THE_START = 1e-12


@inlined_kernel
def first_of(enter, leave):
    """Return where a ray meets a convex solid first: its entry, or from within its exit.

    Infinity where the line misses it, or has left it before the start.
    """
    if not enter <= leave or leave < -AT_THE_START:
        return math.inf
    return max(enter if enter >= -AT_THE_START else leave, 0.0)


@inlined_kernel
def _slab(start, rate, half):
    """Return between which distances a line is within -half and half of an axis."""
    if rate == 0.0:
        return (-math.inf, math.inf) if abs(start) <= half else (math.inf, -math.inf)
    a, b = (-half - start) / rate, (half - start) / rate
    return min(a, b), max(a, b)


@inner_kernel
def _ball(x, y, z, dx, dy, dz, radius):
    """Return where a line enters and leaves the ball about the origin.

    Measured from the point nearest to its centre: the difference of large squares would not have
    the precision.
    """
    near = -(x * dx + y * dy + z * dz)
    px, py, pz = x + near * dx, y + near * dy, z + near * dz
    squared = radius * radius - (px * px + py * py + pz * pz)
    if squared < 0.0:
        return math.inf, -math.inf
    half = math.sqrt(squared)
    return near - half, near + half


@inner_kernel
def _tube(x, y, dx, dy, radius):
    """Return where a line enters and leaves the endless cylinder about the z axis."""
    across = dx * dx + dy * dy
    if across < 1e-30:
        inside = x * x + y * y <= radius * radius
        return (-math.inf, math.inf) if inside else (math.inf, -math.inf)
    near = -(x * dx + y * dy) / across
    px, py = x + near * dx, y + near * dy
    squared = (radius * radius - (px * px + py * py)) / across
    if squared < 0.0:
        return math.inf, -math.inf
    half = math.sqrt(squared)
    return near - half, near + half


@inner_kernel
def meet_primitive(kind, size, x, y, z, dx, dy, dz):
    """Return the distance at which a unit ray meets a bounded primitive, infinity for never."""
    if kind == BOX:
        a, b = _slab(x, dx, size[0])
        c, d = _slab(y, dy, size[1])
        e, f = _slab(z, dz, size[2])
        return first_of(max(a, c, e), min(b, d, f))
    if kind == SPHERE:
        a, b = _ball(x, y, z, dx, dy, dz, size[0])
        return first_of(a, b)
    a, b = _tube(x, y, dx, dy, size[0])
    c, d = _slab(z, dz, size[1])
    a, b = max(a, c), min(b, d)
    if kind == CAPSULE:  # convex, so that the parts of the line in its three parts are one
        a, b = (a, b) if a <= b else (math.inf, -math.inf)
        c, d = _ball(x, y, z - size[1], dx, dy, dz, size[0])
        e, f = _ball(x, y, z + size[1], dx, dy, dz, size[0])
        a, b = min(a, c, e), max(b, d, f)
    return first_of(a, b)


@inlined_kernel
def meet_plane(z, dz):
    """Return the distance at which a unit ray meets the plane z = 0, infinity for never."""
    if dz == 0.0:
        return 0.0 if z == 0.0 else math.inf
    along = -z / dz
    return max(along, 0.0) if along >= -AT_THE_START else math.inf


@inner_kernel
def primitive_normal(kind, size, x, y, z):
    """Return the outward normal of a primitive at a point of its surface."""
    if kind == PLANE:
        return 0.0, 0.0, 1.0
    if kind == BOX:
        a, b, c = abs(x) - size[0], abs(y) - size[1], abs(z) - size[2]
        if a >= b and a >= c:
            return math.copysign(1.0, x), 0.0, 0.0
        return (0.0, math.copysign(1.0, y), 0.0) if b >= c else (0.0, 0.0, math.copysign(1.0, z))
    if kind == CAPSULE:
        z -= min(max(z, -size[1]), size[1])
    elif kind != SPHERE:
        if abs(z) - size[1] >= math.sqrt(x * x + y * y) - size[0]:
            return 0.0, 0.0, math.copysign(1.0, z)
        z = 0.0
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length
