# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Tiles of a height field: records on demand, in a least-recently-used cache of tiles.

A tile is a block of cells with a bounding tree of its own. When a search reaches the node of a
tile, the records of the tile are made, if necessary, and the search continues at the root of the
tile's tree. The records replace the records of the tile that was used longest ago. Records depend
on the heights alone, so results do not depend on the cache.

A traversal of two trees locks its present tile (`hold_tile`), so that other searches do not replace
it. Features are identified by their numbers in the field, which do not change.
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
    """Return the root node of a tile's bounding tree, and write the tile's records if absent.

    node: node of the field's tree that represents the tile. The field `child` is at most TILE.
    """
    grid = polyhedra.grids[TILE - node.child]
    return root_of(grid, _slot_of(polyhedra, grid, node.triangle))


@inner_kernel
def hold_tile(polyhedra: Polyhedra, node: SolidNode) -> int:
    """Return the root node of a tile's bounding tree, as `open_tile`, and lock the tile.

    The tile stays locked until another tile is locked.
    """
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
    """Return the slot that was used longest ago, except for the locked slot."""
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
    """Return the index in the pool of vertex `number` of a solid."""
    if solid.grid < 0:
        return solid.first_vertex + number
    grid = polyhedra.grids[solid.grid]
    i, j = number // (grid.cells[1] + 1), number % (grid.cells[1] + 1)
    ti, tj = _tile_of(grid, i, j)
    slot = _slot_of(polyhedra, grid, ti * grid.tiles[1] + tj)
    return vertex_of(grid, slot, i - ti * TILE_SIDE, j - tj * TILE_SIDE)


@inner_kernel
def edge_numbered(polyhedra: Polyhedra, solid: Solid, number: Index) -> int:
    """Return the index in the pool of edge `number` of a solid."""
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
    """Return the index in the pool of triangle `number` of a solid."""
    if solid.grid < 0:
        return solid.first_triangle + number
    grid = polyhedra.grids[solid.grid]
    cell, face = number // 2, number % 2
    i, j = cell // grid.cells[1], cell % grid.cells[1]
    ti, tj = _tile_of(grid, i, j)
    slot = _slot_of(polyhedra, grid, ti * grid.tiles[1] + tj)
    return triangle_of(grid, slot, i - ti * TILE_SIDE, j - tj * TILE_SIDE, face)
