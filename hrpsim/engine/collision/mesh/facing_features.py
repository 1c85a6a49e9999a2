# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""List the features of two convex solids that may touch, with boxes in the frame of the axis.

Only features in the slab between both solids can touch (engine.collision.mesh.separating_axis). The
axis is the third axis of the frame. The box of a face holds the points that may have a contact with
the face. Such a point lies along the normal of the face, at most m.farthest outside and m.deepest
inside. Two other features may touch if their boxes are no farther apart than the larger one of
these lengths.

The "reference point" is the deepest contact of the last step, m.separation.place. Around this
point, the slopes of dense solids limit how high a feature with a contact can be.
"""

import math

import numpy as np

from hrpsim.engine.collision.mesh.separating_axis import turns_away
from hrpsim.engine.collision.solids.polyhedra import Polyhedra
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Facing,
    FacingBlock,
    FacingEdge,
    FacingFace,
    Indices,
    Records,
    SolidNode,
    SolidPair,
    Vec3,
)

# Features of one solid. A solid with more of them in the slab has its tree walked.
FACE_ROOM, EDGE_ROOM, VERTEX_ROOM = 160, 240, 160
# Triangles of one solid with such features. Few of these have features that are listed.
TRIANGLE_ROOM = 512

_SIDE_A, _SIDE_B = np.int64(0), np.int64(1)

# Features of a list in one block. The lists follow the trees, so that the features of a block are
# near each other.
BLOCK = 8

# The first two axes are across the axis between the solids, the third one is that axis.
FACING_FACE = np.dtype(
    [
        ("triangle", "i8"),
        ("low", "f8", (3,)),  # of the points that may have a contact with the face [m]
        ("high", "f8", (3,)),
    ]
)
FACING_EDGE = np.dtype(
    [
        ("edge", "i8"),
        ("low", "f8", (3,)),  # [m]
        ("high", "f8", (3,)),
        ("direction", "f8", (3,)),
        ("normals", "f8", (2, 3)),  # of its faces
    ]
)
FACING_BLOCK = np.dtype([("low", "f8", (3,)), ("high", "f8", (3,))])  # of all features in it [m]
FACING_VERTEX = np.dtype([("vertex", "i8"), ("place", "f8", (3,))])
FACING = np.dtype(
    [
        ("R", "f8", (3, 3)),  # from the frame of the solid to the frame of the axis
        ("t", "f8", (3,)),  # [m]
        ("low", "f8", (3,)),  # of all listed triangles [m]
        ("high", "f8", (3,)),
        ("triangle_count", "i8"),
        ("triangles", "i8", (TRIANGLE_ROOM,)),
        ("face_count", "i8"),
        ("faces", FACING_FACE, (FACE_ROOM,)),
        ("face_blocks", FACING_BLOCK, (FACE_ROOM // BLOCK,)),
        ("edge_count", "i8"),
        ("edges", FACING_EDGE, (EDGE_ROOM,)),
        ("edge_blocks", FACING_BLOCK, (EDGE_ROOM // BLOCK,)),
        ("vertex_count", "i8"),
        ("vertices", FACING_VERTEX, (VERTEX_ROOM,)),
    ]
)


@inner_kernel
def list_facing_features(polyhedra: Polyhedra, m: SolidPair) -> bool:
    """Write the features of both solids that may touch to m.facing.

    Call `limit_contacts` before, which writes the limits.

    Returns:
        Whether the arrays have room for all these features.
    """
    lay_axes(m)
    m.facing[0].low[:], m.facing[0].high[:] = -math.inf, math.inf
    # a is the larger solid, so its triangles beside b are left out
    few = _list_triangles(polyhedra, m, _SIDE_B)
    if not _list_triangles(polyhedra, m, _SIDE_A):
        return False
    if not few and not _list_triangles(polyhedra, m, _SIDE_B):
        return False
    for side in range(2):
        if not _list_features(polyhedra, m, side):
            return False
    return True


@inner_kernel
def lay_axes(m: SolidPair) -> None:
    """Write the transforms from both solids' frames to a frame along the separating axis.

    The third axis of this frame is the separating axis. The kernel also writes the first two
    coordinates of the reference point in this frame, m.middle.
    """
    n, a, b, R, t = m.separation.axis, m.facing[0], m.facing[1], m.R[0], m.t[0]
    x, y, z = n[0], n[1], n[2]
    if abs(x) < abs(y) and abs(x) < abs(z):  # square to the axis of b that is farthest from n
        ux, uy, uz = 0.0, -z, y
    elif abs(y) < abs(z):
        ux, uy, uz = z, 0.0, -x
    else:
        ux, uy, uz = -y, x, 0.0
    scale = 1.0 / math.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = scale * ux, scale * uy, scale * uz
    rows = b.R
    rows[0, 0], rows[0, 1], rows[0, 2] = ux, uy, uz
    rows[1, 0], rows[1, 1], rows[1, 2] = y * uz - z * uy, z * ux - x * uz, x * uy - y * ux
    rows[2, 0], rows[2, 1], rows[2, 2] = x, y, z
    p = m.separation.place
    for i in range(2):
        m.middle[i] = rows[i, 0] * p[0] + rows[i, 1] * p[1] + rows[i, 2] * p[2]
    for i in range(3):
        a.t[i] = rows[i, 0] * t[0] + rows[i, 1] * t[1] + rows[i, 2] * t[2]
        b.t[i] = 0.0
        for j in range(3):
            a.R[i, j] = rows[i, 0] * R[0, j] + rows[i, 1] * R[1, j] + rows[i, 2] * R[2, j]


@inlined_kernel
def reach_across(m: SolidPair) -> float:
    """Return the largest distance, perpendicular to the axis, of features with contacts [m]."""
    # points at a distance of m.farthest are m.apart or more along the axis
    across = math.sqrt(max(m.farthest * m.farthest - max(m.apart, 0.0) ** 2, 0.0))
    return max(across, m.deepest) + m.aside


@inner_kernel
def _list_triangles(polyhedra: Polyhedra, m: SolidPair, side: int) -> bool:
    """List the triangles of a solid that the other solid may reach, and write their bounding box.

    Returns:
        Whether the triangles fit into the list. The box is written in any case.
    """
    own, other, stack = m.facing[side], m.facing[1 - side], m.stack
    reach = reach_across(m)
    x, y, z, offset = own.R[2, 0], own.R[2, 1], own.R[2, 2], own.t[2]
    # a reaches down into the slab, and b up
    sign = 1.0 if side == 0 else -1.0
    bound = m.highest + m.margin if side == 0 else m.margin - m.highest - m.apart
    own.triangle_count = 0
    ox, oy, oz = -sign * x, -sign * y, -sign * z  # the own normal of a contact along the axis
    own.low[:], own.high[:] = math.inf, -math.inf
    stack[0] = polyhedra.solids[m.solid[side]].root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = polyhedra.nodes[stack[waiting]]
        c, h = node.skin_center, node.skin_half
        nearest = sign * (offset + x * c[0] + y * c[1] + z * c[2])
        nearest -= abs(x) * h[0] + abs(y) * h[1] + abs(z) * h[2]
        if nearest > bound or turns_away(node, ox, oy, oz, m.cap):
            continue
        if _is_out_of_reach(own, node, other, reach):
            continue
        if node.child >= 0:
            stack[waiting], stack[waiting + 1] = node.child, node.child + 1
            waiting += 2
            continue
        vertices = polyhedra.triangles[node.triangle].vertices
        nearest = math.inf
        for k in range(3):
            p = polyhedra.vertices[vertices[k]].position
            nearest = min(nearest, sign * (offset + x * p[0] + y * p[1] + z * p[2]))
        if nearest > bound:
            continue
        if own.triangle_count < TRIANGLE_ROOM:
            own.triangles[own.triangle_count] = node.triangle
        own.triangle_count += 1
        _grow_box(polyhedra, own, vertices)
    return own.triangle_count <= TRIANGLE_ROOM


@inlined_kernel
def _is_out_of_reach(own: Facing, node: SolidNode, other: Facing, reach: float) -> bool:
    """Return whether a node's surface is more than `reach` [m] beside the other solid's box."""
    c, h = node.skin_center, node.skin_half
    x, y = place_in_axes(own, c, 0), place_in_axes(own, c, 1)
    across = abs(own.R[0, 0]) * h[0] + abs(own.R[0, 1]) * h[1] + abs(own.R[0, 2]) * h[2]
    along = abs(own.R[1, 0]) * h[0] + abs(own.R[1, 1]) * h[1] + abs(own.R[1, 2]) * h[2]
    s, t = other.low, other.high
    if x - across > t[0] + reach or x + across < s[0] - reach:
        return True
    return y - along > t[1] + reach or y + along < s[1] - reach


@inlined_kernel
def _largest_rise(m: SolidPair, low_x: float, low_y: float, high_x: float, high_y: float) -> float:
    """Return by how much the gap of contacts within bounds can exceed m.apart [m]."""
    x = max(m.middle[0] - low_x, high_x - m.middle[0])
    y = max(m.middle[1] - low_y, high_y - m.middle[1])
    return m.rise + m.spread * math.sqrt(x * x + y * y)


@inlined_kernel
def farthest_within(m: SolidPair, low: Vec3, high: Vec3) -> float:
    """Return the largest gap that a contact inside a rectangle can have [m].

    The rectangle is perpendicular to the separating axis, from `low` (2,) to `high` (2,) [m].
    """
    if m.rise == math.inf:
        return m.farthest
    rise = _largest_rise(m, low[0], low[1], high[0], high[1])
    return min(m.farthest, max(m.apart + rise, 0.0))


@inlined_kernel
def _grow_box(polyhedra: Polyhedra, own: Facing, vertices: Indices) -> None:
    """Grow the box of the triangles in the slab to hold three more vertices."""
    for k in range(3):
        p = polyhedra.vertices[vertices[k]].position
        for r in range(3):
            along = place_in_axes(own, p, r)
            own.low[r], own.high[r] = min(own.low[r], along), max(own.high[r], along)


@inlined_kernel
def place_in_axes(own: Facing, p: Vec3, r: int) -> float:
    """Return coordinate r, in the frame of the axis, of a solid's point p (3,) [m]."""
    return own.t[r] + own.R[r, 0] * p[0] + own.R[r, 1] * p[1] + own.R[r, 2] * p[2]


