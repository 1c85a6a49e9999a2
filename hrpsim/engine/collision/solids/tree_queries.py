# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Search the trees of polyhedra: rays, distances from the surface, two trees at once."""

import math

import numpy as np

from hrpsim.engine.collision.solids.polyhedra import TILE, Polyhedra
from hrpsim.engine.collision.solids.tiles import open_tile
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    Index,
    Indices,
    Mat3,
    SolidNode,
    SolidPair,
    Vec3,
    Vector,
)

STACK_DEPTH = 128
NO_HIT = np.int64(-1)  # instead of a triangle

# A hit nearer than this part of the triangle's own size is the start of the ray.
_AT_THE_START = 1e-9
# Rays through an edge hit one of its triangles: this part of the triangle is added around it.
_AROUND = 1e-9
# Cosine between a direction and an edge, up to which the ends of the edge are compared.
_LEVEL = 1e-9


@inner_kernel
def _reaches_box(
    node: SolidNode, x: float, y: float, z: float, dx: float, dy: float, dz: float
) -> bool:
    """Return whether the ray from (x, y, z) along d meets the box of a node's surface."""
    enter, leave = 0.0, math.inf
    for axis in range(3):
        if axis == 0:
            away, rate = node.skin_center[0] - x, dx
        elif axis == 1:
            away, rate = node.skin_center[1] - y, dy
        else:
            away, rate = node.skin_center[2] - z, dz
        half = node.skin_half[axis] * (1.0 + 1e-9) + 1e-12
        if abs(rate) < 1e-300:
            if abs(away) > half:
                return False
            continue
        first, second = (away - half) / rate, (away + half) / rate
        enter, leave = max(enter, min(first, second)), min(leave, max(first, second))
    return enter <= leave


@inner_kernel
def _hit(
    polyhedra: Polyhedra,
    triangle: Index,
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
) -> float:
    """Return the distance at which a unit ray meets a triangle [m], or -1 (Moeller-Trumbore)."""
    corners = polyhedra.triangles[triangle].vertices
    a = polyhedra.vertices[corners[0]].position
    b = polyhedra.vertices[corners[1]].position
    c = polyhedra.vertices[corners[2]].position
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    px, py, pz = dy * vz - dz * vy, dz * vx - dx * vz, dx * vy - dy * vx
    volume = ux * px + uy * py + uz * pz
    if volume == 0.0:
        return -1.0
    sx, sy, sz = x - a[0], y - a[1], z - a[2]
    weight = (sx * px + sy * py + sz * pz) / volume
    if weight < -_AROUND or weight > 1.0 + _AROUND:
        return -1.0
    qx, qy, qz = sy * uz - sz * uy, sz * ux - sx * uz, sx * uy - sy * ux
    other = (dx * qx + dy * qy + dz * qz) / volume
    if other < -_AROUND or weight + other > 1.0 + _AROUND:
        return -1.0
    along = (vx * qx + vy * qy + vz * qz) / volume
    return along if along > _AT_THE_START * (abs(ux) + abs(uy) + abs(uz)) else -1.0


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def first_hit(
    polyhedra: Polyhedra,
    solid: Index,
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
    stack: Indices,
) -> tuple[float, int]:
    """Find the first hit of a ray on a solid.

    x, y, z: start [m], dx, dy, dz: unit direction, in the frame of the solid. stack: work
    (STACK_DEPTH,).

    Returns:
        (distance [m], triangle). Without a hit the distance is infinite and the triangle is -1.
    """
    nearest, first = math.inf, NO_HIT
    stack[0] = polyhedra.solids[solid].root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = polyhedra.nodes[stack[waiting]]
        if not _reaches_box(node, x, y, z, dx, dy, dz):
            continue
        if node.child <= TILE:
            stack[waiting] = open_tile(polyhedra, node)
            waiting += 1
            continue
        if node.child >= 0:
            stack[waiting], stack[waiting + 1] = node.child, node.child + 1
            waiting += 2
            continue
        along = _hit(polyhedra, node.triangle, x, y, z, dx, dy, dz)
        if along >= 0.0 and along < nearest:
            nearest, first = along, node.triangle
    return nearest, first


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def first_hit_of_convex(
    polyhedra: Polyhedra,
    solid: Index,
    known: Index,
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
    stack: Indices,
) -> tuple[float, int]:
    """Find the first hit of a ray on a convex solid from outside.

    The ray enters through one triangle only, so the triangle `known` is tested first. `first_hit`
    explains the other arguments and the result.
    """
    n = polyhedra.triangles[known].normal
    if n[0] * dx + n[1] * dy + n[2] * dz < 0.0:
        along = _hit(polyhedra, known, x, y, z, dx, dy, dz)
        if along >= 0.0:
            return along, known
    return first_hit(polyhedra, solid, x, y, z, dx, dy, dz, stack)


