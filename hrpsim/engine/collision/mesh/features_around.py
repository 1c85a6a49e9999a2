# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""List the features of two touching dense solids around the contact of the last step.

The search starts at the triangle of each solid that has the reference point, and goes on across
edges. A triangle may have contacts at a distance r from the reference point if its plane rises by
at most m.rise + m.spread r on the way. Along a ray from the reference point, the slope of a convex
surface only grows. Such triangles therefore are connected, and all others may be left out.
"""

import math

import numpy as np

from hrpsim.engine.collision.mesh.facing_features import (
    EDGE_ROOM,
    FACE_ROOM,
    TRIANGLE_ROOM,
    VERTEX_ROOM,
    bound_blocks,
    is_in_box,
    lay_axes,
    list_edge,
    list_face,
    place_in_axes,
    reach_across,
    rises_little,
    turned_to_axes,
)
from hrpsim.engine.collision.solids.polyhedra import CONVEX, Polyhedra
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Facing, Index, SolidPair, Triangle

# Room for the numbers that a search has come to, a power of two, and how many may be in use.
SEEN_ROOM = 2048
_SEEN_MOST = 1024
_STAMP = np.int64(2**40)
_SIDE_A, _SIDE_B = np.int64(0), np.int64(1)


@inner_kernel
def list_features_around(polyhedra: Polyhedra, m: SolidPair) -> bool:
    """Write the features of both solids that may touch to m.facing.

    Call `limit_contacts` before, which writes the limits. m.rise must be finite.

    Returns:
        Whether the arrays have room for all these features.
    """
    lay_axes(m)
    m.facing[0].low[:], m.facing[0].high[:] = -math.inf, math.inf
    if not _find_triangles(polyhedra, m, _SIDE_B) or not _find_triangles(polyhedra, m, _SIDE_A):
        return False
    return _list_features(polyhedra, m, _SIDE_A) and _list_features(polyhedra, m, _SIDE_B)


@inlined_kernel
def _begin_search(m: SolidPair) -> None:
    """Forget the numbers that the last search has come to."""
    m.search, m.seen_count = m.search + 1, 0


@inlined_kernel
def _is_new(m: SolidPair, number: Index) -> bool:
    """Return whether a search comes to a number for the first time."""
    mark, slot = m.search * _STAMP + number, number & (SEEN_ROOM - 1)
    while m.seen[slot] >= m.search * _STAMP:
        if m.seen[slot] == mark:
            return False
        slot = (slot + 1) & (SEEN_ROOM - 1)
    m.seen[slot] = mark
    m.seen_count += 1
    return True


@inner_kernel
def _find_triangles(polyhedra: Polyhedra, m: SolidPair, side: int) -> bool:
    """List the triangles of a solid that may have contacts, and write their bounding box.

    Returns:
        Whether the triangles fit into the list.
    """
    own, other, reach = m.facing[side], m.facing[1 - side], reach_across(m)
    own.low[:], own.high[:] = math.inf, -math.inf
    own.triangle_count = 0
    _begin_search(m)
    first = m.separation.entered[side]
    if not (_is_new(m, first) and _may_touch(polyhedra, m, own, first, other, reach)):
        return False
    own.triangles[0], own.triangle_count = first, 1
    number = 0
    while number < own.triangle_count:
        face = polyhedra.triangles[own.triangles[number]]
        number += 1
        for k in range(3):
            beside = face.beside[k]
            if not (_is_new(m, beside) and _may_touch(polyhedra, m, own, beside, other, reach)):
                continue
            if own.triangle_count == TRIANGLE_ROOM or m.seen_count >= _SEEN_MOST:
                return False
            own.triangles[own.triangle_count] = beside
            own.triangle_count += 1
    return True


@inner_kernel
def _may_touch(
    polyhedra: Polyhedra, m: SolidPair, own: Facing, number: Index, other: Facing, reach: float
) -> bool:
    """Return whether a triangle may have contacts. If so, grow the box of its solid's triangles."""
    face = polyhedra.triangles[number]
    nx, ny = turned_to_axes(own, face.normal, 0), turned_to_axes(own, face.normal, 1)
    low_x = low_y = low_z = math.inf
    high_x = high_y = high_z = -math.inf
    is_flat = False
    for k in range(3):
        p = polyhedra.vertices[face.vertices[k]].position
        x, y, z = place_in_axes(own, p, 0), place_in_axes(own, p, 1), place_in_axes(own, p, 2)
        is_flat |= rises_little(m, nx, ny, x, y)
        low_x, low_y, low_z = min(low_x, x), min(low_y, y), min(low_z, z)
        high_x, high_y, high_z = max(high_x, x), max(high_y, y), max(high_z, z)
    s, t, low, high = other.low, other.high, own.low, own.high
    if not is_flat or low_x > t[0] + reach or high_x < s[0] - reach:
        return False
    if low_y > t[1] + reach or high_y < s[1] - reach:
        return False
    low[0], low[1], low[2] = min(low[0], low_x), min(low[1], low_y), min(low[2], low_z)
    high[0], high[1], high[2] = max(high[0], high_x), max(high[1], high_y), max(high[2], high_z)
    return True


@inner_kernel
def _list_features(polyhedra: Polyhedra, m: SolidPair, side: int) -> bool:
    """List the features of the listed triangles that the other solid may reach.

    Returns:
        Whether the features fit into the lists.
    """
    own, other = m.facing[side], m.facing[1 - side]
    reach = max(m.farthest, m.deepest) + m.aside
    own.face_count = own.edge_count = own.vertex_count = 0
    upward = -1.0 if side == 0 else 1.0
    _begin_search(m)
    for i in range(own.triangle_count):
        number = own.triangles[i]
        face = polyhedra.triangles[number]
        if own.face_count == FACE_ROOM or m.seen_count >= _SEEN_MOST:
            return False
        if upward * turned_to_axes(own, face.normal, 2) >= 1.0 - 0.5 * m.cap * m.cap:
            list_face(polyhedra, m, own, number, other)
        for k in range(3):
            if face.bend[k] == CONVEX and _is_new(m, 2 * face.edges[k]):
                if own.edge_count == EDGE_ROOM:
                    return False
                list_edge(polyhedra, m, own, face.edges[k], other, reach)
        if not _list_vertices(polyhedra, m, own, face, other, reach):
            return False
    bound_blocks(own.faces, own.face_count, own.face_blocks)
    bound_blocks(own.edges, own.edge_count, own.edge_blocks)
    return True


@inlined_kernel
def _list_vertices(
    polyhedra: Polyhedra, m: SolidPair, own: Facing, face: Triangle, other: Facing, reach: float
) -> bool:
    """List the sharp vertices of a triangle to which its plane rises little.

    Returns:
        Whether the vertices fit into the list.
    """
    nx, ny = turned_to_axes(own, face.normal, 0), turned_to_axes(own, face.normal, 1)
    for k in range(3):
        vertex = polyhedra.vertices[face.vertices[k]]
        if vertex.is_sharp == 0:
            continue
        if own.vertex_count == VERTEX_ROOM:
            return False
        listed_vertex = own.vertices[own.vertex_count]
        for r in range(3):
            listed_vertex.place[r] = place_in_axes(own, vertex.position, r)
        if not rises_little(m, nx, ny, listed_vertex.place[0], listed_vertex.place[1]):
            continue
        if is_in_box(listed_vertex.place, other, reach) and _is_new(m, 2 * face.vertices[k] + 1):
            listed_vertex.vertex = face.vertices[k]
            own.vertex_count += 1
    return True
