# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of solids with faces, edges and vertices: of meshes with all kinds of shapes.

Kernels call the SOLID_PAIR record `m`. This record has two solids, their poses and motions in the
frame of each other, and work space. `side` is 0 for data of solid a, 1 for data of solid b.

Contacts of features are local. The depth of two deeply overlapping convex solids, and the direction
of their shortest separation, depend on the solids as a whole. One contact along that direction
replaces contacts that are less deep than the solids.
"""

import math

import numpy as np

from hrpsim.engine.collision.mesh.contact_reduction import reduce_candidates
from hrpsim.engine.collision.mesh.cylinder_contacts import meet_cylinder
from hrpsim.engine.collision.mesh.edge_contacts import meet_edges
from hrpsim.engine.collision.mesh.expanding_polytope import find_penetration, witness_of_penetration
from hrpsim.engine.collision.mesh.facing_contacts import meet_facing_features
from hrpsim.engine.collision.mesh.facing_features import list_facing_features
from hrpsim.engine.collision.mesh.hidden_sides import take_out_hidden
from hrpsim.engine.collision.mesh.separating_axis import (
    ASIDE,
    are_apart,
    may_face,
    may_lie_over,
    near_along_axis,
    remember_normal,
)
from hrpsim.engine.collision.mesh.solid_pair import (
    A_FACE,
    A_SOLID,
    A_VERTEX,
    AN_EDGE,
    DEEP,
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
from hrpsim.engine.collision.mesh.tree_queries import boxes_apart, farthest_point, split_first
from hrpsim.engine.collision.mesh.vertex_contacts import meet_with_vertex, vertex_supports
from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.engine.spatial.vector import transposed_times

_THE_SOLID = np.int64(0)  # there is one on each side
# The deepest contact has the penetration depth if it differs from that by no more than this part of
# it, and so many rims (of 1e-4 of the half of the smaller one's least extent).
_SHARE, _RIMS = 0.1, 10.0
_THE_FACET = np.int64(0)  # a half-space has one


@inner_kernel
def _meet_vertices(polyhedra, m, candidates, side, number, other):
    """Add the contacts of the vertices that an own triangle owns with another's features."""
    triangle = polyhedra.triangles[number]
    for k in range(3):
        if triangle.owned & (1 << k):
            meet_with_vertex(polyhedra, m, candidates, side, triangle.vertices[k], other)


@inner_kernel
def _meet_edges(polyhedra, m, candidates, number_a, number_b):
    """Add the contacts between the edges that two triangles own."""
    a, b = polyhedra.triangles[number_a], polyhedra.triangles[number_b]
    for i in range(3):
        if a.owned & (8 << i):
            for j in range(3):
                if b.owned & (8 << j):
                    edge_a, edge_b = a.edges[i], b.edges[j]
                    first_a = polyhedra.solids[m.solid[0]].first_edge
                    first_b = polyhedra.solids[m.solid[1]].first_edge
                    meet_edges(
                        polyhedra, m, candidates,
                        polyhedra.edges[edge_a], feature_code(AN_EDGE, edge_a - first_a),
                        polyhedra.edges[edge_b], feature_code(AN_EDGE, edge_b - first_b),
                    )  # fmt: skip


@inner_kernel
def _meet_solids(polyhedra, m, candidates):
    """Add the contacts of two solids: walk both trees where their boxes are near each other.

    Of convex solids only the parts that may touch are visited (mesh.separating_axis).
    """
    near = m.near + m.rounding[0] + m.rounding[1]
    has_axis = m.separation.known != 0
    if has_axis and list_facing_features(polyhedra, m):
        meet_facing_features(polyhedra, m, candidates)
        return
    stack = m.pairs
    stack[0, 0] = polyhedra.solids[m.solid[0]].root
    stack[0, 1] = polyhedra.solids[m.solid[1]].root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node_a, node_b = stack[waiting, 0], stack[waiting, 1]
        a, b = polyhedra.nodes[node_a], polyhedra.nodes[node_b]
        a_over = b_over = True
        if has_axis:
            if not near_along_axis(m, a, b):
                continue
            if m.lean < LEAN and not may_face(m, a, b, m.lean):
                continue
            a_over, b_over = may_lie_over(m, SIDE_A, b, a), may_lie_over(m, SIDE_B, a, b)
            if not (a_over or b_over):
                continue
        elif boxes_apart(m, a, b) > near:
            continue
        if a.child < 0 and b.child < 0:
            if a_over:
                _meet_vertices(polyhedra, m, candidates, SIDE_A, a.triangle, b.triangle)
            if b_over:
                _meet_vertices(polyhedra, m, candidates, SIDE_B, b.triangle, a.triangle)
            if a_over and b_over and (not has_axis or may_face(m, a, b, ASIDE + m.turn)):
                _meet_edges(polyhedra, m, candidates, a.triangle, b.triangle)
            continue
        if split_first(a, b):
            stack[waiting, 0], stack[waiting + 1, 0] = a.child, a.child + 1
            stack[waiting + 1, 1] = node_b
        else:
            stack[waiting, 1], stack[waiting + 1, 1] = b.child, b.child + 1
            stack[waiting + 1, 0] = node_a
        waiting += 2


