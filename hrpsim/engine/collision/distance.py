# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Distance of two shapes at given poses, for the search of the first impact.

The surfaces of two solids are nearest to each other at a vertex and a face, or at two convex edges
or their ends. Only features are therefore compared (hrpsim.engine.collision.solids.features).
Functions with a parameter `side` treat one solid: SIDE_A is a, SIDE_B is b.
"""

import math

from hrpsim.engine.collision.manifold import collide
from hrpsim.engine.collision.mesh.solid_pair import (
    SIDE_A,
    SIDE_B,
    edge_in_other,
    is_inside,
    place_solid_pair,
    point_in_other,
)
from hrpsim.engine.collision.solids.polyhedra import TILE, Polyhedra
from hrpsim.engine.collision.solids.tiles import hold_tile, open_tile
from hrpsim.engine.collision.solids.tree_queries import (
    skins_apart,
    split_first,
    squared_to_triangle,
)
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    Edge,
    Index,
    Indices,
    Manifold,
    Mat3,
    Records,
    SolidPair,
    Triangle,
    Vec3,
    Vertex,
)
from hrpsim.model.shapes.geometry import MESH

# A point that misses a triangle by less does so by rounding [m].
_ON_THE_EDGE = 1e-9

# A direction along which no edge of a mesh is likely to lie.
_RAY = (0.5381966011250105, 0.6427876096865393, 0.5450848021312847)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _segments_apart(
    wx: float, wy: float, wz: float, ux: float, uy: float, uz: float, length_a: float, vx: float,
    vy: float, vz: float, length_b: float,
) -> float:  # fmt: skip
    """Return the squared distance of two segments [m^2].

    The segments are w + s u and t v, with 0 <= s <= length_a and 0 <= t <= length_b. u and v are
    unit vectors.
    """
    cosine = ux * vx + uy * vy + uz * vz
    wu, wv = wx * ux + wy * uy + wz * uz, wx * vx + wy * vy + wz * vz
    sine_squared = 1.0 - cosine * cosine
    s = 0.0
    if sine_squared > 1e-14:
        s = min(max((cosine * wv - wu) / sine_squared, 0.0), length_a)
    t = cosine * s + wv
    if t < 0.0 or t > length_b:
        t = min(max(t, 0.0), length_b)
        s = min(max(cosine * t - wu, 0.0), length_a)
    x, y, z = wx + s * ux - t * vx, wy + s * uy - t * vy, wz + s * uz - t * vz
    return x * x + y * y + z * z


@inner_kernel
def _height_inside(
    vertices: Records[Vertex], face: Triangle, x: float, y: float, z: float
) -> float:
    """Return the distance of a point from the plane of a triangle [m].

    The distance is infinite if the point, projected onto the plane, is outside the triangle.
    """
    for k in range(3):
        corner, out = vertices[face.vertices[k]].position, face.outward[k]
        dx, dy, dz = x - corner[0], y - corner[1], z - corner[2]
        if dx * out[0] + dy * out[1] + dz * out[2] > _ON_THE_EDGE:
            return math.inf
    n = face.normal
    return abs(dx * n[0] + dy * n[1] + dz * n[2])


@inner_kernel
def _corners_from_face(
    vertices: Records[Vertex], m: SolidPair, side: int, own: Triangle, face: Triangle
) -> float:
    """Return the distance of a face from the corners of a triangle of the other solid [m].

    The distance is 0 if an edge of the triangle pierces the face.
    """
    corner, n = vertices[face.vertices[0]].position, face.normal
    least = math.inf
    x, y, z = point_in_other(m, side, vertices[own.vertices[2]].position)
    height = (x - corner[0]) * n[0] + (y - corner[1]) * n[1] + (z - corner[2]) * n[2]
    for k in range(3):
        before, bx, by, bz = height, x, y, z
        x, y, z = point_in_other(m, side, vertices[own.vertices[k]].position)
        height = (x - corner[0]) * n[0] + (y - corner[1]) * n[1] + (z - corner[2]) * n[2]
        if height * before < 0.0:
            fraction = before / (before - height)
            bx, by = bx + fraction * (x - bx), by + fraction * (y - by)
            bz += fraction * (z - bz)
            if _height_inside(vertices, face, bx, by, bz) < math.inf:
                return 0.0
        least = min(least, _height_inside(vertices, face, x, y, z))
    return least


@inner_kernel
def _edges_apart(m: SolidPair, edge_a: Edge, edge_b: Edge) -> float:
    """Return the squared distance of an edge of a and an edge of b [m^2]."""
    s, v = edge_b.start, edge_b.direction
    x, y, z, ux, uy, uz = edge_in_other(m, SIDE_A, edge_a)
    return _segments_apart(
        x - s[0], y - s[1], z - s[2],
        ux, uy, uz, edge_a.length, v[0], v[1], v[2], edge_b.length,
    )  # fmt: skip


@inlined_kernel
def _has_edge(triangle: Triangle, k: Index) -> bool:
    """Return whether edge k of a triangle is compared here and not at a neighbouring triangle.

    The axis of a capsule is edge 0.
    """
    return triangle.owned & (8 << k) != 0 if triangle.is_face else k == 0


@inner_kernel
def _triangles_apart(
    polyhedra: Polyhedra, m: SolidPair, number_a: Index, number_b: Index, best: float
) -> float:
    """Return the distance of the features of two triangles [m], at most `best`."""
    a, b = polyhedra.triangles[number_a], polyhedra.triangles[number_b]
    if b.is_face:
        best = min(best, _corners_from_face(polyhedra.vertices, m, SIDE_A, a, b))
    if a.is_face:
        best = min(best, _corners_from_face(polyhedra.vertices, m, SIDE_B, b, a))
    squared = best * best
    for i in range(3):
        if not _has_edge(a, i):
            continue
        for j in range(3):
            if not _has_edge(b, j):
                continue
            apart = _edges_apart(m, polyhedra.edges[a.edges[i]], polyhedra.edges[b.edges[j]])
            squared = min(squared, apart)
    return min(best, math.sqrt(squared))


@inner_kernel
def _first_corner_apart(
    polyhedra: Polyhedra, m: SolidPair, side: int, own: Triangle, triangle: Index
) -> float:
    """Return the distance of the first corner of a triangle from a face of the other solid [m]."""
    x, y, z = point_in_other(m, side, polyhedra.vertices[own.vertices[0]].position)
    return math.sqrt(squared_to_triangle(polyhedra, triangle, x, y, z))


@inner_kernel
def _bound_apart(polyhedra: Polyhedra, m: SolidPair, number_a: Index, number_b: Index) -> float:
    """Return an upper bound of the distance of two triangles [m], infinity if neither is a face."""
    a, b = polyhedra.triangles[number_a], polyhedra.triangles[number_b]
    bound = math.inf
    if b.is_face:
        bound = _first_corner_apart(polyhedra, m, SIDE_A, a, number_b)
    if a.is_face:
        bound = min(bound, _first_corner_apart(polyhedra, m, SIDE_B, b, number_a))
    return bound


@inner_kernel
def _surfaces_apart(polyhedra: Polyhedra, m: SolidPair, best: float) -> float:
    """Return the distance of the surfaces of two solids, at most `best` [m]."""
    stack = m.pairs
    stack[0, 0] = polyhedra.solids[m.solid[0]].root
    stack[0, 1] = polyhedra.solids[m.solid[1]].root
    waiting, bounded = 1, False
    while waiting > 0:
        waiting -= 1
        node_a, node_b = stack[waiting, 0], stack[waiting, 1]
        a, b = polyhedra.nodes[node_a], polyhedra.nodes[node_b]
        if skins_apart(m, a, b) >= best:
            continue
        if a.child <= TILE or b.child <= TILE:
            stack[waiting, 0] = hold_tile(polyhedra, a) if a.child <= TILE else node_a
            stack[waiting, 1] = hold_tile(polyhedra, b) if b.child <= TILE else node_b
            waiting += 1
            continue
        if a.child < 0 and b.child < 0:
            # Neighbours of the nearest two triangles often have no features that face each other:
            # in a floor of many triangles a long search would find no distance to prune with.
            if not bounded:
                best = min(best, _bound_apart(polyhedra, m, a.triangle, b.triangle))
                bounded = True
            best = _triangles_apart(polyhedra, m, a.triangle, b.triangle, best)
            continue
        if split_first(a, b):
            first_a, second_a, first_b, second_b = a.child, a.child + 1, node_b, node_b
        else:
            first_a, second_a, first_b, second_b = node_a, node_a, b.child, b.child + 1
        nodes = polyhedra.nodes
        first = skins_apart(m, nodes[first_a], nodes[first_b])
        if first < skins_apart(m, nodes[second_a], nodes[second_b]):
            first_a, second_a, first_b, second_b = second_a, first_a, second_b, first_b
        stack[waiting, 0], stack[waiting, 1] = first_a, first_b
        stack[waiting + 1, 0], stack[waiting + 1, 1] = second_a, second_b
        waiting += 2
    return best


@inner_kernel
def _has_inside(polyhedra: Polyhedra, m: SolidPair, side: int) -> bool:
    """Return whether the first vertex of one solid (`side`) is inside the other solid."""
    other = polyhedra.solids[m.solid[1 - side]]
    first = polyhedra.solids[m.solid[side]].first_vertex
    x, y, z = point_in_other(m, side, polyhedra.vertices[first].position)
    low, high = other.lower, other.upper
    if other.is_closed == 0 or x < low[0] or y < low[1] or z < low[2]:
        return False
    if x > high[0] or y > high[1] or z > high[2]:
        return False
    return is_inside(polyhedra, m, side, x, y, z, _RAY[0], _RAY[1], _RAY[2], 0.0)


@inner_kernel
def lowest_along(
    polyhedra: Polyhedra,
    number: Index,
    x: float,
    y: float,
    z: float,
    start: float,
    best: float,
    stack: Indices,
) -> float:
    """Return the minimum of start + d . p over the vertices p of a solid.

    Values above `best` are returned as `best`.

    Args:
        polyhedra: pool of solids.
        number: number of the solid.
        x: component of the direction d along x of the solid's frame.
        y: component along y.
        z: component along z.
        start: constant that is added [m if d is a unit vector].
        best: upper limit of the result.
        stack: work (STACK_DEPTH,).
    """
    stack[0] = polyhedra.solids[number].root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = polyhedra.nodes[stack[waiting]]
        low = start
        for j in range(3):
            n = x if j == 0 else (y if j == 1 else z)
            low += n * node.skin_center[j] - abs(n) * node.skin_half[j]
        if low >= best:
            continue
        if node.child <= TILE:
            stack[waiting] = open_tile(polyhedra, node)
            waiting += 1
            continue
        if node.child >= 0:
            stack[waiting], stack[waiting + 1] = node.child, node.child + 1
            waiting += 2
            continue
        for k in range(3):
            corner = polyhedra.triangles[node.triangle].vertices[k]
            p = polyhedra.vertices[corner].position
            best = min(best, start + x * p[0] + y * p[1] + z * p[2])
    return best


@inner_kernel
def _height_over_plane(polyhedra: Polyhedra, m: SolidPair, side: int, best: float) -> float:
    """Return the height of a solid's lowest vertex over the half-space, at most `best` [m]."""
    R = m.R[side]
    x, y, z = R[2, 0], R[2, 1], R[2, 2]
    return lowest_along(polyhedra, m.solid[side], x, y, z, m.t[side, 2], best, m.stack)


