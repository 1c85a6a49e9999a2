# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Build the solid of a height field: the heights, and a bounding tree whose leaves are tiles."""

import math
import weakref

import numpy as np

from hrpsim.engine.collision.solids.features import RIM, bounding_tree, fit_boxes, smallest_extent
from hrpsim.engine.collision.solids.grid_depth import depth_of_face
from hrpsim.engine.collision.solids.grid_faces import (
    bend_of_edge,
    face_of_ring,
    normal_of_face,
    slopes,
)
from hrpsim.engine.collision.solids.polyhedra import (
    FLAT,
    GRID,
    POOLS,
    SLOT,
    SOLID,
    TILE,
    TILE_ROOM,
    TILE_SIDE,
    Polyhedra,
)
from hrpsim.engine.collision.solids.tile_records import tile_origin
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import Grid, Index, Matrix, Vector
from hrpsim.model.shapes.terrain import HeightField

SLOTS = 128  # tiles of a field with records, 0.19 MB each
_SAMPLES = 50_000  # cells of which the thickness of a field is found
_thin: weakref.WeakKeyDictionary[HeightField, float] = weakref.WeakKeyDictionary()


def field_solid(field: HeightField) -> Polyhedra:
    """Return the solid of a height field."""
    made = _without_tree(field)
    grid = made.grids[0]
    count = int(grid["tiles"].prod())
    corners = np.zeros((4, count, 3))
    bound_tiles(made, *corners)
    find_facets(made)
    tree = bounding_tree(corners[0], corners[1])
    fit_boxes(tree, corners[2], corners[3])
    tree["child"][tree["child"] < 0] = TILE
    nodes = np.zeros(len(tree) + len(made.nodes), dtype=tree.dtype)
    nodes[: len(tree)] = tree
    grid["first_node"] = len(tree)
    return made._replace(nodes=nodes)


