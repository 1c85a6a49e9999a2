# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Penetration depth of two convex solids and the shortest separation: expanding polytope.

The Minkowski difference D = {x - y : x in a, y in b} holds the origin if and only if the solids
overlap. The distance of the origin from the surface of D is their penetration depth. A polytope
inside D grows step by step. Each step takes the facet of least height over the origin, and adds the
point of D farthest along the facet's normal (van den Bergen 2001). Heights may be negative. As long
as the origin is outside of the polytope, the same step leads to the origin, or to a direction along
which the solids are apart (as in the distance iteration of Gilbert, Johnson and Keerthi). All
vectors are in the frame of solid b.
"""

import math

import numpy as np

from hrpsim.engine.collision.solids.polyhedra import Polyhedra
from hrpsim.engine.collision.solids.tree_queries import farthest_point
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Metres, Polytope, Solid, SolidPair
from hrpsim.engine.spatial.vector import transposed_times

# A polytope of n corners has up to 2 n - 4 facets.
CORNER_COUNT = 128
FACET_COUNT = 2 * CORNER_COUNT

POLYTOPE = np.dtype(
    [
        ("corner_count", "i8"),
        ("corner", "f8", (CORNER_COUNT, 3)),  # points of the difference [m]
        ("point", "f8", (CORNER_COUNT, 3)),  # the points of a, in a's frame, they come from [m]
        ("facet_count", "i8"),
        ("facet", "i8", (FACET_COUNT, 3)),  # corners, counter-clockwise from outside
        ("normal", "f8", (FACET_COUNT, 3)),  # outward unit vectors; 0 for a facet without area
        ("height", "f8", (FACET_COUNT,)),  # of the plane over the origin [m]; infinite without area
        ("rim", "i8", (3 * CORNER_COUNT, 2)),  # edges around the facets that a new corner sees
        ("rim_count", "i8"),
        ("size", "f8"),  # of the difference [m]
        ("nearest", "i8", (3,)),  # the corners of the facet along which the way out is shortest,
        ("out", "f8", (3,)),  # its normal,
        ("depth", "f8"),  # and how far the difference reaches along it [m]
    ]
)

# Numpy integers: for each plain one that it is called with numba compiles a function once more.
_FIRST, _SECOND, _THIRD, _FOURTH = (np.int64(k) for k in range(4))

# The depth is exact to this part of itself, or to this part of the solids' size.
_RELATIVE, _OF_SIZE = 1e-6, 1e-12
# A point lower over a facet than this part of the size is in its plane.
_IN_PLANE = 1e-12
# Corners span a tetrahedron that is thicker than this part of the size.
_THINNEST = 1e-9
# A facet has no area if that is less than this part of the square of the size.
_NO_AREA = 1e-18


@inlined_kernel
def _keep_depth(polytope: Polytope, facet: int, depth: Metres) -> None:
    """Store the normal and corners of a facet with the penetration depth [m]."""
    polytope.depth, n = depth, polytope.normal[facet]
    for r in range(3):
        polytope.out[r], polytope.nearest[r] = n[r], polytope.facet[facet, r]


@inlined_kernel
def _nearest_facet(polytope: Polytope) -> int:
    """Return the facet that is nearest to the origin."""
    least = 0
    for f in range(1, polytope.facet_count):
        if polytope.height[f] < polytope.height[least]:
            least = f
    return least


@inner_kernel
def find_penetration(polyhedra: Polyhedra, m: SolidPair) -> bool:
    """Find the penetration of the cores of two convex solids, and write it to m.polytope.

    The core is the solid without its rounding radius. A displacement of a by `depth` [m] against
    the direction `out` (frame of b) separates the solids. If the polytope has no room to grow, this
    displacement is valid but not the shortest.

    Returns:
        Whether the cores overlap.
    """
    polytope = m.polytope
    if not _begin(polyhedra, m):
        return False
    polytope.depth = math.inf
    while True:
        least = _nearest_facet(polytope)
        n, height = polytope.normal[least], polytope.height[least]
        if not height < math.inf:
            return polytope.depth < math.inf
        reach = _add_corner(polyhedra, m, n[0], n[1], n[2])
        if not reach > 0.0:
            return False
        is_exact = reach - height <= max(_RELATIVE * reach, _OF_SIZE * polytope.size)
        if is_exact or reach < polytope.depth:
            _keep_depth(polytope, least, reach)
        if is_exact:
            return True
        if polytope.corner_count == CORNER_COUNT or not _take_in_last_corner(polytope):
            return True


@inner_kernel
def witness_of_penetration(polyhedra: Polyhedra, m: SolidPair) -> tuple[float, float, float]:
    """Return the point of solid a that is deepest in solid b along m.polytope.out [m].

    Returns:
        (x, y, z) in the frame of b [m].
    """
    polytope = m.polytope
    u, v, w = polytope.nearest[0], polytope.nearest[1], polytope.nearest[2]
    weight_u = _doubled_area(polytope, v, w)
    weight_v = _doubled_area(polytope, w, u)
    weight_w = _doubled_area(polytope, u, v)
    total = weight_u + weight_v + weight_w
    x = y = z = 0.0
    for k in range(3):
        weight = weight_u if k == 0 else (weight_v if k == 1 else weight_w)
        fraction = weight / total if total > 0.0 else 1.0 / 3.0
        p = polytope.point[polytope.nearest[k]]
        x, y, z = x + fraction * p[0], y + fraction * p[1], z + fraction * p[2]
    # Between points of a round surface the mean is a little inside.
    R, t, n = m.R[0], m.t[0], polytope.out
    nx, ny, nz = transposed_times(R, n[0], n[1], n[2])
    px, py, pz = farthest_point(polyhedra, m.solid[0], nx, ny, nz, m.stack)
    inside = nx * (px - x) + ny * (py - y) + nz * (pz - z)
    x, y, z = x + inside * nx, y + inside * ny, z + inside * nz
    return (
        R[0, 0] * x + R[0, 1] * y + R[0, 2] * z + t[0],
        R[1, 0] * x + R[1, 1] * y + R[1, 2] * z + t[1],
        R[2, 0] * x + R[2, 1] * y + R[2, 2] * z + t[2],
    )


@inner_kernel
def _doubled_area(polytope: Polytope, first: Index, second: int) -> float:
    """Return twice the area of the triangle of two corners and the origin, seen along `out`."""
    p, q, n = polytope.corner[first], polytope.corner[second], polytope.out
    return max(
        n[0] * (p[1] * q[2] - p[2] * q[1])
        + n[1] * (p[2] * q[0] - p[0] * q[2])
        + n[2] * (p[0] * q[1] - p[1] * q[0]),
        0.0,
    )


@inner_kernel
def _add_corner(polyhedra: Polyhedra, m: SolidPair, dx: float, dy: float, dz: float) -> float:
    """Add the point of the difference that is farthest along d, and return its distance along d.

    If this distance is not above 0, the solids do not overlap.
    """
    polytope, R, t = m.polytope, m.R[0], m.t[0]
    x, y, z = transposed_times(R, dx, dy, dz)
    px, py, pz = farthest_point(polyhedra, m.solid[0], x, y, z, m.stack)
    qx, qy, qz = farthest_point(polyhedra, m.solid[1], -dx, -dy, -dz, m.stack)
    count = polytope.corner_count
    x = R[0, 0] * px + R[0, 1] * py + R[0, 2] * pz + t[0] - qx
    y = R[1, 0] * px + R[1, 1] * py + R[1, 2] * pz + t[1] - qy
    z = R[2, 0] * px + R[2, 1] * py + R[2, 2] * pz + t[2] - qz
    corner, point = polytope.corner[count], polytope.point[count]
    corner[0], corner[1], corner[2] = x, y, z
    point[0], point[1], point[2] = px, py, pz
    polytope.corner_count = count + 1
    return dx * x + dy * y + dz * z


@inner_kernel
def _begin(polyhedra: Polyhedra, m: SolidPair) -> bool:
    """Build a tetrahedron in the difference. Return False if the cores do not overlap."""
    polytope = m.polytope
    polytope.corner_count = polytope.facet_count = 0
    a, b = polyhedra.solids[m.solid[0]], polyhedra.solids[m.solid[1]]
    polytope.size = 0.0
    for r in range(3):
        polytope.size += (a.upper[r] - a.lower[r]) + (b.upper[r] - b.lower[r])
    dx, dy, dz = _middle_to_middle(m, a, b)
    if not _add_corner(polyhedra, m, dx, dy, dz) > 0.0:
        return False
    while polytope.corner_count < 4:
        before = polytope.corner_count
        for trial in range(4):
            dx, dy, dz = _direction_across(polytope, before, trial)
            if not _add_corner(polyhedra, m, dx, dy, dz) > 0.0:
                return False
            if _widens(polytope):
                break
            polytope.corner_count = before
        if polytope.corner_count == before:
            return False
    i, j = _SECOND, _THIRD
    if _volume(polytope) < 0.0:
        i, j = j, i
    _add_facet(polytope, _FIRST, j, i)
    _add_facet(polytope, i, j, _FOURTH)
    _add_facet(polytope, j, _FIRST, _FOURTH)
    _add_facet(polytope, _FIRST, i, _FOURTH)
    return True


@inner_kernel
def _middle_to_middle(m: SolidPair, a: Solid, b: Solid) -> tuple[float, float, float]:
    """Return a direction from the middle of a's box to the middle of b's box, in the frame of b."""
    R, t = m.R[0], m.t[0]
    x, y, z = a.lower[0] + a.upper[0], a.lower[1] + a.upper[1], a.lower[2] + a.upper[2]
    dx = 0.5 * (b.lower[0] + b.upper[0] - R[0, 0] * x - R[0, 1] * y - R[0, 2] * z) - t[0]
    dy = 0.5 * (b.lower[1] + b.upper[1] - R[1, 0] * x - R[1, 1] * y - R[1, 2] * z) - t[1]
    dz = 0.5 * (b.lower[2] + b.upper[2] - R[2, 0] * x - R[2, 1] * y - R[2, 2] * z) - t[2]
    if dx == 0.0 and dy == 0.0 and dz == 0.0:
        dx = 1.0
    return dx, dy, dz


@inner_kernel
def _edge_between(polytope: Polytope, first: Index, second: int) -> tuple[float, float, float]:
    """Return the vector from one corner to another [m]."""
    p, q = polytope.corner[first], polytope.corner[second]
    return q[0] - p[0], q[1] - p[1], q[2] - p[2]


@inner_kernel
def _cross(
    ax: float, ay: float, az: float, bx: float, by: float, bz: float
) -> tuple[float, float, float]:
    """Return the cross product of two vectors."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@inner_kernel
