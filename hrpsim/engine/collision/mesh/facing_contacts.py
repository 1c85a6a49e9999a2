# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of two convex solids, of the features that may touch (mesh.facing_features)."""

from hrpsim.engine.collision.mesh.edge_contacts import FACE_TO_FACE, meet_edges
from hrpsim.engine.collision.mesh.facing_features import boxes_meet, is_in_box, passes_beside
from hrpsim.engine.collision.mesh.solid_pair import (
    A_VERTEX,
    AN_EDGE,
    SIDE_A,
    SIDE_B,
    feature_code,
    point_in_other,
)
from hrpsim.engine.collision.mesh.vertex_contacts import meet_face, meet_vertex, touch_edge
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel


@inner_kernel
def meet_facing_features(polyhedra, m, candidates):
    """Add the contacts of the features of two convex solids that may touch (m.facing)."""
    _meet_facing_vertices(polyhedra, m, candidates, SIDE_A)
    _meet_facing_vertices(polyhedra, m, candidates, SIDE_B)
    first_a = polyhedra.solids[m.solid[0]].first_edge
    first_b = polyhedra.solids[m.solid[1]].first_edge
    on_a, on_b = m.facing[0], m.facing[1]
    reach, slack = max(m.farthest, m.deepest) + m.aside, FACE_TO_FACE + m.turn
    for i in range(on_a.edge_count):
        a = on_a.edges[i]
        for j in range(on_b.edge_count):
            b = on_b.edges[j]
            if not boxes_meet(a, b, reach):
                continue
            if passes_beside(a, b, slack) or passes_beside(b, a, slack):
                continue
            meet_edges(
                polyhedra, m, candidates,
                polyhedra.edges[a.edge], feature_code(AN_EDGE, a.edge - first_a),
                polyhedra.edges[b.edge], feature_code(AN_EDGE, b.edge - first_b),
            )  # fmt: skip


@inner_kernel
def _meet_facing_vertices(polyhedra, m, candidates, side):
    """Add the contacts of the listed vertices of one solid with the listed features of the other.

    Two vertices are met on side 0 only.
    """
    own, other = m.facing[side], m.facing[1 - side]
    first = polyhedra.solids[m.solid[side]].first_vertex
    first_edge = polyhedra.solids[m.solid[1 - side]].first_edge
    for i in range(own.vertex_count):
        number, place = own.vertices[i].vertex, own.vertices[i].place
        x, y, z = point_in_other(m, side, polyhedra.vertices[number].position)
        code = feature_code(A_VERTEX, number - first)
        for j in range(other.face_count):
            if is_in_box(place, other.faces[j], 0.0):
                triangle = other.faces[j].triangle
                meet_face(polyhedra, m, candidates, side, number, code, x, y, z, triangle)
        for j in range(other.edge_count):
            if is_in_box(place, other.edges[j], m.farthest):
                edge = other.edges[j].edge
                touch_edge(
                    polyhedra, m, candidates, side, number, code, x, y, z, polyhedra.edges[edge],
                    feature_code(AN_EDGE, edge - first_edge),
                )  # fmt: skip
        if side == 0:
            for j in range(other.vertex_count):
                if _are_near(place, other.vertices[j].place, m.farthest):
                    second = other.vertices[j].vertex
                    meet_vertex(polyhedra, m, candidates, side, number, code, x, y, z, second)


@inlined_kernel
def _are_near(p, q, reach: float):
    """Return whether two points are within `reach` [m] along all axes."""
    return (abs(p[0] - q[0]) <= reach) & (abs(p[1] - q[1]) <= reach) & (abs(p[2] - q[2]) <= reach)
