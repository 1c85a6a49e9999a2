# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The bounding tree over the triangles of a tile of a height field."""

import numpy as np

from hrpsim.engine.collision.solids.polyhedra import LEAF, TILE_ROOM, TILE_SIDE, Polyhedra
from hrpsim.engine.collision.solids.tile_records import tile_origin, triangle_of
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Grid, Index, SolidNode

_NODES = np.int64(TILE_ROOM["nodes"])


@inlined_kernel
def root_of(grid: Grid, slot: Index) -> int:
    """Return the index of the root node of the tile that is stored in a slot."""
    return grid.first_node + slot * _NODES


@inner_kernel
def write_tree(polyhedra: Polyhedra, grid: Grid, tile: Index, slot: Index) -> None:
    """Write the nodes over the triangles of the tile in a slot, the root first.

    Every split halves the cells along the longer side. `grid.parts` holds for each node the first
    cell, the numbers of cells along both axes, and the face (-1 for both faces).
    """
    i, j = tile_origin(grid, tile)
    root, parts, count = root_of(grid, slot), grid.parts, 1
    parts[0, 0] = parts[0, 1] = 0
    parts[0, 2], parts[0, 3] = min(TILE_SIDE, grid.cells[0] - i), min(TILE_SIDE, grid.cells[1] - j)
    parts[0, 4] = -1
    k = 0
    while k < count:
        node, part = polyhedra.nodes[root + k], parts[k]
        for r in range(3):
            node.least_normal[r], node.most_normal[r] = -1.0, 1.0
        node.child, node.triangle = LEAF, -1
        if part[4] >= 0:
            node.triangle = triangle_of(grid, slot, part[0], part[1], part[4])
        else:
            node.child = root + count
            for half in range(2):
                _split(parts, k, half, count + half)
            count += 2
        k += 1
    for k in range(count - 1, -1, -1):
        node = polyhedra.nodes[root + k]
        if node.child < 0:
            _fit_leaf(polyhedra, node)
        else:
            _fit_inner(polyhedra.nodes[node.child], polyhedra.nodes[node.child + 1], node)


@inlined_kernel
def _split(parts: np.ndarray, whole: Index, half: int, part: Index) -> None:
    """Write one half of the cells of a node, or one face of its only cell."""
    for c in range(5):
        parts[part, c] = parts[whole, c]
    if parts[whole, 2] == 1 and parts[whole, 3] == 1:
        parts[part, 4] = half
        return
    axis = 0 if parts[whole, 2] >= parts[whole, 3] else 1
    first = parts[whole, 2 + axis] // 2
    if half == 0:
        parts[part, 2 + axis] = first
    else:
        parts[part, axis] += first
        parts[part, 2 + axis] -= first


@inner_kernel
def _fit_leaf(polyhedra: Polyhedra, node_out: SolidNode) -> None:
    """Write both boxes of a leaf: around its triangle, and around the triangle with its depth."""
    triangle = polyhedra.triangles[node_out.triangle]
    a = polyhedra.vertices[triangle.vertices[0]].position
    b = polyhedra.vertices[triangle.vertices[1]].position
    c = polyhedra.vertices[triangle.vertices[2]].position
    for r in range(3):
        low, high = min(a[r], b[r], c[r]), max(a[r], b[r], c[r])
        node_out.skin_center[r], node_out.skin_half[r] = 0.5 * (low + high), 0.5 * (high - low)
        inward = -triangle.depth * triangle.normal[r]
        low, high = min(low, low + inward), max(high, high + inward)
        node_out.center[r], node_out.half[r] = 0.5 * (low + high), 0.5 * (high - low)


@inlined_kernel
def _fit_inner(first: SolidNode, second: SolidNode, node_out: SolidNode) -> None:
    """Write the boxes of a node, which enclose the boxes of its children."""
    for r in range(3):
        low = min(first.center[r] - first.half[r], second.center[r] - second.half[r])
        high = max(first.center[r] + first.half[r], second.center[r] + second.half[r])
        node_out.center[r], node_out.half[r] = 0.5 * (low + high), 0.5 * (high - low)
        p, u = first.skin_center[r], first.skin_half[r]
        q, v = second.skin_center[r], second.skin_half[r]
        low, high = min(p - u, q - v), max(p + u, q + v)
        node_out.skin_center[r], node_out.skin_half[r] = 0.5 * (low + high), 0.5 * (high - low)
