# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of solids with faces, edges and vertices: meshes with each other and with all else.

Kernels call the SOLID_PAIR record `m`: two solids, how each is placed and moves in the frame of the
other, and work; `side` is 0 for what is of solid a, 1 for what is of b.
"""

from __future__ import annotations

import numpy as np

from hrpsim.collision.mesh.contact_reduction import reduce_candidates
from hrpsim.collision.mesh.deep_overlap import mend_deep_overlap
from hrpsim.collision.mesh.edge_contacts import meet_edges
from hrpsim.collision.mesh.hidden_sides import take_out_hidden
from hrpsim.collision.mesh.solid_pair import (
    A_FACE,
    A_VERTEX,
    FACE_VERTEX,
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
from hrpsim.collision.mesh.tree_queries import boxes_apart, split_first
from hrpsim.collision.mesh.vertex_contacts import LEAN, meet_with_vertex, vertex_supports
from hrpsim.jit.compiled import inner_kernel

_THE_FACET = np.int64(0)  # a half-space has one


@inner_kernel
def _meet_triangles(polyhedra, m, candidates, number_a, number_b):
    """Add the contacts between the features that two triangles own, and with their faces."""
    a, b = polyhedra.triangles[number_a], polyhedra.triangles[number_b]
    for k in range(3):
        if a.owned & (1 << k):
            meet_with_vertex(polyhedra, m, candidates, SIDE_A, a.vertices[k], number_b)
        if b.owned & (1 << k):
            meet_with_vertex(polyhedra, m, candidates, SIDE_B, b.vertices[k], number_a)
    for i in range(3):
        if a.owned & (8 << i):
            for j in range(3):
                if b.owned & (8 << j):
                    meet_edges(polyhedra, m, candidates, a.edges[i], b.edges[j])


@inner_kernel
def _meet_solids(polyhedra, m, candidates):
    """Add the contacts of two solids: walk both trees as far as they come near each other."""
    near = m.near + m.rounding[0] + m.rounding[1]
    stack = m.pairs
    stack[0, 0] = polyhedra.solids[m.solid[0]].root
    stack[0, 1] = polyhedra.solids[m.solid[1]].root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node_a, node_b = stack[waiting, 0], stack[waiting, 1]
        a, b = polyhedra.nodes[node_a], polyhedra.nodes[node_b]
        if boxes_apart(m, a, b) > near:
            continue
        if a.child < 0 and b.child < 0:
            _meet_triangles(polyhedra, m, candidates, a.triangle, b.triangle)
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
            height += R[2, j] * node.center[j] - abs(R[2, j]) * node.half[j]
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
        _meet_solids(polyhedra, m, candidates)
        take_out_hidden(polyhedra, m, candidates)
        mend_deep_overlap(polyhedra, m, candidates)


@inner_kernel
def mesh_contacts(polyhedra, m, candidates, out):
    """Write the contacts of two solids placed in `m`; return how many (0..MAX_MESH_POINTS).

    The outputs are those of hrpsim.collision.manifold.collide, with MAX_MESH_POINTS rows.
    """
    find_candidates(polyhedra, m, candidates)
    return reduce_candidates(polyhedra, m, candidates, out)
