# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Intersections of rays with shapes, in the shape's frame: primitives, planes and meshes."""

import math
import weakref
from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, MeshTriangle, RayScene, Surface, Vec3
from hrpsim.engine.rays.box_tree import (
    FARTHEST,
    NODE,
    build_tree,
    enter_children,
    inverse_of,
    new_bins,
    next_pending,
)
from hrpsim.model.shapes.geometry import BOX, CAPSULE, PLANE, SPHERE, Mesh

# A surface this near before or behind the start of a ray is at the start [m].
AT_THE_START = 1e-12
_LEAF_SIZE = 3
# Rays through an edge hit one of its triangles: this part of the triangle is added around it.
_AROUND = 1e-9


@inlined_kernel
def first_of(enter: float, leave: float) -> float:
    """Return the distance of a ray's first hit on a convex solid [m].

    The first hit is the entry, or the exit if the ray starts inside. The result is infinity if the
    line misses the solid, or has left the solid before the start.

    enter, leave: distances at which the line enters and leaves the solid [m].
    """
    if not enter <= leave or leave < -AT_THE_START:
        return math.inf
    return max(enter if enter >= -AT_THE_START else leave, 0.0)


@inlined_kernel
def _slab(start: float, rate: float, half: float) -> tuple[float, float]:
    """Return the two distances between which a line's coordinate is within +-half."""
    if rate == 0.0:
        return (-math.inf, math.inf) if abs(start) <= half else (math.inf, -math.inf)
    a, b = (-half - start) / rate, (half - start) / rate
    return min(a, b), max(a, b)


@inner_kernel
def _ball(
    x: float, y: float, z: float, dx: float, dy: float, dz: float, radius: float
) -> tuple[float, float]:
    """Return the distances at which a line enters and leaves the ball about the origin [m].

    Distances are measured from the line's point nearest to the centre, because the difference of
    large squares would lose precision.
    """
    near = -(x * dx + y * dy + z * dz)
    px, py, pz = x + near * dx, y + near * dy, z + near * dz
    squared = radius * radius - (px * px + py * py + pz * pz)
    if squared < 0.0:
        return math.inf, -math.inf
    half = math.sqrt(squared)
    return near - half, near + half


@inner_kernel
def _tube(x: float, y: float, dx: float, dy: float, radius: float) -> tuple[float, float]:
    """Return the distances at which a line enters and leaves an infinite cylinder about z [m]."""
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
def meet_primitive(
    kind: int, size: Vec3, x: float, y: float, z: float, dx: float, dy: float, dz: float
) -> float:
    """Return the distance [m] at which a ray meets a bounded primitive, or infinity for no hit.

    kind: kind of the shape.
    size: size of the shape (3,) [m].
    x, y, z: start of the ray in the shape's frame [m].
    dx, dy, dz: unit vector along the ray, in the shape's frame.
    """
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
def meet_plane(z: float, dz: float) -> float:
    """Return the distance [m] at which a ray meets the plane z = 0, or infinity for no hit.

    Args:
        z: height of the start of the ray above the plane [m].
        dz: z component of the unit vector along the ray.
    """
    if dz == 0.0:
        return 0.0 if z == 0.0 else math.inf
    along = -z / dz
    return max(along, 0.0) if along >= -AT_THE_START else math.inf