def field_thickness(field: HeightField) -> float:
    """Return the thickness of a height field for limits on fast motion [m].

    At least 90 % of the area has this thickness or more. Up to 50 000 evenly spread cells are
    sampled.
    """
    if field not in _thin:
        made = _without_tree(field)
        count = int(made.grids[0]["cells"].prod())
        every = -(-count // _SAMPLES)
        depth, area = np.zeros((2, 2 * -(-count // every)))
        sample_depths(made, every, depth, area)
        order = np.argsort(depth, kind="stable")
        area_fraction = np.cumsum(area[order]) / area.sum()
        _thin[field] = 2.0 * float(depth[order[np.searchsorted(area_fraction, 0.1)]])
    return _thin[field]


def _without_tree(field: HeightField) -> Polyhedra:
    """Return the solid of a height field with empty tile slots, without facets and tree."""
    low, high = field.bounds
    extent = smallest_extent(high - low)
    nx, ny = field.heights.shape
    grid = np.zeros(1, dtype=GRID)
    grid["cells"] = nx - 1, ny - 1
    grid["start"], grid["step"] = field.start[:2], field.steps
    grid["tiles"] = -(-(nx - 1) // TILE_SIDE), -(-(ny - 1) // TILE_SIDE)
    tiles = int(grid["tiles"].prod())
    slots = min(tiles, SLOTS)
    grid["slot_count"], grid["held"], grid["first_vertex"] = slots, -1, 1
    grid["low"], grid["depth"] = low[2], 0.5 * extent
    solid = np.zeros(1, dtype=SOLID)
    solid["rim"], solid["ball"] = RIM * 0.5 * extent, field.radius
    solid["lower"], solid["upper"] = low, high
    solid["triangle_count"] = 2 * (nx - 1) * (ny - 1)
    arrays = {name: np.zeros(slots * room, dtype=POOLS[name]) for name, room in TILE_ROOM.items()}
    # the first vertex is always there
    arrays["vertices"] = np.zeros(1 + slots * TILE_ROOM["vertices"], dtype=POOLS["vertices"])
    heights = (field.heights + field.start[2]).ravel()
    arrays["vertices"]["position"][0] = *field.start[:2], heights[0]
    made = Polyhedra(
        **arrays,
        corners=np.zeros(0, dtype=POOLS["corners"]),
        solids=solid,
        grids=grid,
        heights=heights,
        facets=np.zeros(2 * (nx - 1) * (ny - 1), dtype=POOLS["facets"]),
        tiles=np.full(tiles, -1, dtype=POOLS["tiles"]),
        slots=np.zeros(slots, dtype=SLOT),
    )
    made.slots["tile"] = -1
    grid["steepest"] = steepest_slope(made)
    return made


@kernel
def steepest_slope(polyhedra: Polyhedra) -> float:
    """Return the largest slope of the first height field of the pool [m/m]."""
    grid, steepest = polyhedra.grids[0], 0.0
    for i in range(grid.cells[0]):
        for j in range(grid.cells[1]):
            for face in range(2):
                x, y = slopes(polyhedra, grid, i, j, face)
                steepest = max(steepest, x * x + y * y)
    return math.sqrt(steepest)


@kernel
def sample_depths(polyhedra: Polyhedra, every: int, depth_out: Vector, area_out: Vector) -> None:
    """Write depth and area of the faces of every n-th cell of the first field of the pool.

    Args:
        polyhedra: pool of solids.
        every: interval n between sampled cells.
        depth_out: depths of both faces of k cells (2 k,) [m], written.
        area_out: areas of the faces, divided by the horizontal area of a cell (2 k,), written.
    """
    grid, at = polyhedra.grids[0], 0
    for cell in range(0, grid.cells[0] * grid.cells[1], every):
        i, j = cell // grid.cells[1], cell % grid.cells[1]
        for face in range(2):
            x, y = slopes(polyhedra, grid, i, j, face)
            depth_out[at] = depth_of_face(polyhedra, grid, i, j, face)
            area_out[at] = 0.5 * math.sqrt(x * x + y * y + 1.0)
            at += 1


@kernel
def bound_tiles(
    polyhedra: Polyhedra, lower: Matrix, upper: Matrix, inner_lower: Matrix, inner_upper: Matrix
) -> None:
    """Write bounding boxes of each tile of the first field of the pool.

    Args:
        polyhedra: pool of solids.
        lower: lower corners of the boxes around the surface (n, 3) [m], written.
        upper: upper corners, written.
        inner_lower: lower corners of the boxes around the surface and the terrain beneath, down to
            the depth of the faces (n, 3) [m], written.
        inner_upper: upper corners, written.
    """
    grid = polyhedra.grids[0]
    for tile in range(lower.shape[0]):
        i, j = tile_origin(grid, tile)
        end_i, end_j = min(i + TILE_SIDE, grid.cells[0]), min(j + TILE_SIDE, grid.cells[1])
        low, high = math.inf, -math.inf
        for p in range(i, end_i + 1):
            for q in range(j, end_j + 1):
                z = polyhedra.heights[p * (grid.cells[1] + 1) + q]
                low, high = min(low, z), max(high, z)
        lower[tile, 0], upper[tile, 0] = i * grid.step[0], end_i * grid.step[0]
        lower[tile, 1], upper[tile, 1] = j * grid.step[1], end_j * grid.step[1]
        lower[tile, 2], upper[tile, 2] = low, high
        for r in range(2):
            lower[tile, r] += grid.start[r]
            upper[tile, r] += grid.start[r]
        for r in range(3):
            inner_lower[tile, r], inner_upper[tile, r] = lower[tile, r], upper[tile, r]
        inner_lower[tile, 2] -= grid.depth
        for p in range(i, end_i):
            for q in range(j, end_j):
                for face in range(2):
                    x, y, _ = normal_of_face(polyhedra, grid, p, q, face)
                    x, y = grid.depth * x, grid.depth * y
                    inner_lower[tile, 0] = min(inner_lower[tile, 0], lower[tile, 0] - x)
                    inner_upper[tile, 0] = max(inner_upper[tile, 0], upper[tile, 0] - x)
                    inner_lower[tile, 1] = min(inner_lower[tile, 1], lower[tile, 1] - y)
                    inner_upper[tile, 1] = max(inner_upper[tile, 1], upper[tile, 1] - y)


@kernel
def find_facets(polyhedra: Polyhedra) -> None:
    """Write the facet number of each face of the first field of the pool.

    Connected coplanar faces form one facet. The facet number is the smallest number of these faces.
    """
    grid, facets = polyhedra.grids[0], polyhedra.facets
    for k in range(facets.shape[0]):
        facets[k] = k
    for i in range(grid.cells[0] + 1):
        for j in range(grid.cells[1] + 1):
            for r in range(3):
                _join_across(polyhedra, grid, i, j, r)
    for k in range(facets.shape[0]):
        facets[k] = facets[facets[k]]


@inlined_kernel
def _join_across(polyhedra: Polyhedra, grid: Grid, i: Index, j: Index, r: Index) -> None:
    """Join the facets of the two faces at edge r of point (i, j), if the faces are coplanar."""
    li, lj, left = face_of_ring(grid, i, j, (r + 5) % 6)
    ri, rj, right = face_of_ring(grid, i, j, r)
    if left < 0 or right < 0 or bend_of_edge(polyhedra, grid, i, j, r) != FLAT:
        return
    first = _least_of(polyhedra, 2 * (li * grid.cells[1] + lj) + left)
    second = _least_of(polyhedra, 2 * (ri * grid.cells[1] + rj) + right)
    polyhedra.facets[max(first, second)] = min(first, second)


@inner_kernel
def _least_of(polyhedra: Polyhedra, face: Index) -> int:
    """Return the smallest face of a face's facet (union-find with path halving)."""
    facets = polyhedra.facets
    while facets[face] != face:
        facets[face] = facets[facets[face]]
        face = np.int64(facets[face])
    return face