def _direction_across(polytope: Polytope, count: int, trial: int) -> tuple[float, float, float]:
    """Return a search direction for a corner outside the span of the first `count` corners.

    Trial 0 is towards the origin. Trials 1 and 3 are opposite to trials 0 and 2.
    """
    sign = 1.0 if trial % 2 == 0 else -1.0
    p = polytope.corner[0]
    x, y, z = -sign * p[0], -sign * p[1], -sign * p[2]
    if count == 1:
        return x, y, z
    ex, ey, ez = _edge_between(polytope, _FIRST, _SECOND)
    if count == 2:
        squared = ex * ex + ey * ey + ez * ez
        along = (x * ex + y * ey + z * ez) / squared
        ux, uy, uz = x - along * ex, y - along * ey, z - along * ez
        if ux * ux + uy * uy + uz * uz < _IN_PLANE * squared:  # the line passes through the origin
            if abs(ex) < abs(ey) and abs(ex) < abs(ez):
                ux, uy, uz = _cross(ex, ey, ez, sign, 0.0, 0.0)
            elif abs(ey) < abs(ez):
                ux, uy, uz = _cross(ex, ey, ez, 0.0, sign, 0.0)
            else:
                ux, uy, uz = _cross(ex, ey, ez, 0.0, 0.0, sign)
        if trial >= 2:
            ux, uy, uz = _cross(ex, ey, ez, ux, uy, uz)
        return ux, uy, uz
    fx, fy, fz = _edge_between(polytope, _FIRST, _THIRD)
    nx, ny, nz = _cross(ex, ey, ez, fx, fy, fz)
    if nx * p[0] + ny * p[1] + nz * p[2] > 0.0:
        sign = -sign
    return sign * nx, sign * ny, sign * nz


