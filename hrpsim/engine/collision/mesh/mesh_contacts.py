# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of meshes with all kinds of shapes, as polyhedral solids with features.

The SOLID_PAIR record `m` has two solids, their poses and motions in the frame of each other, and
work space. `side` is 0 for data of solid a, 1 for data of solid b. A feature is a vertex, an edge
or a face.

Contacts of features are local. The depth of two deeply overlapping convex solids, and the direction
of their shortest separation, depend on the solids as a whole. Contacts along that direction replace
contacts that are less deep than the solids (mesh.deep_contacts).
"""

import math

import numpy as np

from hrpsim.engine.collision.mesh.contact_order import drop_high, remember_normal, sort_by_name
from hrpsim.engine.collision.mesh.contact_reduction import reduce_candidates
from hrpsim.engine.collision.mesh.cylinder_contacts import meet_cylinder
from hrpsim.engine.collision.mesh.deep_contacts import mend_deep_overlap
from hrpsim.engine.collision.mesh.edge_contacts import meet_edges
from hrpsim.engine.collision.mesh.facing_contacts import meet_facing_features
from hrpsim.engine.collision.mesh.facing_features import list_facing_features
from hrpsim.engine.collision.mesh.features_around import list_features_around
from hrpsim.engine.collision.mesh.hidden_sides import take_out_hidden
from hrpsim.engine.collision.mesh.separating_axis import (
    ASIDE,
    are_apart,
    limit_contacts,
    may_face,
    may_lie_over,
    near_along_axis,
)
from hrpsim.engine.collision.mesh.solid_pair import (
    A_FACE,
    A_VERTEX,
    AN_EDGE,
    FACE_VERTEX,
    LEAN,
    NO_TRIANGLE,
    SIDE_A,
    SIDE_B,
    VERTEX_FACE,
    add_candidate,
    closes,
    feature_code,
    point_in_other,
    velocity_at,
)
from hrpsim.engine.collision.mesh.vertex_contacts import meet_with_vertex, vertex_supports
from hrpsim.engine.collision.solids.polyhedra import TILE, Polyhedra
from hrpsim.engine.collision.solids.tiles import hold_tile
from hrpsim.engine.collision.solids.tree_queries import boxes_apart, climb, split_first
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Candidate,
    Index,
    Manifold,
    Mat3,
    Records,
    SolidNode,
    SolidPair,
    Vector,
)

_THE_FACET = np.int64(0)  # a half-space has one
_FEW_CORNERS = 8  # of a node whose corners are tested without a visit of its children


@inner_kernel
def _meet_vertices(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    side: int,
    number: Index,
    other: int,
) -> None:
    """Add the contacts of the vertices that an own triangle owns with another's features."""
    triangle = polyhedra.triangles[number]
    for k in range(3):
        if triangle.owned & (1 << k):
            meet_with_vertex(polyhedra, m, candidates, side, triangle.vertices[k], other)


@inner_kernel
def _meet_edges(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    number_a: Index,
    number_b: Index,
) -> None:
    """Add the contacts between the edges that two triangles own."""
    a, b = polyhedra.triangles[number_a], polyhedra.triangles[number_b]
    for i in range(3):
        if a.owned & (8 << i):
            for j in range(3):
                if b.owned & (8 << j):
                    edge_a, edge_b = polyhedra.edges[a.edges[i]], polyhedra.edges[b.edges[j]]
                    meet_edges(
                        polyhedra, m, candidates,
                        edge_a, feature_code(AN_EDGE, edge_a.number),
                        edge_b, feature_code(AN_EDGE, edge_b.number),
                    )  # fmt: skip


@inlined_kernel
def _meet_leaves(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    a: SolidNode,
    b: SolidNode,
    a_over: bool,
    b_over: bool,
    has_axis: bool,
) -> None:
    """Add the contacts of the triangles of two leaves; arguments as of `_which_may_touch`."""
    if a_over:
        _meet_vertices(polyhedra, m, candidates, SIDE_A, a.triangle, b.triangle)
    if b_over:
        _meet_vertices(polyhedra, m, candidates, SIDE_B, b.triangle, a.triangle)
    if a_over and b_over and (not has_axis or may_face(m, a, b, ASIDE + m.turn)):
        _meet_edges(polyhedra, m, candidates, a.triangle, b.triangle)