@inner_kernel
def _meet_plane(polyhedra, m, side, candidates):
    """Add the contacts of the own solid of a side with the half-space z <= 0 of the other frame."""
    R, t = m.R[side], m.t[side]
    near = m.near + m.rounding[side]
    first = polyhedra.solids[m.solid[side]].first_vertex
    stack = m.stack
    stack[0] = polyhedra.solids[m.solid[side]].root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = polyhedra.nodes[stack[waiting]]
        height = t[2]
        for j in range(3):
            height += R[2, j] * node.skin_center[j] - abs(R[2, j]) * node.skin_half[j]
        if height > near:
            continue
        if node.child >= 0:
            stack[waiting], stack[waiting + 1] = node.child, node.child + 1
            waiting += 2
            continue
        face = polyhedra.triangles[node.triangle]
        for k in range(3):
            if not face.owned & (1 << k):
                continue
            vertex = face.vertices[k]
            x, y, z = point_in_other(m, side, polyhedra.vertices[vertex].position)
            if z > near or not vertex_supports(polyhedra, m, side, vertex, 0.0, 0.0, 1.0, LEAN):
                continue
            _, _, climb = velocity_at(m, side, x, y, z)
            if closes(m, z - m.rounding[side], -climb):
                add_candidate(
                    m, candidates, side, VERTEX_FACE if side == 0 else FACE_VERTEX,
                    feature_code(A_VERTEX, vertex - first), feature_code(A_FACE, _THE_FACET),
                    NO_TRIANGLE, x, y, z, 0.0, 0.0, 1.0, z,
                )  # fmt: skip


@inner_kernel
def find_candidates(polyhedra, m, candidates):
    """Find all contacts of two solids placed in `m`. A solid numbered -1 is a half-space."""
    if m.solid[0] < 0:
        _meet_plane(polyhedra, m, SIDE_B, candidates)
    elif m.solid[1] < 0:
        _meet_plane(polyhedra, m, SIDE_A, candidates)
    else:
        if polyhedra.solids[m.solid[0]].cylinder_radius > 0.0:
            meet_cylinder(polyhedra, m, SIDE_A, candidates)
        elif polyhedra.solids[m.solid[1]].cylinder_radius > 0.0:
            meet_cylinder(polyhedra, m, SIDE_B, candidates)
        elif are_apart(polyhedra, m):
            return
        else:
            _meet_solids(polyhedra, m, candidates)
        take_out_hidden(polyhedra, m, candidates)
        mend_deep_overlap(polyhedra, m, candidates)
        remember_normal(m, candidates)


@inner_kernel
def mesh_contacts(polyhedra, m, candidates, out):
    """Write the contacts of the two solids in `m`, and return their number (0..MAX_MESH_POINTS).

    The outputs are the same as of engine.collision.manifold.collide, with MAX_MESH_POINTS rows.
    """
    find_candidates(polyhedra, m, candidates)
    return reduce_candidates(polyhedra, m, candidates, out)


@inner_kernel
def mend_deep_overlap(polyhedra, m, candidates):
    """Replace the contacts of two convex solids by one where they miss the penetration depth."""
    a, b = polyhedra.solids[m.solid[0]], polyhedra.solids[m.solid[1]]
    if not (a.is_convex and b.is_convex):
        return
    if m.count == 0:
        if m.separation.known and m.apart > 0.0:
            return
        if boxes_apart(m, polyhedra.nodes[a.root], polyhedra.nodes[b.root]) > 0.0:
            return
    elif _is_consistent(polyhedra, m, candidates):
        return
    if not find_penetration(polyhedra, m):
        return
    x, y, z = witness_of_penetration(polyhedra, m)
    n, whole = m.polytope.out, feature_code(A_SOLID, _THE_SOLID)
    m.count = 0
    add_candidate(
        m, candidates, SIDE_A, DEEP, whole, whole, NO_TRIANGLE, x, y, z,
        -n[0], -n[1], -n[2], -m.polytope.depth,
    )  # fmt: skip


@inner_kernel
def _is_consistent(polyhedra, m, candidates):
    """Return whether the contacts have the penetration depth of two convex solids.

    Along its normal the deepest contact of convex solids is as deep as the solids, and no other
    contact presses against it.
    """
    deepest, least = -1, math.inf
    for k in range(m.count):
        if candidates[k].how >= 0 and candidates[k].gap < least:
            deepest, least = k, candidates[k].gap
    if deepest < 0:  # a face keeps the solids apart
        return True
    n = candidates[deepest].normal
    depth = _depth_along(polyhedra, m, n)
    if depth <= _RIMS * m.rim:
        return True
    if abs(depth + least) > _SHARE * depth + _RIMS * m.rim:
        return False
    for k in range(m.count):
        w = candidates[k].normal
        pushes = candidates[k].how >= 0 and candidates[k].gap < 0.0
        if pushes and n[0] * w[0] + n[1] * w[1] + n[2] * w[2] < 0.0:
            return False
    return True


@inner_kernel
def _depth_along(polyhedra, m, normal):
    """Return the depth of a in b along a normal (3,) of the world, from b to a [m]."""
    depth = m.rounding[0] + m.rounding[1]
    for side in range(2):
        sign = -1.0 if side == 0 else 1.0
        # world_R[1] is that of a, the other frame of side 1
        R, p = m.world_R[1 - side], m.world_p[1 - side]
        x, y, z = transposed_times(R, sign * normal[0], sign * normal[1], sign * normal[2])
        vx, vy, vz = farthest_point(polyhedra, m.solid[side], x, y, z, m.stack)
        depth += x * vx + y * vy + z * vz
        for r in range(3):
            depth += sign * normal[r] * p[r]
    return depth
