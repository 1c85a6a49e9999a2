# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Faces and edges of a height field, by index arithmetic.

Point (i, j) of a grid has i along x. Cell (i, j) between the points (i, j) = a, (i + 1, j) = b,
(i + 1, j + 1) = c and (i, j + 1) = d has face 0 = (a, b, c) and face 1 = (a, c, d).

Six edges leave a point, numbered 0 to 5 clockwise as seen from above, from the edge along y. The
faces around a point are its ring. Face r of the ring lies between the edges r and r + 1. A point
owns its edges 0, 2 and 1, of kinds 0, 1 and 2. With n points along y:

- number of point (i, j): n i + j,
- number of an edge: 3 times the number of its owner, plus the kind,
- number of face k of a cell: 2 ((n - 1) i + j) + k.

An edge has the face of lower number on its left. All numbers have the same order as in
engine.collision.solids.features for the same surface.
"""

import math

import numpy as np

from hrpsim.engine.collision.solids.polyhedra import CONCAVE, CONVEX, FLAT, FLAT_ANGLE, Polyhedra
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Edge, Grid, Index

# From (i, j): the point at the end of each edge of a ring; cell and number of each of its faces.
RING_I, RING_J = (0, 1, 1, 0, -1, -1), (1, 1, 0, -1, -1, 0)
_CELL_I, _CELL_J, _FACE = (0, 0, 0, -1, -1, -1), (0, 0, -1, -1, -1, 0), (1, 0, 1, 0, 1, 0)
_FLAT = math.tan(FLAT_ANGLE)
# The edge of a ring of each kind.
EDGE_OF_KIND = (0, 2, 1)


@inlined_kernel
def point(polyhedra: Polyhedra, grid: Grid, i: Index, j: Index) -> tuple[float, float, float]:
    """Return the position of point (i, j) in the field's frame [m]."""
    z = polyhedra.heights[grid.first_height + i * (grid.cells[1] + 1) + j]
    return grid.start[0] + i * grid.step[0], grid.start[1] + j * grid.step[1], z


@inlined_kernel
def is_point(grid: Grid, i: Index, j: Index) -> bool:
    """Return whether the grid has point (i, j)."""
    return 0 <= i <= grid.cells[0] and 0 <= j <= grid.cells[1]


@inner_kernel
def slopes(polyhedra: Polyhedra, grid: Grid, i: Index, j: Index, face: int) -> tuple[float, float]:
    """Return the slopes of a face of cell (i, j) along x and y."""
    row = grid.first_height + i * (grid.cells[1] + 1) + j
    a, d = polyhedra.heights[row], polyhedra.heights[row + 1]
    row += grid.cells[1] + 1
    b, c = polyhedra.heights[row], polyhedra.heights[row + 1]
    if face == 0:
        return (b - a) / grid.step[0], (c - b) / grid.step[1]
    return (c - d) / grid.step[0], (d - a) / grid.step[1]


@inner_kernel
def normal_of_face(
    polyhedra: Polyhedra, grid: Grid, i: Index, j: Index, face: int
) -> tuple[float, float, float]:
    """Return the unit normal of a face of cell (i, j)."""
    x, y = slopes(polyhedra, grid, i, j, face)
    up = 1.0 / math.sqrt(x * x + y * y + 1.0)
    return -x * up, -y * up, up


@inlined_kernel
def face_of_ring(grid: Grid, i: Index, j: Index, r: Index) -> tuple[int, int, int]:
    """Return the face r in the ring of faces around point (i, j).

    Returns:
        (i of the cell, j of the cell, number of the face in the cell). The number is -1 if there is
        no such face.
    """
    cell_i, cell_j = i + _CELL_I[r], j + _CELL_J[r]
    there = 0 <= cell_i < grid.cells[0] and 0 <= cell_j < grid.cells[1]
    return cell_i, cell_j, (_FACE[r] if there else -1)