@inner_kernel
def _widens(polytope: Polytope) -> bool:
    """Return whether the last corner is outside the span of the one to three corners before it."""
    count, least = polytope.corner_count, _THINNEST * polytope.size
    ex, ey, ez = _edge_between(polytope, _FIRST, _SECOND)
    length = math.sqrt(ex * ex + ey * ey + ez * ez)
    if count == 2:
        return length > least
    fx, fy, fz = _edge_between(polytope, _FIRST, _THIRD)
    nx, ny, nz = _cross(ex, ey, ez, fx, fy, fz)
    area = math.sqrt(nx * nx + ny * ny + nz * nz)
    if count == 3:
        return area > least * length
    return abs(_volume(polytope)) > least * area


@inner_kernel
def _volume(polytope: Polytope) -> float:
    """Return six times the signed volume of the first four corners [m^3]."""
    ex, ey, ez = _edge_between(polytope, _FIRST, _SECOND)
    fx, fy, fz = _edge_between(polytope, _FIRST, _THIRD)
    nx, ny, nz = _cross(ex, ey, ez, fx, fy, fz)
    gx, gy, gz = _edge_between(polytope, _FIRST, _FOURTH)
    return nx * gx + ny * gy + nz * gz


@inner_kernel
def _add_facet(polytope: Polytope, i: Index, j: Index, k: Index) -> None:
    """Add a facet of three corners, counter-clockwise from outside."""
    f = polytope.facet_count
    ex, ey, ez = _edge_between(polytope, i, j)
    fx, fy, fz = _edge_between(polytope, i, k)
    nx, ny, nz = _cross(ex, ey, ez, fx, fy, fz)
    area = math.sqrt(nx * nx + ny * ny + nz * nz)
    polytope.facet[f, 0], polytope.facet[f, 1], polytope.facet[f, 2] = i, j, k
    if area > _NO_AREA * polytope.size * polytope.size:
        nx, ny, nz = nx / area, ny / area, nz / area
        p = polytope.corner[i]
        polytope.height[f] = nx * p[0] + ny * p[1] + nz * p[2]
    else:
        nx = ny = nz = 0.0
        polytope.height[f] = math.inf
    polytope.normal[f, 0], polytope.normal[f, 1], polytope.normal[f, 2] = nx, ny, nz
    polytope.facet_count = f + 1


