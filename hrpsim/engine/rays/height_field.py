# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rays and height fields: traversal of blocks of cells, then of cells in blocks near the ray.

The surface is continuous, so a ray hits the surface where the ray's height above the surface
changes sign. The sign is passed from cell to cell, so no ray slips through between two cells.
u and v are horizontal coordinates in units of cells. Grid traversal: Amanatides and Woo, A fast
voxel traversal algorithm for ray tracing, 1987.
"""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import HeightField as HeightFieldType
from hrpsim.engine.compile.kernel_types import Index, RayScene, Vector
from hrpsim.engine.rays.shapes import AT_THE_START
from hrpsim.model.shapes.terrain import HeightField

BLOCK = 8  # cells along each side of a block

FIELD = np.dtype(
    [
        ("cells", "i8", (2,)),  # number of cells along x and y
        ("start", "f8", (2,)),  # origin of the grid in the shape frame [m]
        ("per_step", "f8", (2,)),  # inverse grid spacing along x and y [1/m]
        ("first_height", "i8"),  # index of the first height in the pool, row by row
        ("first_block", "i8"),  # index of the first block of height bounds, row by row
        ("blocks", "i8"),  # number of blocks along y
        ("low", "f8"),  # smallest height [m]
        ("high", "f8"),  # largest height [m]
    ]
)


def pooled_field(field: HeightField, heights: list, blocks: list) -> np.ndarray:
    """Append the heights and the height ranges of blocks to the pools. Return the FIELD record."""
    nx, ny = field.heights.shape
    record = np.zeros((), dtype=FIELD)
    record["cells"] = nx - 1, ny - 1
    record["start"], record["per_step"] = field.start[:2], 1.0 / field.steps
    record["first_height"], record["first_block"] = sum(map(len, heights)), sum(map(len, blocks))
    record["blocks"] = -(-(ny - 1) // BLOCK)
    z = field.heights + field.start[2]
    record["low"], record["high"] = z.min(), z.max()
    heights.append(z.ravel())
    blocks.append(
        np.array(
            [
                (part.min(), part.max())
                for i in range(0, nx - 1, BLOCK)
                for j in range(0, ny - 1, BLOCK)
                for part in [z[i : i + BLOCK + 1, j : j + BLOCK + 1]]
            ]
        )
    )
    return record


@inlined_kernel
def _inverse(rate: float) -> float:
    """Return 1 / rate, or 0 for a ray parallel to the lines of the grid."""
    return 1.0 / rate if rate != 0.0 else 0.0


@inlined_kernel
def _crossing(start: float, inverse: float, edge: Index, after: float) -> float:
    """Return the distance at which a ray crosses a line of the grid, at least `after`."""
    return max((edge - start) * inverse, after) if inverse != 0.0 else math.inf


@inlined_kernel
def _within_slab(
    at: float, inverse: float, low: float, high: float, enter: float, leave: float
) -> tuple[float, float]:
    """Return the part of a ray, from `enter` to `leave`, that lies between two planes."""
    if inverse == 0.0:
        return (enter, leave) if at >= low and at <= high else (math.inf, -math.inf)
    first, second = (low - at) * inverse, (high - at) * inverse
    return max(enter, min(first, second)), min(leave, max(first, second))


@inlined_kernel
def _cell_of(position: float, rate: float, count: int) -> int:
    """Return the cell at a position in grid units, or the cell that a ray on a grid line enters."""
    cell = math.floor(position)
    if rate < 0.0 and cell == position:
        cell -= 1.0
    return int(min(max(cell, 0.0), count - 1.0))


@inlined_kernel
def _above(
    s: RayScene, field: HeightFieldType, i: Index, j: Index, u: float, v: float, z: float
) -> float:
    """Return the height of a point over the surface of cell (i, j), at u and v in the cell."""
    at = field.first_height + i * (field.cells[1] + 1) + j
    a, c = s.heights[at], s.heights[at + field.cells[1] + 2]
    if u >= v:
        b = s.heights[at + field.cells[1] + 1]
        return z - (a + u * (b - a) + v * (c - b))
    d = s.heights[at + 1]
    return z - (a + v * (d - a) + u * (c - d))


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def meet_field(
    s: RayScene, field: HeightFieldType, x: float, y: float, z: float, dx: float, dy: float,
    dz: float, limit: float,
) -> float:  # fmt: skip
    """Return the distance [m] at which a ray meets a height field.

    The distance is infinity if there is no hit before `limit`.

    x, y, z: start of the ray in the frame of the shape [m].
    dx, dy, dz: unit vector along the ray, in the frame of the shape.
    limit: largest distance [m].
    """
    u, v = (x - field.start[0]) * field.per_step[0], (y - field.start[1]) * field.per_step[1]
    du, dv = dx * field.per_step[0], dy * field.per_step[1]
    pad = 1e-9 * (1.0 + abs(field.low) + abs(field.high))
    enter, leave = _within_slab(z, _inverse(dz), field.low - pad, field.high + pad, 0.0, limit)
    enter, leave = _within_slab(u, _inverse(du), 0.0, float(field.cells[0]), enter, leave)
    enter, leave = _within_slab(v, _inverse(dv), 0.0, float(field.cells[1]), enter, leave)
    if enter > leave:
        return math.inf
    return _walk(s, field, u, v, z, du, dv, dz, enter, leave)


@inlined_kernel  # many parameters: vectors as three numbers stay in registers
def _walk(
    s: RayScene, field: HeightFieldType, u: float, v: float, z: float, du: float, dv: float,
    dz: float, enter: float, leave: float,
) -> float:  # fmt: skip
    """Traverse the blocks between two distances. Return the distance of the hit, or infinity."""
    nx, ny = field.cells[0], field.cells[1]
    iu, iv = _inverse(du), _inverse(dv)
    i, j = _cell_of(u + enter * du, du, nx), _cell_of(v + enter * dv, dv, ny)
    side = 0.0  # 1 above the surface, -1 beneath, 0: not known yet
    at = enter
    while True:
        bi, bj = i // BLOCK, j // BLOCK
        edge_u, edge_v = _far_edge(bi * BLOCK, BLOCK, du), _far_edge(bj * BLOCK, BLOCK, dv)
        to_u, to_v = _crossing(u, iu, edge_u, at), _crossing(v, iv, edge_v, at)
        end = min(to_u, to_v, leave)
        first, last = z + at * dz, z + end * dz
        bounds = s.blocks[field.first_block + bi * field.blocks + bj]
        clear = _clear_side(first, last, bounds)
        if side * clear < 0.0:
            return at
        if clear != 0.0:
            side = clear
        else:
            hit, side = _walk_cells(s, field, u, v, z, du, dv, dz, at, end, i, j, side)
            if hit < math.inf:
                return hit
        if end >= leave:
            return math.inf
        if to_u <= to_v:
            i = _behind(edge_u, du)
            j = _within(v + end * dv, bj, ny)
        else:
            j = _behind(edge_v, dv)
            i = _within(u + end * du, bi, nx)
        if not (0 <= i < nx and 0 <= j < ny):
            return math.inf
        at = end


@inlined_kernel
def _clear_side(first: float, last: float, bounds: Vector) -> float:
    """Return 1 if a piece of a ray is above a block's height range (2,), -1 if beneath, else 0."""
    if min(first, last) > bounds[1]:
        return 1.0
    return -1.0 if max(first, last) < bounds[0] else 0.0