@inlined_kernel
def turned_to_axes(own: Facing, d: Vec3, r: int) -> float:
    """Return component r, in the frame of the axis, of a solid's direction d (3,)."""
    return own.R[r, 0] * d[0] + own.R[r, 1] * d[1] + own.R[r, 2] * d[2]


@inlined_kernel
def boxes_meet(
    a: FacingEdge | FacingFace, b: Facing | FacingBlock | FacingEdge, reach: float
) -> bool:
    """Return whether the gap of two boxes is at most `reach` [m] along each of the three axes.

    All six comparisons are made, because they cost less than a mispredicted branch.
    """
    p, q, s, t = a.low, a.high, b.low, b.high
    return (
        (p[0] <= t[0] + reach) & (q[0] >= s[0] - reach)
        & (p[1] <= t[1] + reach) & (q[1] >= s[1] - reach)
        & (p[2] <= t[2] + reach) & (q[2] >= s[2] - reach)
    )  # fmt: skip


@inlined_kernel
def is_in_box(
    place: Vec3, box: Facing | FacingBlock | FacingEdge | FacingFace, reach: float
) -> bool:
    """Return whether a point is within `reach` [m] of a box along all axes."""
    s, t = box.low, box.high
    return (
        (place[0] <= t[0] + reach) & (place[0] >= s[0] - reach)
        & (place[1] <= t[1] + reach) & (place[1] >= s[1] - reach)
        & (place[2] <= t[2] + reach) & (place[2] >= s[2] - reach)
    )  # fmt: skip


