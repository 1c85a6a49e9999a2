# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""List the triangles of a convex solid that the other solid may reach.

The limits belong to the frame of the axis (mesh.facing_features). A node of the tree is left out if
the surface in it is too high, turns away, is beside the other solid, or rises too much from the
reference point. If a limit leaves out a node, the limit also leaves out all parts of the node. The
list therefore depends on the leaves alone. All limits can be widened, for lists that are kept
(mesh.kept_leaves).
"""

import math

from hrpsim.engine.collision.mesh.separating_axis import turns_away
from hrpsim.engine.collision.solids.polyhedra import Polyhedra
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Facing,
    Index,
    KeptSide,
    Metres,
    SolidNode,
    SolidPair,
    Vec3,
)

# Triangles of one solid with features that may touch. Few of these have features that are listed.
TRIANGLE_ROOM = 512
_ROOT_3 = math.sqrt(3.0)


@inner_kernel
def limit_surface(m: SolidPair, side: int) -> None:
    """Write the limits of the surface of a solid that the other solid may reach."""
    own = m.facing[side]
    # points at a distance of m.farthest are m.apart or more along the axis
    across = math.sqrt(max(m.farthest * m.farthest - max(m.apart, 0.0) ** 2, 0.0))
    own.reach = max(across, m.deepest) + m.aside
    # a reaches down into the slab, and b up
    own.sign = 1.0 if side == 0 else -1.0
    own.bound = m.highest + m.margin if side == 0 else m.margin - m.highest - m.apart
    own.lowest = m.highest + m.apart if side == 0 else -m.highest
    for i in range(3):
        own.normal[i] = -own.sign * own.R[2, i]


@inner_kernel
def list_triangles(polyhedra: Polyhedra, m: SolidPair, side: int) -> bool:
    """List the triangles of a solid that the other solid may reach, and write their bounding box.

    Call `limit_surface` before, which writes the limits.

    Returns:
        Whether the triangles fit into the list. The box is written in any case.
    """
    own, other, stack = m.facing[side], m.facing[1 - side], m.stack
    begin_triangles(own)
    stack[0] = polyhedra.solids[m.solid[side]].root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = polyhedra.nodes[stack[waiting]]
        if is_out_of_reach(m, own, node, other.low, other.high, 0.0, 0.0):
            continue
        if node.child < 0:
            add_triangle(polyhedra, m, own, node)
        elif not climbs_away(m, own, node, 0.0, 0.0):
            stack[waiting], stack[waiting + 1] = node.child, node.child + 1
            waiting += 2
    return own.triangle_count <= TRIANGLE_ROOM


@inlined_kernel
def begin_triangles(own: Facing) -> None:
    """Write an empty list of triangles."""
    own.triangle_count = 0
    own.low[:], own.high[:] = math.inf, -math.inf


@inlined_kernel
def add_triangle(polyhedra: Polyhedra, m: SolidPair, own: Facing, leaf: SolidNode) -> None:
    """Add the triangle of a leaf within reach to the list, if the triangle may touch."""
    if not may_touch(polyhedra, m, own, leaf, 0.0, 0.0):
        return
    if own.triangle_count < TRIANGLE_ROOM:
        own.triangles[own.triangle_count] = leaf.triangle
    own.triangle_count += 1
    grow_box(polyhedra, own, leaf.triangle, own)


@inlined_kernel
def may_touch(
    polyhedra: Polyhedra, m: SolidPair, own: Facing, leaf: SolidNode, slack: Metres, way: Metres
) -> bool:
    """Return whether the triangle of a leaf is low, and rises little from the reference point.

    slack: as of `is_out_of_reach` [m].
    way: as of `climbs_away` [m].
    """
    vertices = polyhedra.triangles[leaf.triangle].vertices
    x, y, z, offset = own.R[2, 0], own.R[2, 1], own.R[2, 2], own.t[2]
    most = m.rise + 2.0 * slack + way * _turning_away(own, leaf)
    nearest, is_flat = math.inf, False
    for k in range(3):
        p = polyhedra.vertices[vertices[k]].position
        nearest = min(nearest, own.sign * (offset + x * p[0] + y * p[1] + z * p[2]))
        is_flat |= _least_climb(m, own, leaf, p) <= most
    return nearest <= own.bound + slack and is_flat


@inlined_kernel
def is_out_of_reach(
    m: SolidPair, own: Facing, node: SolidNode, low: Vec3, high: Vec3, slack: Metres, turn: float
) -> bool:
    """Return whether the surface in a node has no contacts, by its height, normals and place.

    In dense solids, the surface may also be higher than contacts at this distance from the
    reference point can be.

    low, high: bounds of the other solid in the frame of the axis [m].
    slack: length by which all limits are widened, across the axis twice [m].
    turn: chord by which the limit of normals is widened.
    """
    c, h, n = node.skin_center, node.skin_half, own.normal
    x, y, z = own.R[2, 0], own.R[2, 1], own.R[2, 2]
    nearest = own.sign * (own.t[2] + x * c[0] + y * c[1] + z * c[2])
    nearest -= abs(x) * h[0] + abs(y) * h[1] + abs(z) * h[2]
    if nearest > own.bound + slack or turns_away(node, n[0], n[1], n[2], m.cap + turn):
        return True
    reach = own.reach + 2.0 * slack
    x, y, across, along = _across_axis(own, node)
    if x - across > high[0] + reach or x + across < low[0] - reach:
        return True
    if y - along > high[1] + reach or y + along < low[1] - reach:
        return True
    if m.rise == math.inf:
        return False
    most = largest_rise(m, x - across, y - along, x + across, y + along)
    return nearest - own.lowest > most + slack


@inlined_kernel
def climbs_away(m: SolidPair, own: Facing, node: SolidNode, slack: Metres, way: Metres) -> bool:
    """Return whether tangent planes in a node rise too much on the way from the reference point.

    The bound of the rise holds for all points and normals in the node.

    slack: as of `is_out_of_reach` [m].
    way: length by which the way is lengthened [m].
    """
    if m.rise == math.inf:
        return False
    x, y, across, along = _across_axis(own, node)
    most = largest_rise(m, x - across, y - along, x + across, y + along)
    x, y = x - m.middle[0], y - m.middle[1]
    turning = _turning_away(own, node)
    climb = -turning * (across + along)  # on the way from the place to the surface
    for i in range(3):
        step = own.R[0, i] * x + own.R[1, i] * y
        climb += min(node.least_normal[i] * step, node.most_normal[i] * step)
    return climb > most + 2.0 * slack + turning * way


@inlined_kernel
def _across_axis(own: Facing, node: SolidNode) -> tuple[float, float, float, float]:
    """Return the position of a node's box across the axis, and its half lengths there [m]."""
    c, h = node.skin_center, node.skin_half
    across = abs(own.R[0, 0]) * h[0] + abs(own.R[0, 1]) * h[1] + abs(own.R[0, 2]) * h[2]
    along = abs(own.R[1, 0]) * h[0] + abs(own.R[1, 1]) * h[1] + abs(own.R[1, 2]) * h[2]
    return place_along(own, c, 0), place_along(own, c, 1), across, along