@inlined_kernel
def _which_may_touch(
    m: SolidPair, has_axis: bool, a: SolidNode, b: SolidNode, near: float
) -> tuple[bool, bool]:
    """Return whether vertices of node a may touch b, and whether vertices of b may touch a.

    has_axis: whether the separating axis of two convex solids is known.
    near: largest distance of features with contacts [m], used if the axis is not known.
    """
    if not has_axis:
        meet = boxes_apart(m, a, b) <= near
        return meet, meet
    if not near_along_axis(m, a, b) or (m.lean < LEAN and not may_face(m, a, b, m.lean)):
        return False, False
    return may_lie_over(m, SIDE_A, b, a), may_lie_over(m, SIDE_B, a, b)


@inner_kernel
def _meet_solids(polyhedra: Polyhedra, m: SolidPair, candidates: Records[Candidate]) -> None:
    """Add the contacts of two solids by traversing both bounding trees together.

    Of convex solids only the parts that may touch are visited (mesh.separating_axis).
    """
    near = m.near + m.rounding[0] + m.rounding[1]
    has_axis = m.separation.known != 0
    if has_axis:
        is_known = m.rise < math.inf
        if list_features_around(polyhedra, m) if is_known else list_facing_features(polyhedra, m):
            meet_facing_features(polyhedra, m, candidates)
            sort_by_name(m, candidates)
            return
    stack = m.pairs
    stack[0, 0] = polyhedra.solids[m.solid[0]].root
    stack[0, 1] = polyhedra.solids[m.solid[1]].root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node_a, node_b = stack[waiting, 0], stack[waiting, 1]
        a, b = polyhedra.nodes[node_a], polyhedra.nodes[node_b]
        a_over, b_over = _which_may_touch(m, has_axis, a, b, near)
        if not (a_over or b_over):
            continue
        if a.child <= TILE or b.child <= TILE:
            stack[waiting, 0] = hold_tile(polyhedra, a) if a.child <= TILE else node_a
            stack[waiting, 1] = hold_tile(polyhedra, b) if b.child <= TILE else node_b
            waiting += 1
            continue
        if a.child < 0 and b.child < 0:
            _meet_leaves(polyhedra, m, candidates, a, b, a_over, b_over, has_axis)
            continue
        if split_first(a, b):
            stack[waiting, 0], stack[waiting + 1, 0] = a.child, a.child + 1
            stack[waiting + 1, 1] = node_b
        else:
            stack[waiting, 1], stack[waiting + 1, 1] = b.child, b.child + 1
            stack[waiting + 1, 0] = node_a
        waiting += 2


@inlined_kernel
def _lowest_height(node: SolidNode, R: Mat3, t: Vector) -> float:
    """Return the height of the lowest corner of a node's box, placed at R and t [m]."""
    height = t[2]
    for j in range(3):
        height += R[2, j] * node.skin_center[j] - abs(R[2, j]) * node.skin_half[j]
    return height


@inner_kernel
def _clears_plane(polyhedra: Polyhedra, m: SolidPair, side: int, near: float) -> bool:
    """Return whether a convex solid is certainly higher than `near` [m] over the plane z = 0.

    The search for the lowest vertex starts from the lowest vertex of the last step.
    """
    separation, solid, R = m.separation, polyhedra.solids[m.solid[side]], m.R[side]
    if not solid.is_convex:
        separation.known = 0
        return False
    if not separation.known:
        separation.known = 1
        separation.vertex[side] = polyhedra.triangles[solid.first_triangle].vertices[0]
    lowest = climb(polyhedra, separation.vertex[side], -R[2, 0], -R[2, 1], -R[2, 2])
    separation.vertex[side] = lowest
    _, _, z = point_in_other(m, side, polyhedra.vertices[lowest].position)
    return z > near