@inner_kernel
def _list_features(polyhedra: Polyhedra, m: SolidPair, side: int) -> bool:
    """List the features of the listed triangles that the other solid may reach.

    Returns:
        Whether the features fit into the lists.
    """
    own, other = m.facing[side], m.facing[1 - side]
    reach = max(m.farthest, m.deepest) + m.aside
    own.face_count = own.edge_count = own.vertex_count = 0
    for i in range(own.triangle_count):
        number = own.triangles[i]
        triangle = polyhedra.triangles[number]
        if triangle.is_face:
            if own.face_count == FACE_ROOM:
                return False
            list_face(polyhedra, m, own, number, other)
        for k in range(3):
            if triangle.owned & (8 << k):
                if own.edge_count == EDGE_ROOM:
                    return False
                list_edge(polyhedra, m, own, triangle.edges[k], other, reach)
            if triangle.owned & (1 << k):
                if own.vertex_count == VERTEX_ROOM:
                    return False
                listed_vertex = own.vertices[own.vertex_count]
                listed_vertex.vertex = triangle.vertices[k]
                for r in range(3):
                    p = polyhedra.vertices[listed_vertex.vertex].position
                    listed_vertex.place[r] = place_in_axes(own, p, r)
                if is_in_box(listed_vertex.place, other, reach):
                    own.vertex_count += 1
    bound_blocks(own.faces, own.face_count, own.face_blocks)
    bound_blocks(own.edges, own.edge_count, own.edge_blocks)
    return True


