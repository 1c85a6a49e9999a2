# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sharp vertices of a surface: vertices that can be the first to touch a plane."""

import math

import numpy as np

from hrpsim.engine.collision.primitives.simplex import keep_spanning, nearest_weights
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import Index, Indices, Matrix, Records, Spoke, Vertex

# A vertex is sharp if its surroundings lie behind a plane through it by this angle [rad].
SHARP_ANGLE = 1e-4


@kernel
def find_sharp(
    vertices: Records[Vertex],
    spokes: Records[Spoke],
    possible: Indices,
    scratch: Matrix,
    sharp_out: Indices,
) -> None:
    """Write which vertices are sharp: 1 or 0 for each vertex.

    Args:
        vertices: VERTEX records (n,).
        spokes: SPOKE records of all vertices: the edges that leave each vertex.
        possible: whether each vertex is to be tested (n,).
        scratch: work space (4, 3).
        sharp_out: 1 for a sharp vertex, else 0 (n,), written.
    """
    for v in range(vertices.shape[0]):
        first, last = vertices[v].first_spoke, vertices[v].last_spoke
        sharp_out[v] = 0
        if possible[v] and is_sharp(spokes, first, last, scratch):
            sharp_out[v] = 1


@inner_kernel
def is_sharp(spokes: Records[Spoke], first: Index, last: int, scratch: Matrix) -> bool:
    """Return whether a vertex is sharp: a plane touches the surface only at this vertex.

    Spokes are the directions of the edges that leave the vertex. The plane exists if the convex
    hull of the spokes does not contain the origin. The distance iteration of Gilbert, Johnson and
    Keerthi (GJK) finds the point of the hull nearest to the origin.

    Args:
        spokes: SPOKE records of all vertices.
        first: index of the first spoke of the vertex.
        last: index after the last spoke of the vertex.
        scratch: work (4, 3).
    """
    if last - first < 3:
        return False
    x = y = z = 0.0
    for s in range(first, last):
        d = spokes[s].direction
        x, y, z = x + d[0], y + d[1], z + d[2]
    squared = _squared_distance(spokes, first, last, x, y, z, scratch)
    return squared > SHARP_ANGLE * SHARP_ANGLE


@inlined_kernel
def _squared_distance(
    spokes: Records[Spoke], first: Index, last: int, x: float, y: float, z: float, scratch: Matrix
) -> float:
    """Return the square of the distance of the origin from the convex hull of a vertex's spokes.

    The search starts from the point x, y, z.
    """
    count = np.int64(0)
    squared = math.inf
    for _ in range(64):
        nearest, best = _lowest_spoke(spokes, first, last, x, y, z)
        if count > 0 and best > squared * (1.0 - 1e-6):
            break
        for r in range(3):
            scratch[count, r] = spokes[nearest].direction[r]
        w0, w1, w2, w3, nearer = nearest_weights(scratch, count + 1)
        if not nearer < squared:
            break
        squared = nearer
        count, x, y, z = keep_spanning(scratch, count + 1, (w0, w1, w2, w3))
        if squared < SHARP_ANGLE * SHARP_ANGLE or count > 3:
            break
    return squared


@inlined_kernel
def _lowest_spoke(
    spokes: Records[Spoke], first: Index, last: int, x: float, y: float, z: float
) -> tuple[int, float]:
    """Return the spoke with the smallest component along a direction, and this component."""
    lowest, least = first, math.inf
    for s in range(first, last):
        d = spokes[s].direction
        along = x * d[0] + y * d[1] + z * d[2]
        if along < least:
            lowest, least = s, along
    return lowest, least