@kernel
def measure_thickness(polyhedra: Polyhedra, stack: Indices, thickness_out: Vector) -> None:
    """Write the thickness of a single solid beneath each triangle [m].

    The thickness is the smallest distance to the opposite surface along four inward rays. Rays that
    hit nothing have an infinite distance.

    Args:
        polyhedra: pool of solids.
        stack: work (STACK_DEPTH,).
        thickness_out: thickness beneath each triangle (triangles,) [m], written.
    """
    solid = np.int64(0)
    for k in range(polyhedra.triangles.shape[0]):
        triangle = polyhedra.triangles[k]
        n = triangle.normal
        a = polyhedra.vertices[triangle.vertices[0]].position
        b = polyhedra.vertices[triangle.vertices[1]].position
        c = polyhedra.vertices[triangle.vertices[2]].position
        least = math.inf
        for way in range(4):
            # From the middle, and from halfway to each corner.
            wa = 2.0 / 3.0 if way == 1 else (1.0 / 3.0 if way == 0 else 1.0 / 6.0)
            wb = 2.0 / 3.0 if way == 2 else (1.0 / 3.0 if way == 0 else 1.0 / 6.0)
            wc = 1.0 - wa - wb
            nearest, _ = first_hit(
                polyhedra, solid,
                wa * a[0] + wb * b[0] + wc * c[0],
                wa * a[1] + wb * b[1] + wc * c[1],
                wa * a[2] + wb * b[2] + wc * c[2],
                -n[0], -n[1], -n[2], stack,
            )  # fmt: skip
            least = min(least, nearest)
        thickness_out[k] = least


def new_stack() -> np.ndarray:
    """Return work space for the traversal of one tree (STACK_DEPTH,)."""
    return np.zeros(STACK_DEPTH, dtype=np.int64)


@inner_kernel
def climb(polyhedra: Polyhedra, vertex: int, x: float, y: float, z: float) -> int:
    """Return the vertex of a convex solid farthest along a direction, by hill climbing.

    The search starts at `vertex` and moves along edges. x, y, z: direction in the solid's frame.
    """
    if _ends_along(polyhedra, vertex, x, y, z):
        return vertex
    p = polyhedra.vertices[vertex].position
    best = x * p[0] + y * p[1] + z * p[2]
    while True:
        record, better = polyhedra.vertices[vertex], vertex
        for s in range(record.first_spoke, record.last_spoke):
            to = polyhedra.spokes[s].to
            q = polyhedra.vertices[to].position
            along = x * q[0] + y * q[1] + z * q[2]
            if along > best:
                better, best = to, along
        if better == vertex:
            return vertex
        vertex = better


@inlined_kernel
def _ends_along(polyhedra: Polyhedra, vertex: int, x: float, y: float, z: float) -> bool:
    """Return whether all edges at a vertex certainly lead away from a direction (x, y, z)."""
    record = polyhedra.vertices[vertex]
    for s in range(record.first_spoke, record.last_spoke):
        d = polyhedra.spokes[s].direction
        if x * d[0] + y * d[1] + z * d[2] > -_LEVEL:
            return False
    return True


@inner_kernel
def farthest_vertex(
    polyhedra: Polyhedra, solid: Index, x: float, y: float, z: float, stack: Indices
) -> int:
    """Return the vertex of a solid that is farthest along (x, y, z), a direction in its frame.

    `stack` (STACK_DEPTH,) is work.
    """
    record = polyhedra.solids[solid]
    if record.is_convex:
        return climb(polyhedra, polyhedra.triangles[record.first_triangle].vertices[0], x, y, z)
    stack[0] = record.root
    waiting = 1
    farthest, best = record.first_vertex, -math.inf
    while waiting > 0:
        waiting -= 1
        node = polyhedra.nodes[stack[waiting]]
        if not _reach_of_box(node, x, y, z) > best:
            continue
        if node.child <= TILE:
            stack[waiting] = open_tile(polyhedra, node)
            waiting += 1
            continue
        if node.child < 0:
            for k in range(3):
                vertex = polyhedra.triangles[node.triangle].vertices[k]
                p = polyhedra.vertices[vertex].position
                along = x * p[0] + y * p[1] + z * p[2]
                if along > best:
                    farthest, best = vertex, along
            continue
        near, far = node.child, node.child + 1
        nodes = polyhedra.nodes
        if _reach_of_box(nodes[near], x, y, z) > _reach_of_box(nodes[far], x, y, z):
            near, far = far, near
        stack[waiting], stack[waiting + 1] = near, far
        waiting += 2
    return farthest


@inner_kernel
def farthest_point(
    polyhedra: Polyhedra, solid: Index, x: float, y: float, z: float, stack: Indices
) -> tuple[float, float, float]:
    """Return the point of a solid's core that is farthest along a direction [m].

    Point and direction are in the solid's frame.

    solid: number of the solid.
    x, y, z: direction.
    stack: work (STACK_DEPTH,).
    """
    radius = polyhedra.solids[solid].cylinder_radius
    if radius > 0.0:
        across = math.sqrt(x * x + y * y)
        reach = radius / across if across > 0.0 else 0.0
        return reach * x, reach * y, math.copysign(polyhedra.solids[solid].cylinder_half, z)
    p = polyhedra.vertices[farthest_vertex(polyhedra, solid, x, y, z, stack)].position
    return p[0], p[1], p[2]


