# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write the records of a tile of a height field: vertices with spokes, edges and triangles.

The records are the same as the records of engine.collision.solids.features for the whole surface,
except that spokes have no end vertex (-1). Only hill climbing on convex solids needs the ends. A
*slot* is the memory of one tile. Point (a, b) counts from the first point of the tile, point (i, j)
from the first point of the field.
"""

import numpy as np

from hrpsim.engine.collision.solids.grid_depth import depth_of_face
from hrpsim.engine.collision.solids.grid_faces import (
    EDGE_OF_KIND,
    RING_I,
    RING_J,
    bend_of_edge,
    face_of_ring,
    facet_of,
    is_point,
    normal_of_face,
    place_edge,
    point,
    runs_away,
)
from hrpsim.engine.collision.solids.polyhedra import (
    CONCAVE,
    CONVEX,
    FLAT,
    TILE_ROOM,
    TILE_SIDE,
    Polyhedra,
)
from hrpsim.engine.collision.solids.sharp_vertices import is_sharp
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Edge, Grid, Index, Spoke, Triangle

_ROW = TILE_SIDE + 1  # points of a tile along y
_SPOKES = 8  # room at a vertex
_BY_NUMBER = (4, 5, 3, 0, 2, 1)  # edges of a ring in the order of their numbers
_VERTICES, _EDGES, _TRIANGLES = (
    np.int64(TILE_ROOM[name]) for name in ("vertices", "edges", "triangles")
)


@inlined_kernel
def tile_origin(grid: Grid, tile: Index) -> tuple[int, int]:
    """Return the grid indices (i, j) of the first point of a tile."""
    return tile // grid.tiles[1] * TILE_SIDE, tile % grid.tiles[1] * TILE_SIDE


@inlined_kernel
def vertex_of(grid: Grid, slot: Index, a: Index, b: Index) -> int:
    """Return the index of the vertex at point (a, b) of the tile that is stored in a slot."""
    return grid.first_vertex + slot * _VERTICES + a * _ROW + b


@inlined_kernel
def edge_of(grid: Grid, slot: Index, a: Index, b: Index, kind: Index) -> int:
    """Return the index of an edge at point (a, b) of the tile that is stored in a slot.

    kind: 0, 1 or 2 for the edges that the point owns.
    """
    return grid.first_edge + slot * _EDGES + 3 * (a * _ROW + b) + kind


@inlined_kernel
def triangle_of(grid: Grid, slot: Index, a: Index, b: Index, face: int) -> int:
    """Return the index of a triangle (face 0 or 1) of cell (a, b) of the tile stored in a slot."""
    return grid.first_triangle + slot * _TRIANGLES + 2 * (a * TILE_SIDE + b) + face


@inner_kernel
def write_records(polyhedra: Polyhedra, grid: Grid, tile: Index, slot: Index) -> None:
    """Write the vertices, spokes, edges and triangles of a tile into a slot."""
    i, j = tile_origin(grid, tile)
    most_a, most_b = min(TILE_SIDE, grid.cells[0] - i), min(TILE_SIDE, grid.cells[1] - j)
    for a in range(most_a + 1):
        for b in range(most_b + 1):
            number = vertex_of(grid, slot, a, b)
            _write_vertex(polyhedra, grid, i + a, j + b, number)
            is_sharp_here = _stands_out(polyhedra, grid, i + a, j + b, number)
            grid.sharp[a * _ROW + b] = 1 if is_sharp_here else 0
    for a in range(most_a + 1):
        for b in range(most_b + 1):
            for kind in range(3):
                r = EDGE_OF_KIND[kind]
                to_a, to_b = a + RING_I[r], b + RING_J[r]
                if to_a <= most_a and to_b <= most_b:
                    edge = polyhedra.edges[edge_of(grid, slot, a, b, kind)]
                    edge.number = 3 * ((i + a) * (grid.cells[1] + 1) + j + b) + kind
                    place_edge(polyhedra, grid, i + a, j + b, r, edge)
                    _write_depth(polyhedra, grid, i + a, j + b, r, edge)
                    sharp = grid.sharp[a * _ROW + b], grid.sharp[to_a * _ROW + to_b]
                    _find_hollows(polyhedra, grid, i + a, j + b, r, sharp, edge)
    for a in range(most_a):
        for b in range(most_b):
            for face in range(2):
                _write_triangle(polyhedra, grid, i, j, a, b, face, slot)


@inner_kernel
def _write_vertex(polyhedra: Polyhedra, grid: Grid, i: Index, j: Index, number: Index) -> None:
    """Write vertex `number` of the pool, at point (i, j), and its spokes."""
    vertex = polyhedra.vertices[number]
    vertex.number = i * (grid.cells[1] + 1) + j
    p = vertex.position
    p[0], p[1], p[2] = point(polyhedra, grid, i, j)
    vertex.first_spoke = grid.first_spoke + (number - grid.first_vertex) * _SPOKES
    last = vertex.first_spoke
    is_border = i in (0, grid.cells[0]) or j in (0, grid.cells[1])
    for walls in range(2 if is_border else 1):
        for begins in range(2):
            for k in range(6):
                r = _BY_NUMBER[k]
                if not is_point(grid, i + RING_I[r], j + RING_J[r]):
                    continue
                away = runs_away(grid, i, j, r)
                if away == (begins == 1):
                    continue
                is_wall = place_edge(polyhedra, grid, i, j, r, grid.edge)
                if walls and not is_wall:
                    continue
                _write_spoke(grid.edge, away, is_wall, walls == 1, polyhedra.spokes[last])
                last += 1
    vertex.last_spoke = last


@inlined_kernel
def _write_spoke(edge: Edge, away: bool, is_wall: bool, down: bool, spoke_out: Spoke) -> None:
    """Write the spoke along an edge, or (`down`) down the vertical wall beneath a boundary edge."""
    sign = 1.0 if away else -1.0
    spoke_out.to = -1
    for r in range(3):
        n = edge.normals[0, r]
        spoke_out.direction[r] = -n if down else sign * edge.direction[r]
        spoke_out.normals[0, r] = n
        spoke_out.normals[1, r] = n if is_wall else edge.normals[1, r]


@inlined_kernel
def _write_depth(
    polyhedra: Polyhedra, grid: Grid, i: Index, j: Index, r: Index, edge_out: Edge
) -> None:
    """Write the largest penetration at which edge r of point (i, j) has contacts."""
    edge_out.depth, edge_out.curved = grid.depth, 0
    for side in range(2):
        ci, cj, face = face_of_ring(grid, i, j, (r + 5) % 6 if side == 0 else r)
        if face >= 0:
            edge_out.depth = min(edge_out.depth, depth_of_face(polyhedra, grid, ci, cj, face))


@inner_kernel
def _stands_out(polyhedra: Polyhedra, grid: Grid, i: Index, j: Index, number: Index) -> bool:
    """Return whether the vertex `number`, at point (i, j), is sharp."""
    vertex = polyhedra.vertices[number]
    convex, is_border = 0, False
    for r in range(6):
        if is_point(grid, i + RING_I[r], j + RING_J[r]):
            convex += 1 if bend_of_edge(polyhedra, grid, i, j, r) == CONVEX else 0
        else:
            is_border = True
    if not is_border and convex < 3:
        return False
    return is_sharp(polyhedra.spokes, vertex.first_spoke, vertex.last_spoke, grid.simplex)


@inlined_kernel
def _find_hollows(
    polyhedra: Polyhedra,
    grid: Grid,
    i: Index,
    j: Index,
    r: Index,
    sharp: tuple[int, int],
    edge_out: Edge,
) -> None:
    """Mark the ends at which edge r of point (i, j) continues beneath a face (features.py).

    sharp: whether the vertices at (i, j) and at the other end are sharp.
    """
    edge_out.goes_on = 0
    if bend_of_edge(polyhedra, grid, i, j, r) != CONVEX:
        return
    away = runs_away(grid, i, j, r)
    near_end, far_end = (0, 1) if away else (1, 0)
    if not sharp[0]:
        _find_hollow(polyhedra, grid, i, j, r, near_end, edge_out)
    if not sharp[1]:
        oi, oj = i + RING_I[r], j + RING_J[r]
        _find_hollow(polyhedra, grid, oi, oj, (r + 3) % 6, far_end, edge_out)


@inner_kernel
def _find_hollow(
    polyhedra: Polyhedra, grid: Grid, i: Index, j: Index, r: Index, end: Index, edge_out: Edge
) -> None:
    """Mark the end of edge r at point (i, j) if the edge continues beneath a face there.

    The normal of the steepest such face is written as well. end: 0 if the edge starts at (i, j), 1
    if the edge ends there.
    """
    steepest = 0.0
    sign = 1.0 if end == 1 else -1.0
    d = edge_out.direction
    for k in range(2):
        # first the side of the edge's first face, which is on its left
        turns_left = (k == 0) == (end == 0)
        edge = r
        while True:
            ci, cj, face = face_of_ring(grid, i, j, (edge + 5) % 6 if turns_left else edge)
            if face < 0:
                break
            edge = (edge + 5) % 6 if turns_left else (edge + 1) % 6
            bend = bend_of_edge(polyhedra, grid, i, j, edge)
            if bend == CONVEX:
                break
            ci, cj, face = face_of_ring(grid, i, j, (edge + 5) % 6 if turns_left else edge)
            x, y, z = normal_of_face(polyhedra, grid, ci, cj, face)
            rise = -sign * (d[0] * x + d[1] * y + d[2] * z)
            if bend == CONCAVE and rise > steepest:
                steepest = rise
                beyond = edge_out.beyond[end]
                beyond[0], beyond[1], beyond[2] = x, y, z
            if bend != FLAT:
                break
    if steepest > 0.0:
        edge_out.goes_on |= 1 << end


@inlined_kernel
def _corner(face: int, k: Index) -> tuple[int, int]:
    """Return corner k of a face of a cell, relative to the cell's first point."""
    if k == 0:
        return 0, 0
    if face == 0:
        return (1, 0) if k == 1 else (1, 1)
    return (1, 1) if k == 1 else (0, 1)