@inlined_kernel
def _turning_away(own: Facing, node: SolidNode) -> float:
    """Return the largest chord between the own normal along the axis and normals in a node."""
    farthest = 0.0
    for i in range(3):
        n = own.normal[i]
        farthest = max(farthest, n - node.least_normal[i], node.most_normal[i] - n)
    return _ROOT_3 * farthest


@inlined_kernel
def _least_climb(m: SolidPair, own: Facing, node: SolidNode, p: Vec3) -> float:
    """Return the rise of tangent planes from the reference point to a corner of a triangle [m].

    The result is the smallest rise for the normals in the leaf, minus the rise that m.spread
    allows.
    """
    x, y = place_along(own, p, 0) - m.middle[0], place_along(own, p, 1) - m.middle[1]
    climb = -m.spread * math.sqrt(x * x + y * y)
    for i in range(3):
        way = own.R[0, i] * x + own.R[1, i] * y
        climb += min(node.least_normal[i] * way, node.most_normal[i] * way)
    return climb


@inlined_kernel
def largest_rise(m: SolidPair, low_x: float, low_y: float, high_x: float, high_y: float) -> float:
    """Return by how much the gap of contacts within bounds can exceed m.apart [m]."""
    x = max(m.middle[0] - low_x, high_x - m.middle[0])
    y = max(m.middle[1] - low_y, high_y - m.middle[1])
    return m.rise + m.spread * math.sqrt(x * x + y * y)


@inlined_kernel
def grow_box(polyhedra: Polyhedra, own: Facing, triangle: Index, box: Facing | KeptSide) -> None:
    """Grow a box in the frame of the axis to hold a triangle of the own solid."""
    vertices = polyhedra.triangles[triangle].vertices
    for k in range(3):
        p = polyhedra.vertices[vertices[k]].position
        for r in range(3):
            along = place_along(own, p, r)
            box.low[r], box.high[r] = min(box.low[r], along), max(box.high[r], along)


@inlined_kernel
def place_along(own: Facing, p: Vec3, r: int) -> float:
    """Return coordinate r, in the frame of the axis, of a solid's point p (3,) [m]."""
    return own.t[r] + own.R[r, 0] * p[0] + own.R[r, 1] * p[1] + own.R[r, 2] * p[2]
