# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The support of a convex solid along an axis (its farthest points), as a convex outline.

Seen along the axis, the outline is one point, two points, or the corners of a convex polygon in
counter-clockwise order. The outline is stored in the vertices of the FACING record, in the frame of
the axis (mesh.facing_features).
"""

import math

import numpy as np

from hrpsim.engine.collision.mesh.facing_features import VERTEX_ROOM
from hrpsim.engine.collision.primitives.generatrix import MEANINGFUL_SINE
from hrpsim.engine.collision.solids.polyhedra import Polyhedra
from hrpsim.engine.collision.solids.tree_queries import farthest_point
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Facing, Index, Metres, SolidPair, Vec3

# Points of a cap that stand for its rim, every 60 degrees.
_RIM_POINTS = 6
_FIRST = np.int64(0)


@inner_kernel
def outline_support(polyhedra: Polyhedra, m: SolidPair, side: int, slab: Metres) -> float:
    """Write the outline of a solid's support to m.facing.

    The support is the set of points that are farthest along the axis. Solid a faces down the axis,
    solid b up the axis. Positions are measured against this direction, so the farthest point has
    the smallest position.

    Args:
        polyhedra: pool of solids.
        m: SOLID_PAIR record with the frames of the axis (`lay_axes`).
        side: 0 for solid a, 1 for solid b.
        slab: distance from the farthest point up to which a point belongs to the support [m].

    Returns:
        Position of the farthest point along the axis [m].
    """
    own, solid = m.facing[side], polyhedra.solids[m.solid[side]]
    sign = 1.0 if side == 0 else -1.0
    x, y, z = -sign * own.R[2, 0], -sign * own.R[2, 1], -sign * own.R[2, 2]
    px, py, pz = farthest_point(polyhedra, m.solid[side], x, y, z, m.stack)
    end = sign * own.t[2] - (x * px + y * py + z * pz)
    own.vertex_count = 0
    if solid.cylinder_radius > 0.0:
        _list_rims(m, side, solid.cylinder_radius, solid.cylinder_half, end + slab)
    else:
        _list_vertices(polyhedra, m, side, end + slab)
    _wrap(own)
    return end


@inner_kernel
def _list_vertices(polyhedra: Polyhedra, m: SolidPair, side: int, bound: Metres) -> None:
    """List the sharp vertices of a solid, up to the position `bound` [m]."""
    own, stack = m.facing[side], m.stack
    first = polyhedra.solids[m.solid[side]].first_vertex
    sign = 1.0 if side == 0 else -1.0
    x, y, z = own.R[2, 0], own.R[2, 1], own.R[2, 2]
    stack[0] = polyhedra.solids[m.solid[side]].root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = polyhedra.nodes[stack[waiting]]
        c, h = node.skin_center, node.skin_half
        nearest = sign * (own.t[2] + x * c[0] + y * c[1] + z * c[2])
        if nearest - abs(x) * h[0] - abs(y) * h[1] - abs(z) * h[2] > bound:
            continue
        if node.child >= 0:
            stack[waiting], stack[waiting + 1] = node.child, node.child + 1
            waiting += 2
            continue
        triangle = polyhedra.triangles[node.triangle]
        for k in range(3):
            if triangle.owned & (1 << k):
                vertex = triangle.vertices[k]
                p = polyhedra.vertices[vertex].position
                _list_point(m, side, vertex - first + 1, p[0], p[1], p[2], bound)


@inner_kernel
def _list_rims(m: SolidPair, side: int, radius: Metres, half: Metres, bound: Metres) -> None:
    """List the farthest points of both rims of a cylinder, and points around its caps."""
    own = m.facing[side]
    sign = 1.0 if side == 0 else -1.0
    x, y = -sign * own.R[2, 0], -sign * own.R[2, 1]
    across = math.sqrt(x * x + y * y)
    number = _FIRST
    for end in range(2):
        z = half if end else -half
        for k in range(_RIM_POINTS):
            angle = k * 2.0 * math.pi / _RIM_POINTS
            number += 1
            _list_point(
                m, side, number, radius * math.cos(angle), radius * math.sin(angle), z, bound
            )
        number += 1
        if across > MEANINGFUL_SINE:
            reach = radius / across
            _list_point(m, side, number, reach * x, reach * y, z, bound)


@inner_kernel
def _list_point(
    m: SolidPair, side: int, number: Index, x: float, y: float, z: float, bound: Metres
) -> None:
    """List the point x of the own frame, if it is within the bound and there is room."""
    own = m.facing[side]
    if own.vertex_count == VERTEX_ROOM:
        return
    listed_point = own.vertices[own.vertex_count]
    for r in range(3):
        listed_point.place[r] = own.t[r] + own.R[r, 0] * x + own.R[r, 1] * y + own.R[r, 2] * z
    if (listed_point.place[2] if side == 0 else -listed_point.place[2]) <= bound:
        listed_point.vertex = number
        own.vertex_count += 1


@inlined_kernel
def _area(p: Vec3, q: Vec3, s: Vec3) -> float:
    """Return twice the area of a triangle seen along the axis, positive counter-clockwise."""
    return (q[0] - p[0]) * (s[1] - p[1]) - (q[1] - p[1]) * (s[0] - p[0])


@inlined_kernel
def _squared(p: Vec3, q: Vec3) -> float:
    """Return the squared distance of two points seen along the axis."""
    return (q[0] - p[0]) ** 2 + (q[1] - p[1]) ** 2


@inner_kernel
def _exchange(own: Facing, i: Index, j: Index) -> None:
    """Exchange two listed points."""
    p, q = own.vertices[i], own.vertices[j]
    p.vertex, q.vertex = q.vertex, p.vertex
    for r in range(3):
        p.place[r], q.place[r] = q.place[r], p.place[r]


@inner_kernel
def _wrap(own: Facing) -> None:
    """Leave the corners of the convex polygon around the listed points, in order (Jarvis 1973)."""
    count = own.vertex_count
    if count < 3:
        return
    for j in range(1, count):
        p, q = own.vertices[j].place, own.vertices[0].place
        if p[0] < q[0] or (p[0] == q[0] and p[1] < q[1]):
            _exchange(own, _FIRST, j)
    corner_count = 1
    while corner_count < count:
        last = own.vertices[corner_count - 1].place
        following = corner_count if corner_count == 1 else 0
        for j in range(corner_count, count):
            q, s = own.vertices[following].place, own.vertices[j].place
            area = _area(last, q, s)
            if area < 0.0 or (area == 0.0 and _squared(last, s) > _squared(last, q)):
                following = j
        if following == 0:
            break
        _exchange(own, corner_count, following)
        corner_count += 1
    own.vertex_count = corner_count


@inner_kernel
def is_over(outline: Facing, place: Vec3, tolerance: Metres) -> bool:
    """Return whether a point is inside an outline, or outside by at most a tolerance [m]."""
    count = outline.vertex_count
    if count == 1:
        return _squared(outline.vertices[0].place, place) <= tolerance * tolerance
    for k in range(count):
        p, q = outline.vertices[k].place, outline.vertices[(k + 1) % count].place
        length = math.sqrt(_squared(p, q))
        if _area(p, q, place) < -tolerance * length:
            return False
        if count == 2:
            along = (q[0] - p[0]) * (place[0] - p[0]) + (q[1] - p[1]) * (place[1] - p[1])
            if along < -tolerance * length:
                return False
    return True