@inlined_kernel
def _side(face: int, k: Index) -> tuple[int, int, int]:
    """Return the edge at side k of a face.

    Returns:
        (i, j, kind): owner of the edge relative to the cell's first point, and kind of the edge.
    """
    if face == 0:
        return (0, 0, 1) if k == 0 else ((1, 0, 0) if k == 1 else (0, 0, 2))
    return (0, 0, 2) if k == 0 else ((0, 1, 1) if k == 1 else (0, 0, 0))


@inlined_kernel
def _is_first(face: int, k: Index, i: Index, j: Index) -> bool:
    """Return whether a face of cell (i, j) is the first of the two faces at its side k."""
    if face == 0:
        return k != 0 or j == 0
    return k == 1 or (k == 2 and i == 0)


@inlined_kernel
def _owns_corner(face: int, k: Index, i: Index, j: Index) -> bool:
    """Return whether a face of cell (i, j) is the first of all faces at its corner k."""
    if face == 0:
        return k == 2 or (j == 0 and (k == 1 or i == 0))
    return k == 2 and i == 0


@inner_kernel
def _write_triangle(
    polyhedra: Polyhedra, grid: Grid, i: Index, j: Index, a: Index, b: Index, face: int, slot: Index
) -> None:
    """Write a face of cell (a, b) of the tile in a slot. Vertices and edges must exist already.

    i, j: first point of the tile.
    """
    triangle = polyhedra.triangles[triangle_of(grid, slot, a, b, face)]
    i, j = i + a, j + b
    triangle.number = 2 * (i * grid.cells[1] + j) + face
    n = triangle.normal
    n[0], n[1], n[2] = normal_of_face(polyhedra, grid, i, j, face)
    triangle.facet = facet_of(polyhedra, grid, i, j, face)
    triangle.depth = depth_of_face(polyhedra, grid, i, j, face)
    triangle.is_face, triangle.owned = 1, 0
    for k in range(3):
        ca, cb = _corner(face, k)
        vertex = vertex_of(grid, slot, a + ca, b + cb)
        triangle.vertices[k] = vertex
        if _owns_corner(face, k, i, j) and grid.sharp[(a + ca) * _ROW + b + cb]:
            triangle.owned |= 1 << k
        ea, eb, kind = _side(face, k)
        number = edge_of(grid, slot, a + ea, b + eb, kind)
        triangle.edges[k] = number
        bend = bend_of_edge(polyhedra, grid, i + ea, j + eb, EDGE_OF_KIND[kind])
        triangle.bend[k] = bend
        is_first = _is_first(face, k, i, j)
        if is_first and bend == CONVEX:
            triangle.owned |= 8 << k
        _write_side(polyhedra.edges[number], is_first, k, triangle)


@inlined_kernel
def _write_side(edge: Edge, is_first: bool, k: Index, triangle_out: Triangle) -> None:
    """Write the neighbour of a triangle across its side k.

    is_first: whether the triangle is the edge's first face.
    """
    d, n = edge.direction, triangle_out.normal
    sign = 1.0 if is_first else -1.0
    beyond = edge.normals[1 if is_first else 0]
    out = triangle_out.outward[k]
    out[0] = sign * (d[1] * n[2] - d[2] * n[1])
    out[1] = sign * (d[2] * n[0] - d[0] * n[2])
    out[2] = sign * (d[0] * n[1] - d[1] * n[0])
    for r in range(3):
        triangle_out.beyond[k, r] = beyond[r]
