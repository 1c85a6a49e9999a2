# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of two convex solids, between features that may touch (mesh.facing_features)."""

from hrpsim.engine.collision.mesh.edge_contacts import FACE_TO_FACE, meet_edges
from hrpsim.engine.collision.mesh.facing_features import (
    BLOCK,
    block_count,
    boxes_meet,
    farthest_within,
    is_in_box,
    passes_beside,
)
from hrpsim.engine.collision.mesh.solid_pair import (
    A_VERTEX,
    AN_EDGE,
    SIDE_A,
    SIDE_B,
    feature_code,
    point_in_other,
)
from hrpsim.engine.collision.mesh.vertex_contacts import meet_face, meet_vertex, touch_edge
from hrpsim.engine.collision.solids.polyhedra import Polyhedra
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Candidate, Records, SolidPair, Vec3


@inner_kernel
def meet_facing_features(
    polyhedra: Polyhedra, m: SolidPair, candidates: Records[Candidate]
) -> None:
    """Add the contacts of the features of two convex solids that may touch (m.facing)."""
    _meet_facing_vertices(polyhedra, m, candidates, SIDE_A)
    _meet_facing_vertices(polyhedra, m, candidates, SIDE_B)
    on_a, on_b = m.facing[0], m.facing[1]
    for i in range(on_a.edge_count):
        low, high = on_a.edges[i].low, on_a.edges[i].high
        reach = max(farthest_within(m, low, high), m.deepest) + m.aside
        for block in range(block_count(on_b.edge_count)):
            if boxes_meet(on_a.edges[i], on_b.edge_blocks[block], reach):
                _meet_block_of_edges(polyhedra, m, candidates, i, block, reach)


@inlined_kernel
def _meet_block_of_edges(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    number: int,
    block: int,
    reach: float,
) -> None:
    """Add the contacts of a listed edge of a with a block of the listed edges of b."""
    a, on_b, slack = m.facing[0].edges[number], m.facing[1], FACE_TO_FACE + m.turn
    for j in range(BLOCK * block, min(BLOCK * (block + 1), on_b.edge_count)):
        b = on_b.edges[j]
        if not boxes_meet(a, b, reach):
            continue
        if passes_beside(a, b, slack) or passes_beside(b, a, slack):
            continue
        edge_a, edge_b = polyhedra.edges[a.edge], polyhedra.edges[b.edge]
        meet_edges(
            polyhedra, m, candidates, edge_a, feature_code(AN_EDGE, edge_a.number),
            edge_b, feature_code(AN_EDGE, edge_b.number),
        )  # fmt: skip


@inner_kernel
def _meet_facing_vertices(
    polyhedra: Polyhedra, m: SolidPair, candidates: Records[Candidate], side: int
) -> None:
    """Add the contacts of the listed vertices of one solid with the listed features of the other.

    Contacts of two vertices are added for side 0 only, so that no contact is added twice.
    """
    own, other = m.facing[side], m.facing[1 - side]
    for i in range(own.vertex_count):
        number, place = own.vertices[i].vertex, own.vertices[i].place
        vertex = polyhedra.vertices[number]
        x, y, z = point_in_other(m, side, vertex.position)
        code = feature_code(A_VERTEX, vertex.number)
        reach = farthest_within(m, place, place) + m.aside
        for block in range(block_count(other.face_count)):
            if is_in_box(place, other.face_blocks[block], 0.0):
                for j in range(BLOCK * block, min(BLOCK * (block + 1), other.face_count)):
                    if is_in_box(place, other.faces[j], 0.0):
                        triangle = other.faces[j].triangle
                        meet_face(polyhedra, m, candidates, side, number, code, x, y, z, triangle)
        for block in range(block_count(other.edge_count)):
            if is_in_box(place, other.edge_blocks[block], reach):
                _touch_block_of_edges(
                    polyhedra, m, candidates, side, i, code, x, y, z, block, reach
                )
        if side == 0:
            for j in range(other.vertex_count):
                if _are_near(place, other.vertices[j].place, reach):
                    second = other.vertices[j].vertex
                    meet_vertex(polyhedra, m, candidates, side, number, code, x, y, z, second)


@inlined_kernel  # many parameters: vectors as three numbers stay in registers
def _touch_block_of_edges(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    side: int,
    number: int,
    code: int,
    x: float,
    y: float,
    z: float,
    block: int,
    reach: float,
) -> None:
    """Add the contacts of a listed vertex at x with a block of the other solid's listed edges."""
    own, other = m.facing[side].vertices[number], m.facing[1 - side]
    for j in range(BLOCK * block, min(BLOCK * (block + 1), other.edge_count)):
        if is_in_box(own.place, other.edges[j], reach):
            edge = polyhedra.edges[other.edges[j].edge]
            touch_edge(
                polyhedra, m, candidates, side, own.vertex, code, x, y, z, edge,
                feature_code(AN_EDGE, edge.number),
            )  # fmt: skip


@inlined_kernel
def _are_near(p: Vec3, q: Vec3, reach: float) -> bool:
    """Return whether two points are within `reach` [m] along all axes."""
    return (abs(p[0] - q[0]) <= reach) & (abs(p[1] - q[1]) <= reach) & (abs(p[2] - q[2]) <= reach)