@inner_kernel  # many parameters: two shapes, each by kind, size, rotation and position
def shape_distance(
    polyhedra: Polyhedra, kind_a: int, size_a: Vec3, solid_a: Index, R_a: Mat3, p_a: Vec3,
    kind_b: int, size_b: Vec3, solid_b: Index, R_b: Mat3, p_b: Vec3, at_most: float, work: Manifold,
    m: SolidPair,
) -> float:  # fmt: skip
    """Return the distance of two shapes [m].

    The distance is 0 if the shapes overlap. Distances above `at_most` are returned as `at_most`. If
    no shape is a mesh, the result is the distance that hrpsim.engine.collision.manifold.collide
    finds.

    Args:
        polyhedra: pool of solids.
        kind_a: kind of shape a.
        size_a: size of shape a (3,) [m].
        solid_a: number of the solid of shape a, -1 for a half-space. Not used if neither shape is a
            mesh.
        R_a: rotation from the frame of shape a to the world (3, 3).
        p_a: position of shape a in the world (3,) [m].
        kind_b: kind of shape b.
        size_b: size of shape b (3,) [m].
        solid_b: as solid_a, for shape b.
        R_b: rotation from the frame of shape b to the world (3, 3).
        p_b: position of shape b in the world (3,) [m].
        at_most: upper limit of the result [m].
        work: work, MANIFOLD record.
        m: work, SOLID_PAIR record.
    """
    best = at_most
    if kind_a != MESH and kind_b != MESH:
        count = collide(
            kind_a, size_a, R_a, p_a, kind_b, size_b, R_b, p_b, at_most,
            work,
        )  # fmt: skip
        for k in range(count):
            best = min(best, work.gap[k])
        return max(best, 0.0)
    place_solid_pair(polyhedra, solid_a, R_a, p_a, solid_b, R_b, p_b, m)
    rounding = m.rounding[0] + m.rounding[1]
    if solid_a < 0:
        best = _height_over_plane(polyhedra, m, SIDE_B, best + rounding)
    elif solid_b < 0:
        best = _height_over_plane(polyhedra, m, SIDE_A, best + rounding)
    else:
        best = _surfaces_apart(polyhedra, m, best + rounding)
        if best > rounding and (
            _has_inside(polyhedra, m, SIDE_A) or _has_inside(polyhedra, m, SIDE_B)
        ):
            return 0.0
    return max(best - rounding, 0.0) if best < at_most + rounding else at_most


@kernel  # many parameters: two shapes, each by kind, size, rotation and position
def distance(
    polyhedra: Polyhedra, kind_a: int, size_a: Vec3, solid_a: Index, R_a: Mat3, p_a: Vec3,
    kind_b: int, size_b: Vec3, solid_b: Index, R_b: Mat3, p_b: Vec3, at_most: float,
    manifold: Records[Manifold], solid_pair: Records[SolidPair],
) -> float:  # fmt: skip
    """Return the distance of two shapes to callers in Python, like `shape_distance` in kernels.

    `manifold` and `solid_pair` are arrays (1,) of the work records `work` and `m`. The other
    arguments are as in `shape_distance`.
    """
    return shape_distance(
        polyhedra, kind_a, size_a, solid_a, R_a, p_a, kind_b, size_b, solid_b, R_b, p_b, at_most,
        manifold[0], solid_pair[0],
    )  # fmt: skip