@inner_kernel
def bound_blocks(
    boxes: Records[FacingFace] | Records[FacingEdge], count: int, blocks_out: Records[FacingBlock]
) -> None:
    """Write the box of each block of listed features."""
    for i in range(count):
        box, block = boxes[i], blocks_out[i // BLOCK]
        for r in range(3):
            if i % BLOCK == 0:
                block.low[r], block.high[r] = box.low[r], box.high[r]
            else:
                block.low[r] = min(block.low[r], box.low[r])
                block.high[r] = max(block.high[r], box.high[r])


@inlined_kernel
def block_count(count: int) -> int:
    """Return the number of blocks into which `count` features are grouped."""
    return (count + BLOCK - 1) // BLOCK


@inner_kernel
def list_face(polyhedra: Polyhedra, m: SolidPair, own: Facing, number: int, other: Facing) -> None:
    """Add a face to the list of its solid, if points of the other solid may touch the face."""
    face, listed_face = polyhedra.triangles[number], own.faces[own.face_count]
    listed_face.triangle = number
    low, high, is_flat = listed_face.low, listed_face.high, False
    low[:], high[:] = math.inf, -math.inf
    nx, ny = turned_to_axes(own, face.normal, 0), turned_to_axes(own, face.normal, 1)
    for k in range(3):
        p = polyhedra.vertices[face.vertices[k]].position
        for r in range(3):
            along = place_in_axes(own, p, r)
            low[r], high[r] = min(low[r], along), max(high[r], along)
        is_flat |= rises_little(m, nx, ny, place_in_axes(own, p, 0), place_in_axes(own, p, 1))
    if not is_flat:
        return
    farthest = farthest_within(m, low, high)
    for r in range(3):
        normal = turned_to_axes(own, face.normal, r)
        up, down = farthest * normal, -m.deepest * normal
        low[r] += min(up, down) - m.aside
        high[r] += max(up, down) + m.aside
    if boxes_meet(listed_face, other, 0.0):
        own.face_count += 1


@inner_kernel
def list_edge(
    polyhedra: Polyhedra, m: SolidPair, own: Facing, number: int, other: Facing, reach: float
) -> None:
    """Add an edge to the list of its solid, if the box of the other solid is within `reach` [m]."""
    edge, listed_edge = polyhedra.edges[number], own.edges[own.edge_count]
    listed_edge.edge = number
    for r in range(3):
        start = place_in_axes(own, edge.start, r)
        listed_edge.direction[r] = turned_to_axes(own, edge.direction, r)
        end = start + edge.length * listed_edge.direction[r]
        listed_edge.low[r], listed_edge.high[r] = min(start, end), max(start, end)
    if not boxes_meet(listed_edge, other, reach):
        return
    x, y = place_in_axes(own, edge.start, 0), place_in_axes(own, edge.start, 1)
    end_x = x + edge.length * listed_edge.direction[0]
    end_y = y + edge.length * listed_edge.direction[1]
    is_flat = False
    for k in range(2):
        for r in range(3):
            listed_edge.normals[k, r] = turned_to_axes(own, edge.normals[k], r)
        nx, ny = listed_edge.normals[k, 0], listed_edge.normals[k, 1]
        is_flat |= rises_little(m, nx, ny, x, y) or rises_little(m, nx, ny, end_x, end_y)
    if is_flat:
        own.edge_count += 1


@inlined_kernel
def rises_little(m: SolidPair, nx: float, ny: float, x: float, y: float) -> bool:
    """Return whether a face with this normal may have contacts at x, y perpendicular to the axis.

    The rise of the face's plane from the reference point, minus the largest rise of contacts, is a
    concave function of x, y. A concave function is least at a corner of a face or at an end of an
    edge. It suffices to test these points.
    """
    x, y = x - m.middle[0], y - m.middle[1]
    steep = nx * x + ny * y - m.rise
    return steep <= 0.0 or steep * steep <= m.spread * m.spread * (x * x + y * y)


@inlined_kernel
def passes_beside(own: FacingEdge, other: FacingEdge, slack: float) -> bool:
    """Return whether the edge `own` cannot have a contact with the edge `other`.

    The common normal of two edges is perpendicular to both. The normal can be in the normal cone of
    an edge only if the other edge passes between the normals of the edge's faces, to within a sine
    of `slack`.
    """
    d, n = own.direction, other.normals
    first = d[0] * n[0, 0] + d[1] * n[0, 1] + d[2] * n[0, 2]
    second = d[0] * n[1, 0] + d[1] * n[1, 1] + d[2] * n[1, 2]
    return min(first, second) > slack or max(first, second) < -slack