@inner_kernel
def _meet_plane(
    polyhedra: Polyhedra, m: SolidPair, side: int, candidates: Records[Candidate]
) -> None:
    """Add the contacts of the own solid of a side with the half-space z <= 0 of the other frame."""
    R, t = m.R[side], m.t[side]
    near = m.near + m.rounding[side]
    if _clears_plane(polyhedra, m, side, near):
        return
    solid, stack = polyhedra.solids[m.solid[side]], m.stack
    stack[0] = solid.root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = polyhedra.nodes[stack[waiting]]
        if _lowest_height(node, R, t) > near:
            continue
        if node.child <= TILE:
            stack[waiting] = hold_tile(polyhedra, node)
            waiting += 1
        elif node.child >= 0 and (node.corner_count > _FEW_CORNERS or solid.grid >= 0):
            stack[waiting], stack[waiting + 1] = node.child, node.child + 1
            waiting += 2
        else:
            _meet_plane_with_node(polyhedra, m, side, candidates, node, near)


@inlined_kernel
def _meet_plane_with_node(
    polyhedra: Polyhedra,
    m: SolidPair,
    side: int,
    candidates: Records[Candidate],
    node: SolidNode,
    near: float,
) -> None:
    """Add the contacts of the own vertices in a node below `near` [m] with the half-space z <= 0.

    The node is a leaf of a tile, or has few corners.
    """
    R, t = m.R[side], m.t[side]
    for k in range(node.first_corner, node.first_corner + node.corner_count):
        p = polyhedra.corners[k].position
        if R[2, 0] * p[0] + R[2, 1] * p[1] + R[2, 2] * p[2] + t[2] <= near:
            vertex = polyhedra.corners[k].vertex
            _meet_plane_with_vertex(polyhedra, m, side, candidates, vertex, near)
    if polyhedra.solids[m.solid[side]].grid >= 0:
        face = polyhedra.triangles[node.triangle]
        for k in range(3):
            if face.owned & (1 << k):
                _meet_plane_with_vertex(polyhedra, m, side, candidates, face.vertices[k], near)


@inner_kernel
def _meet_plane_with_vertex(
    polyhedra: Polyhedra,
    m: SolidPair,
    side: int,
    candidates: Records[Candidate],
    vertex: Index,
    near: float,
) -> None:
    """Add the contact of an own vertex below `near` [m] with the half-space z <= 0, if any."""
    record = polyhedra.vertices[vertex]
    x, y, z = point_in_other(m, side, record.position)
    if z > near or not vertex_supports(polyhedra, m, side, vertex, 0.0, 0.0, 1.0, LEAN):
        return
    _, _, climb = velocity_at(m, side, x, y, z)
    if closes(m, z - m.rounding[side], -climb):
        add_candidate(
            m, candidates, side, VERTEX_FACE if side == 0 else FACE_VERTEX,
            feature_code(A_VERTEX, record.number), feature_code(A_FACE, _THE_FACET),
            NO_TRIANGLE, x, y, z, 0.0, 0.0, 1.0, z,
        )  # fmt: skip


@inner_kernel
def find_candidates(polyhedra: Polyhedra, m: SolidPair, candidates: Records[Candidate]) -> None:
    """Find all contacts of the two solids placed in `m`, and add them to `candidates`.

    A solid with the number -1 is a half-space.
    """
    if m.solid[0] < 0:
        _meet_plane(polyhedra, m, SIDE_B, candidates)
    elif m.solid[1] < 0:
        _meet_plane(polyhedra, m, SIDE_A, candidates)
    else:
        if are_apart(polyhedra, m):
            return
        if m.separation.known:
            limit_contacts(polyhedra, m)
        if polyhedra.solids[m.solid[0]].cylinder_radius > 0.0:
            meet_cylinder(polyhedra, m, SIDE_A, candidates)
        elif polyhedra.solids[m.solid[1]].cylinder_radius > 0.0:
            meet_cylinder(polyhedra, m, SIDE_B, candidates)
        else:
            _meet_solids(polyhedra, m, candidates)
        take_out_hidden(polyhedra, m, candidates)
        mend_deep_overlap(polyhedra, m, candidates)
        drop_high(m, candidates)
        remember_normal(m, candidates)


@inner_kernel
def mesh_contacts(
    polyhedra: Polyhedra, m: SolidPair, candidates: Records[Candidate], out: Manifold
) -> int:
    """Write the contacts of the two solids in `m`, and return their number (0..MAX_MESH_POINTS).

    `out` has the same fields as in engine.collision.manifold.collide, with MAX_MESH_POINTS rows.
    """
    find_candidates(polyhedra, m, candidates)
    return reduce_candidates(polyhedra, m, candidates, out)