@inlined_kernel
def _far_edge(first: Index, cells: int, rate: float) -> int:
    """Return the grid line at which a ray leaves a row of `cells` cells that begins at `first`."""
    return first + (cells if rate > 0.0 else 0)


@inlined_kernel
def _behind(edge: Index, rate: float) -> int:
    """Return the cell that a ray enters when it crosses a grid line."""
    return edge if rate > 0.0 else edge - 1


@inlined_kernel
def _within(position: float, block: Index, count: int) -> int:
    """Return the cell at a position, limited to the cells of one block."""
    low, high = block * BLOCK, min(block * BLOCK + BLOCK, count) - 1
    return int(min(max(math.floor(position), float(low)), float(high)))


@inlined_kernel  # many parameters: vectors as three numbers stay in registers
def _walk_cells(
    s: RayScene, field: HeightFieldType, u: float, v: float, z: float, du: float, dv: float,
    dz: float, at: float, leave: float, i: Index, j: Index, side: float,
) -> tuple[float, float]:  # fmt: skip
    """Traverse cells from (i, j) on. Return (distance of the hit or infinity, side at the end).

    side: 1 above the surface, -1 beneath, 0 unknown.
    """
    iu, iv, turning = _inverse(du), _inverse(dv), _inverse(du - dv)
    while True:
        edge_u, edge_v = _far_edge(i, 1, du), _far_edge(j, 1, dv)
        to_u, to_v = _crossing(u, iu, edge_u, at), _crossing(v, iv, edge_v, at)
        end = min(to_u, to_v, leave)
        # Where the ray crosses the diagonal of the cell, u = v there.
        turn = min(max(((v - j) - (u - i)) * turning, at), end) if turning != 0.0 else end
        times = at, turn, end
        begin = at
        for part in range(3):
            t = times[part]
            over = _above(s, field, i, j, u + t * du - i, v + t * dv - j, z + t * dz)
            if abs(over) <= AT_THE_START:
                return t, 0.0
            if side * over < 0.0:
                if part == 0:
                    return t, 0.0
                before = _above(
                    s, field, i, j, u + begin * du - i, v + begin * dv - j, z + begin * dz
                )
                return begin + (t - begin) * before / (before - over), 0.0
            side = 1.0 if over > 0.0 else -1.0
            begin = t
        if end >= leave:
            return math.inf, side
        if to_u <= to_v:
            i = _behind(edge_u, du)
        else:
            j = _behind(edge_v, dv)
        at = end


@inner_kernel
def field_normal(
    s: RayScene, field: HeightFieldType, x: float, y: float
) -> tuple[float, float, float]:
    """Return the upward unit normal of a height field at a position, in the shape's frame.

    Args:
        s: the scene.
        field: FIELD record.
        x: position along x, in the shape's frame [m].
        y: position along y, in the shape's frame [m].
    """
    u, v = (x - field.start[0]) * field.per_step[0], (y - field.start[1]) * field.per_step[1]
    i, j = _cell_of(u, 0.0, field.cells[0]), _cell_of(v, 0.0, field.cells[1])
    at = field.first_height + i * (field.cells[1] + 1) + j
    a, c = s.heights[at], s.heights[at + field.cells[1] + 2]
    if u - i >= v - j:
        b = s.heights[at + field.cells[1] + 1]
        nx, ny = (a - b) * field.per_step[0], (b - c) * field.per_step[1]
    else:
        d = s.heights[at + 1]
        nx, ny = (d - c) * field.per_step[0], (a - d) * field.per_step[1]
    inverse = 1.0 / math.sqrt(nx * nx + ny * ny + 1.0)
    return nx * inverse, ny * inverse, inverse