@inlined_kernel
def _reach_of_box(node: SolidNode, x: float, y: float, z: float) -> float:
    """Return the largest component along (x, y, z) of the points in a node's surface box."""
    c, h = node.skin_center, node.skin_half
    middle = x * c[0] + y * c[1] + z * c[2]
    return middle + abs(x) * h[0] + abs(y) * h[1] + abs(z) * h[2]


@inner_kernel
def boxes_apart(m: SolidPair, node_a: SolidNode, node_b: SolidNode) -> float:
    """Return a lower bound of the distance of the boxes of two tree nodes [m].

    One box is compared with the other box's bounds along the axes of the first box. Both orders are
    computed, and the larger distance is returned.
    """
    a, half_a, b, half_b = node_a.center, node_a.half, node_b.center, node_b.half
    along_a = _squared_gap(a, half_a, b, half_b, m.R[1], m.t[1])
    return math.sqrt(max(along_a, _squared_gap(b, half_b, a, half_a, m.R[0], m.t[0])))


@inner_kernel
def skins_apart(m: SolidPair, node_a: SolidNode, node_b: SolidNode) -> float:
    """Return a lower bound of the distance of the surfaces in two tree nodes [m]."""
    a, half_a = node_a.skin_center, node_a.skin_half
    b, half_b = node_b.skin_center, node_b.skin_half
    along_a = _squared_gap(a, half_a, b, half_b, m.R[1], m.t[1])
    return math.sqrt(max(along_a, _squared_gap(b, half_b, a, half_a, m.R[0], m.t[0])))


@inlined_kernel
def _squared_gap(
    center: Vec3, half: Vec3, other_center: Vec3, other_half: Vec3, R: Mat3, t: Vector
) -> float:
    """Return the squared distance of a box from another box's bounds, moved by R and t [m^2]."""
    squared = 0.0
    for i in range(3):
        reach, away = half[i], t[i] - center[i]
        for j in range(3):
            reach += abs(R[i, j]) * other_half[j]
            away += R[i, j] * other_center[j]
        gap = max(abs(away) - reach, 0.0)
        squared += gap * gap
    return squared


@inner_kernel
def split_first(box_a: SolidNode, box_b: SolidNode) -> bool:
    """Return whether a search of two trees descends into node a first: the larger inner node."""
    if box_a.child < 0 or box_b.child < 0:
        return box_b.child < 0
    size_a = box_a.half[0] + box_a.half[1] + box_a.half[2]
    return size_a >= box_b.half[0] + box_b.half[1] + box_b.half[2]


@inner_kernel
def squared_to_triangle(
    polyhedra: Polyhedra, triangle: Index, x: float, y: float, z: float
) -> float:
    """Return the squared distance of a point from a triangle [m^2]."""
    face = polyhedra.triangles[triangle]
    n, corner = face.normal, polyhedra.vertices[face.vertices[0]].position
    height = (x - corner[0]) * n[0] + (y - corner[1]) * n[1] + (z - corner[2]) * n[2]
    is_outside = False
    least = height * height
    for k in range(3):
        corner, out = polyhedra.vertices[face.vertices[k]].position, face.outward[k]
        dx, dy, dz = x - corner[0], y - corner[1], z - corner[2]
        if dx * out[0] + dy * out[1] + dz * out[2] <= 0.0:
            continue
        edge = polyhedra.edges[face.edges[k]]
        s, d = edge.start, edge.direction
        dx, dy, dz = x - s[0], y - s[1], z - s[2]
        along = min(max(dx * d[0] + dy * d[1] + dz * d[2], 0.0), edge.length)
        dx, dy, dz = dx - along * d[0], dy - along * d[1], dz - along * d[2]
        squared = dx * dx + dy * dy + dz * dz
        least = min(least, squared) if is_outside else squared
        is_outside = True
    return least


@inner_kernel
def is_near_surface(
    polyhedra: Polyhedra,
    solid: Index,
    x: float,
    y: float,
    z: float,
    distance: float,
    stack: Indices,
) -> bool:
    """Return whether a point is within a distance of a solid's surface.

    solid: number of the solid. x, y, z: the point, in the solid's frame [m]. distance: largest
    distance [m]. stack: work (STACK_DEPTH,).
    """
    stack[0] = polyhedra.solids[solid].root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = polyhedra.nodes[stack[waiting]]
        c, h = node.center, node.half
        if (
            abs(x - c[0]) > h[0] + distance
            or abs(y - c[1]) > h[1] + distance
            or abs(z - c[2]) > h[2] + distance
        ):
            continue
        if node.child <= TILE:
            stack[waiting] = open_tile(polyhedra, node)
            waiting += 1
            continue
        if node.child >= 0:
            stack[waiting], stack[waiting + 1] = node.child, node.child + 1
            waiting += 2
        elif squared_to_triangle(polyhedra, node.triangle, x, y, z) < distance * distance:
            return True
    return False