@inlined_kernel
def runs_away(grid: Grid, i: Index, j: Index, r: Index) -> bool:
    """Return whether edge r of grid point (i, j) is directed away from the point."""
    left_i, left_j, left = face_of_ring(grid, i, j, (r + 5) % 6)
    right_i, right_j, right = face_of_ring(grid, i, j, r)
    if left < 0 or right < 0:
        return left >= 0
    if left_i != right_i or left_j != right_j:
        return left_i < right_i or (left_i == right_i and left_j < right_j)
    return left < right


@inner_kernel
def place_edge(
    polyhedra: Polyhedra, grid: Grid, i: Index, j: Index, r: Index, edge_out: Edge
) -> bool:
    """Write position, face normals and inward directions of edge r of point (i, j).

    Returns:
        Whether the edge is on the boundary. The second face is then a vertical wall.
    """
    away = runs_away(grid, i, j, r)
    x, y, z = point(polyhedra, grid, i, j)
    dx, dy, dz = point(polyhedra, grid, i + RING_I[r], j + RING_J[r])
    dx, dy, dz = dx - x, dy - y, dz - z
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    if not away:
        x, y, z, dx, dy, dz = x + dx, y + dy, z + dz, -dx, -dy, -dz
    edge_out.length = length
    dx, dy, dz = dx / length, dy / length, dz / length
    edge_out.start[0], edge_out.start[1], edge_out.start[2] = x, y, z
    edge_out.direction[0], edge_out.direction[1], edge_out.direction[2] = dx, dy, dz
    left, right = (r + 5) % 6, r
    ci, cj, face = face_of_ring(grid, i, j, left if away else right)
    nx, ny, nz = normal_of_face(polyhedra, grid, ci, cj, face)
    ux, uy, uz = ny * dz - nz * dy, nz * dx - nx * dz, nx * dy - ny * dx
    ci, cj, face = face_of_ring(grid, i, j, right if away else left)
    n, inward = edge_out.normals, edge_out.inward
    n[0, 0], n[0, 1], n[0, 2] = nx, ny, nz
    inward[0, 0], inward[0, 1], inward[0, 2] = ux, uy, uz
    if face < 0:
        n[1, 0], n[1, 1], n[1, 2] = -ux, -uy, -uz
        inward[1, 0], inward[1, 1], inward[1, 2] = -nx, -ny, -nz
        return True
    mx, my, mz = normal_of_face(polyhedra, grid, ci, cj, face)
    n[1, 0], n[1, 1], n[1, 2] = mx, my, mz
    inward[1, 0], inward[1, 1] = dy * mz - dz * my, dz * mx - dx * mz
    inward[1, 2] = dx * my - dy * mx
    return False


@inner_kernel
def bend_of_edge(polyhedra: Polyhedra, grid: Grid, i: Index, j: Index, r: Index) -> int:
    """Return whether edge r of point (i, j) is CONVEX, FLAT or CONCAVE."""
    li, lj, left = face_of_ring(grid, i, j, (r + 5) % 6)
    ri, rj, right = face_of_ring(grid, i, j, r)
    if left < 0 or right < 0:
        return CONVEX
    x, y = slopes(polyhedra, grid, li, lj, left)
    u, v = slopes(polyhedra, grid, ri, rj, right)
    # along the edge, away from (i, j)
    dx, dy = RING_I[r] * grid.step[0], RING_J[r] * grid.step[1]
    dz = dx * x + dy * y
    sine = ((v - y) * dx - (u - x) * dy + (x * v - y * u) * dz) / math.sqrt(
        dx * dx + dy * dy + dz * dz
    )
    if abs(sine) <= _FLAT * (1.0 + x * u + y * v):
        return FLAT
    return CONVEX if sine > 0.0 else CONCAVE


@inlined_kernel
def facet_of(polyhedra: Polyhedra, grid: Grid, i: Index, j: Index, face: int) -> int:
    """Return the facet of a face of cell (i, j)."""
    return np.int64(polyhedra.facets[grid.first_facet + 2 * (i * grid.cells[1] + j) + face])
