# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Tiles of a height field: records where searches come to, in a fixed number of slots.

A search that comes to the node of a tile continues at the root of the tile's own tree. If the tile
has no slot, its records replace those of the tile that was used longest ago. The records depend
on the heights alone. Results therefore do not depend on which tiles have slots.

A walk through the trees of two solids holds the tile where it is. Other searches, made meanwhile,
do not replace this tile. Features are kept by their numbers, which last.
"""

from hrpsim.engine.collision.solids.polyhedra import TILE, TILE_SIDE, Polyhedra
from hrpsim.engine.collision.solids.tile_records import (
    edge_of,
    triangle_of,
    vertex_of,
    write_records,
)
from hrpsim.engine.collision.solids.tile_tree import root_of, write_tree
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Grid, Index, Solid, SolidNode


@inner_kernel
def open_tile(polyhedra: Polyhedra, node: SolidNode) -> int:
    """Return the root of a tile's tree, for a node with `child` of at most TILE."""
    grid = polyhedra.grids[TILE - node.child]
    return root_of(grid, _slot_of(polyhedra, grid, node.triangle))


@inner_kernel
def hold_tile(polyhedra: Polyhedra, node: SolidNode) -> int:
    """Return the root of a tile's tree as `open_tile`, and keep the tile until the next call."""
    grid = polyhedra.grids[TILE - node.child]
    grid.held = _slot_of(polyhedra, grid, node.triangle)
    return root_of(grid, grid.held)


@inner_kernel
def _slot_of(polyhedra: Polyhedra, grid: Grid, tile: Index) -> int:
    """Return the slot of a tile's records, which are made if necessary."""
    grid.clock += 1
    slot = int(polyhedra.tiles[grid.first_tile + tile])
    if slot < 0:
        slot = _longest_unused(polyhedra, grid)
        there = polyhedra.slots[grid.first_slot + slot]
        if there.tile >= 0:
            polyhedra.tiles[grid.first_tile + there.tile] = -1
        there.tile = tile
        polyhedra.tiles[grid.first_tile + tile] = slot
        write_records(polyhedra, grid, tile, slot)
        write_tree(polyhedra, grid, tile, slot)
    polyhedra.slots[grid.first_slot + slot].used = grid.clock
    return slot


@inlined_kernel
def _longest_unused(polyhedra: Polyhedra, grid: Grid) -> int:
    """Return the slot that was used longest ago, but not the slot that is held."""
    oldest, least = 0, grid.clock
    for slot in range(grid.slot_count):
        used = polyhedra.slots[grid.first_slot + slot].used
        if used < least and slot != grid.held:
            oldest, least = slot, used
    return oldest


@inlined_kernel
def _tile_of(grid: Grid, i: Index, j: Index) -> tuple[int, int]:
    """Return the tile of point (i, j) along x and y."""
    return min(i // TILE_SIDE, grid.tiles[0] - 1), min(j // TILE_SIDE, grid.tiles[1] - 1)


@inner_kernel
def vertex_numbered(polyhedra: Polyhedra, solid: Solid, number: Index) -> int:
    """Return the vertex of a solid with a number, in the pool."""
    if solid.grid < 0:
        return solid.first_vertex + number
    grid = polyhedra.grids[solid.grid]
    i, j = number // (grid.cells[1] + 1), number % (grid.cells[1] + 1)
    ti, tj = _tile_of(grid, i, j)
    slot = _slot_of(polyhedra, grid, ti * grid.tiles[1] + tj)
    return vertex_of(grid, slot, i - ti * TILE_SIDE, j - tj * TILE_SIDE)


@inner_kernel
def edge_numbered(polyhedra: Polyhedra, solid: Solid, number: Index) -> int:
    """Return the edge of a solid with a number, in the pool."""
    if solid.grid < 0:
        return solid.first_edge + number
    grid = polyhedra.grids[solid.grid]
    at, kind = number // 3, number % 3
    i, j = at // (grid.cells[1] + 1), at % (grid.cells[1] + 1)
    ti, tj = _tile_of(grid, i, j)
    slot = _slot_of(polyhedra, grid, ti * grid.tiles[1] + tj)
    return edge_of(grid, slot, i - ti * TILE_SIDE, j - tj * TILE_SIDE, kind)


@inner_kernel
def triangle_numbered(polyhedra: Polyhedra, solid: Solid, number: Index) -> int:
    """Return the triangle of a solid with a number, in the pool."""
    if solid.grid < 0:
        return solid.first_triangle + number
    grid = polyhedra.grids[solid.grid]
    cell, face = number // 2, number % 2
    i, j = cell // grid.cells[1], cell % grid.cells[1]
    ti, tj = _tile_of(grid, i, j)
    slot = _slot_of(polyhedra, grid, ti * grid.tiles[1] + tj)
    return triangle_of(grid, slot, i - ti * TILE_SIDE, j - tj * TILE_SIDE, face)