@inner_kernel
def _take_in_last_corner(polytope: Polytope) -> bool:
    """Extend the polytope by its last corner.

    Return False if the corner is inside or no room is left.
    """
    last = polytope.corner_count - 1
    p, in_plane = polytope.corner[last], _IN_PLANE * polytope.size
    polytope.rim_count = 0
    remaining = 0
    for f in range(polytope.facet_count):
        n = polytope.normal[f]
        if n[0] * p[0] + n[1] * p[1] + n[2] * p[2] > polytope.height[f] + in_plane:
            for k in range(3):
                _count_edge(polytope, polytope.facet[f, k], polytope.facet[f, (k + 1) % 3])
            continue
        for r in range(3):
            polytope.facet[remaining, r] = polytope.facet[f, r]
            polytope.normal[remaining, r] = n[r]
        polytope.height[remaining] = polytope.height[f]
        remaining += 1
    if polytope.rim_count == 0 or remaining + polytope.rim_count > FACET_COUNT:
        return False
    polytope.facet_count = remaining
    for k in range(polytope.rim_count):
        _add_facet(polytope, polytope.rim[k, 0], polytope.rim[k, 1], last)
    return True


@inner_kernel
def _count_edge(polytope: Polytope, start: Index, end: Index) -> None:
    """Add a directed edge to the rim, or remove the opposite edge from the rim."""
    count = polytope.rim_count
    for k in range(count):
        if polytope.rim[k, 0] == end and polytope.rim[k, 1] == start:
            polytope.rim[k, 0] = polytope.rim[count - 1, 0]
            polytope.rim[k, 1] = polytope.rim[count - 1, 1]
            polytope.rim_count = count - 1
            return
    polytope.rim[count, 0], polytope.rim[count, 1] = start, end
    polytope.rim_count = count + 1