@inner_kernel
def primitive_normal(
    kind: int, size: Vec3, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Return the outward unit normal of a primitive at a point, in the shape's frame.

    kind: kind of the shape.
    size: size of the shape (3,) [m].
    x, y, z: point on the surface, in the shape's frame [m].
    """
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


TRIANGLE = np.dtype(
    [("corner", "f8", (3,)), ("first", "f8", (3,)), ("second", "f8", (3,))]  # and two edges [m]
)
SURFACE = np.dtype([("first_node", "i8"), ("first_triangle", "i8")])


class MeshTree(NamedTuple):
    """The bounding tree over the triangles of one mesh."""

    nodes: np.ndarray  # NODE
    triangles: np.ndarray  # (m,) TRIANGLE, in the order of the leaves


_made: weakref.WeakKeyDictionary[Mesh, MeshTree] = weakref.WeakKeyDictionary()


def mesh_tree(mesh: Mesh) -> MeshTree:
    """Return the tree of a mesh, built once. Triangles without area are left out."""
    if mesh not in _made:
        corners = mesh.vertices[mesh.triangles]
        corners = corners[np.cross(*np.diff(corners, axis=1).swapaxes(0, 1)).any(axis=1)]
        lower, upper = corners.min(axis=1), corners.max(axis=1)
        pad = 1e-12 + 1e-15 * np.abs(corners).max(initial=0.0)
        n = len(corners)
        order, nodes = np.zeros(n, dtype=np.int64), np.zeros(max(n, 1), dtype=NODE)
        ranges = np.zeros((max(n, 1), 3), dtype=np.int64)
        count = build_tree(lower - pad, upper + pad, _LEAF_SIZE, order, ranges, new_bins(), nodes)
        triangles = np.zeros(n, dtype=TRIANGLE)
        a, b, c = corners[order].swapaxes(0, 1)
        triangles["corner"], triangles["first"], triangles["second"] = a, b - a, c - a
        _made[mesh] = MeshTree(nodes[:count].copy(), triangles)
    return _made[mesh]


@inlined_kernel
def _meet_triangle(
    triangle: MeshTriangle, x: float, y: float, z: float, dx: float, dy: float, dz: float
) -> float:
    """Return the distance at which a unit ray meets a triangle, or infinity (Moeller-Trumbore)."""
    a, u, v = triangle.corner, triangle.first, triangle.second
    px, py, pz = dy * v[2] - dz * v[1], dz * v[0] - dx * v[2], dx * v[1] - dy * v[0]
    volume = u[0] * px + u[1] * py + u[2] * pz
    if volume == 0.0:
        return math.inf
    inverse = 1.0 / volume
    sx, sy, sz = x - a[0], y - a[1], z - a[2]
    weight = (sx * px + sy * py + sz * pz) * inverse
    if not (weight >= -_AROUND and weight <= 1.0 + _AROUND):
        return math.inf
    qx, qy, qz = sy * u[2] - sz * u[1], sz * u[0] - sx * u[2], sx * u[1] - sy * u[0]
    other = (dx * qx + dy * qy + dz * qz) * inverse
    if not (other >= -_AROUND and weight + other <= 1.0 + _AROUND):
        return math.inf
    along = (v[0] * qx + v[1] * qy + v[2] * qz) * inverse
    return max(along, 0.0) if along >= -AT_THE_START else math.inf


@inlined_kernel  # many parameters: vectors as three numbers stay in registers
def _meet_triangles(
    s: RayScene, first: Index, count: int, x: float, y: float, z: float, dx: float, dy: float,
    dz: float, best: float, found: int,
) -> tuple[float, int]:  # fmt: skip
    """Return (distance [m], triangle) of the best hit so far, or of a nearer hit on a triangle."""
    for triangle in range(first, first + count):
        along = _meet_triangle(s.mesh_triangles[triangle], x, y, z, dx, dy, dz)
        if along <= best and (along < best or found < 0):
            best, found = along, triangle
    return best, found


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def meet_mesh(
    s: RayScene, surface: Surface, x: float, y: float, z: float, dx: float, dy: float, dz: float,
    limit: float,
) -> tuple[float, int]:  # fmt: skip
    """Find the first triangle of a mesh that a ray hits.

    x, y, z: start of the ray in the mesh's frame [m]. dx, dy, dz: unit vector along the ray, in the
    mesh's frame. limit: hits beyond this distance do not count [m].

    Returns:
        (distance [m], index of the triangle), or (infinity, -1) for no hit.
    """
    ix, iy, iz = inverse_of(dx), inverse_of(dy), inverse_of(dz)
    best, triangle = min(limit, FARTHEST), np.int64(-1)
    stack, waiting = s.mesh_stack, 0
    at = np.int64(0)
    while True:
        node = s.mesh_nodes[surface.first_node + at]
        near, far, side = enter_children(node, x, y, z, ix, iy, iz, best)
        after = np.int64(-1)
        for _ in range(2):
            if near <= best:
                child, count = node.child[side], node.count[side]
                if count == 0:
                    if after < 0:
                        after = child
                    else:
                        stack[waiting].node, stack[waiting].enter = child, near
                        waiting += 1
                best, triangle = _meet_triangles(
                    s, surface.first_triangle + child, count, x, y, z, dx, dy, dz, best, triangle
                )
            near, side = far, 1 - side
        if after < 0:
            after, waiting = next_pending(stack, waiting, best)
        if after < 0:
            return (best, triangle) if triangle >= 0 else (math.inf, triangle)
        at = after


@inner_kernel
def triangle_normal(triangle: MeshTriangle) -> tuple[float, float, float]:
    """Return the outward unit normal (x, y, z) of a triangle, in the mesh's frame."""
    u, v = triangle.first, triangle.second
    x, y, z = u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]
    scale = max(abs(x), abs(y), abs(z))
    x, y, z = x / scale, y / scale, z / scale
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length
