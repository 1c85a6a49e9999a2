# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Depth of the faces of a height field: half the thickness of the terrain beneath the faces.

The definition is the same as in engine.collision.solids.features. A ray from a face of slope s,
along the inward normal, falls by 1 / s per horizontal metre. If no slope of the field is as steep
as 1 / s, the ray never leaves the terrain. Most rays therefore need no search.
"""

import math

from hrpsim.engine.collision.solids.grid_faces import point, slopes
from hrpsim.engine.collision.solids.polyhedra import Polyhedra
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Grid, Index


@inner_kernel
def depth_of_face(polyhedra: Polyhedra, grid: Grid, i: Index, j: Index, face: int) -> float:
    """Return the largest depth at which a vertex has a contact with a face of cell (i, j) [m].

    The depth is half the terrain's smallest thickness along four inward rays. The rays start in the
    middle of the face and halfway from the middle to each corner.
    """
    x, y = slopes(polyhedra, grid, i, j, face)
    if (x * x + y * y) * grid.steepest * grid.steepest < 1.0:
        return grid.depth
    least = 2.0 * grid.depth
    _, _, a = point(polyhedra, grid, i, j)
    for way in range(4):
        # weights of the second and third corner, of which c is the third or the second
        p = 2.0 / 3.0 if way == 2 else (1.0 / 3.0 if way == 0 else 1.0 / 6.0)
        q = 2.0 / 3.0 if way == 3 else (1.0 / 3.0 if way == 0 else 1.0 / 6.0)
        u = p + q if face == 0 else p
        v = q if face == 0 else p + q
        z = a + x * u * grid.step[0] + y * v * grid.step[1]
        least = min(least, _way_out(polyhedra, grid, i, j, i + u, j + v, z, x, y, least))
    return 0.5 * least


@inlined_kernel
def _line(start: float, rate: float, cell: int) -> float:
    """Return the distance at which a ray leaves a cell along one axis, infinite if `rate` is 0."""
    if rate == 0.0:
        return math.inf
    return ((cell + 1 if rate > 0.0 else cell) - start) / rate


@inlined_kernel
def _over(
    polyhedra: Polyhedra, grid: Grid, i: Index, j: Index, face: int, u: float, v: float, z: float
) -> float:
    """Return the height of a point (u, v in grid units, z [m]) over the plane of a face [m]."""
    x, y = slopes(polyhedra, grid, i, j, face)
    _, _, a = point(polyhedra, grid, i, j)
    return z - a - (u - i) * x * grid.step[0] - (v - j) * y * grid.step[1]


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _way_out(
    polyhedra: Polyhedra, grid: Grid, i: Index, j: Index, u: float, v: float, z: float,
    x: float, y: float, most: float,
) -> float:  # fmt: skip
    """Return the distance from a face along the inward normal to the opposite surface [m].

    i, j: cell of the face.
    u, v, z: start of the ray on the face: grid coordinates, and height [m].
    x, y: slopes of the face.
    most: upper limit of the result [m].
    """
    fall = 1.0 / math.sqrt(x * x + y * y + 1.0)
    du, dv, at = x * fall / grid.step[0], y * fall / grid.step[1], 0.0
    while at < most and z - at * fall > grid.low:
        to_u, to_v = _line(u, du, i), _line(v, dv, j)
        end = max(min(to_u, to_v, most), at)
        turn = end
        if du != dv:
            turn = min(max(((v - j) - (u - i)) / (du - dv), at), end)
        begin = at
        for part in range(2):
            stop = turn if part == 0 else end
            middle = 0.5 * (begin + stop)
            face = 0 if u + middle * du - i >= v + middle * dv - j else 1
            after = _over(
                polyhedra, grid, i, j, face, u + stop * du, v + stop * dv, z - stop * fall
            )
            if after > 0.0 and stop > begin:
                before = _over(
                    polyhedra, grid, i, j, face, u + begin * du, v + begin * dv, z - begin * fall
                )
                before = min(before, 0.0)
                return begin + (stop - begin) * before / (before - after)
            begin = stop
        if to_u <= to_v:
            i += 1 if du > 0.0 else -1
        else:
            j += 1 if dv > 0.0 else -1
        if not (0 <= i < grid.cells[0] and 0 <= j < grid.cells[1]):
            return most
        at = end
    return most
