# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts between a convex edge of solid a and a convex edge of solid b.

n is the unit normal common to both edges, from b to a. The faces at the edges are numbered 0 and 1
for b, 2 and 3 for a. A normal cone of an edge has the directions between the normals of its faces.
"Hollow": an edge that ends at a concave edge continues a little beneath the face beyond.
"""

import math

import numpy as np

from hrpsim.engine.collision.mesh.solid_pair import (
    EDGE_EDGE,
    NO_TRIANGLE,
    SIDE_A,
    SIDE_B,
    add_candidate,
    edge_in_other,
    is_inside,
    point_in_other,
    to_other,
    velocity_at,
)
from hrpsim.engine.collision.mesh.vertex_contacts import CONE_TOLERANCE, comes_behind_edge
from hrpsim.engine.collision.solids.polyhedra import Polyhedra
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Candidate, Edge, Index, Metres, Records, SolidPair
from hrpsim.engine.spatial.vector import transposed_times

# Edges whose directions differ by less than this sine touch along their length: their ends do.
_PARALLEL = 1e-6
NO_FACE = np.int64(-1)
# Faces that lie on each other, or on an edge, to this angle: the contact takes the face's normal.
FACE_TO_FACE = 0.02
_FACING = 1.0 - 0.5 * FACE_TO_FACE * FACE_TO_FACE


@inner_kernel
def _to_own(m: SolidPair, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return the direction x, y, z of b's frame in the frame of a."""
    return transposed_times(m.R[SIDE_A], x, y, z)


@inner_kernel
def _outside_cones(
    m: SolidPair, edge_a: Edge, edge_b: Edge, nx: float, ny: float, nz: float
) -> tuple[float, int]:
    """Return the sine by which n is outside the edges' normal cones, and the face crossed.

    n is compared with the cone of b's edge, and -n with the cone of a's edge.
    """
    where = NO_FACE
    x, y, z = _to_own(m, nx, ny, nz)
    worst = 0.0
    for k in range(2):
        a, b = edge_a.inward[k], edge_b.inward[k]
        over_b = nx * b[0] + ny * b[1] + nz * b[2]
        over_a = -(x * a[0] + y * a[1] + z * a[2])
        if over_b > worst:
            worst, where = over_b, k
        if over_a > worst:
            worst, where = over_a, k + 2
    return worst, where


@inner_kernel
def _faces_together(m: SolidPair, edge_a: Edge, edge_b: Edge) -> tuple[int, int]:
    """Return the faces of edges a and b (0 or 1) that lie on each other, NO_FACE for none."""
    on_a, on_b, closest = NO_FACE, NO_FACE, _FACING
    for i in range(edge_a.curved, 2):
        g = edge_a.normals[i]
        gx, gy, gz = to_other(m, SIDE_A, g[0], g[1], g[2])
        for j in range(edge_b.curved, 2):
            h = edge_b.normals[j]
            facing = -(gx * h[0] + gy * h[1] + gz * h[2])
            if facing > closest:
                on_a, on_b, closest = i, j, facing
    return on_a, on_b


@inner_kernel
def _may_lie_flat(m: SolidPair, edge_a: Edge, edge_b: Edge, where: int) -> bool:
    """Return whether a face next to one edge may touch the other edge over the whole edge.

    The faces at the rim of a cylinder are the flat cap and the curved side. Only the cap may touch
    an edge over the whole edge.

    Args:
        m: the pair of solids.
        edge_a: edge of solid a.
        edge_b: edge of solid b.
        where: the face: 0 or 1 next to edge b, 2 or 3 next to edge a.
    """
    if (edge_a.curved if where < 2 else edge_b.curved) == 0:
        return True
    g, h = edge_a.normals[1 if where < 2 else where - 2], edge_b.normals[where if where < 2 else 1]
    x, y, z = to_other(m, SIDE_A, g[0], g[1], g[2])
    return -(x * h[0] + y * h[1] + z * h[2]) > _FACING


@inlined_kernel
def is_beside(edge: Edge, x: float, y: float, z: float, slack: float) -> bool:
    """Return whether an edge along x, y, z cannot have a contact with `edge`.

    The common normal of two edges is perpendicular to both. The normal can be in the cone of an
    edge only if the other edge passes between the normals of the edge's faces, to within a sine of
    `slack`.
    """
    g, h = edge.normals[0], edge.normals[1]
    first = x * g[0] + y * g[1] + z * g[2]
    second = x * h[0] + y * h[1] + z * h[2]
    return min(first, second) > slack or max(first, second) < -slack


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _shallower_elsewhere(
    polyhedra: Polyhedra,
    m: SolidPair,
    side: int,
    edge: Edge,
    face: Index,
    own: Edge,
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
    depth: Metres,
) -> bool:
    """Return whether an end of the own edge is less deep in the other solid than the edges overlap.

    The own edge runs from x to x + d. If an end is behind both faces of the other edge `edge`, but
    at most half as deep as `depth`, its vertex is in contact with a face, and the edges are not.
    The face numbered `face` of `edge`, if any, lies on the own solid.
    """
    tolerance = min(m.rim, depth)
    n, w, s = edge.normals[0], edge.normals[1], edge.start
    fall = -(dx * n[0] + dy * n[1] + dz * n[2])
    drop = -(dx * w[0] + dy * w[1] + dz * w[2])
    for end in range(2):
        if own.goes_on & (1 << end):  # no contact is made with that vertex
            continue
        ex, ey, ez = x + end * dx, y + end * dy, z + end * dz
        first = -((ex - s[0]) * n[0] + (ey - s[1]) * n[1] + (ez - s[2]) * n[2])
        second = -((ex - s[0]) * w[0] + (ey - s[1]) * w[1] + (ez - s[2]) * w[2])
        by_second = face == 0 or (face != 1 and second < first)
        least = second if by_second else first
        deepens = drop if by_second else fall
        if end == 1:
            deepens = -deepens
        if deepens > 0.0:
            continue
        if first > -tolerance and second > -tolerance and least < 0.5 * depth:
            back = 2.0 * tolerance
            ex, ey, ez = ex - back * n[0], ey - back * n[1], ez - back * n[2]
            ex, ey, ez = ex - back * w[0], ey - back * w[1], ez - back * w[2]
            if is_inside(polyhedra, m, side, ex, ey, ez, n[0], n[1], n[2], 0.0):
                return True
    return False


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _enters(
    polyhedra: Polyhedra,
    m: SolidPair,
    side: int,
    edge: Edge,
    along: float,
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
    low: float,
    high: float,
    depth: Metres,
) -> bool:
    """Return whether the segment x + t d, low <= t <= high, enters the solid of `edge`.

    The part of the segment behind both faces of the edge is tested at its point nearest to t = 0,
    where the edges are nearest (`along` the edge). The point is moved inward a little, so that it
    does not lie on another face.
    """
    if polyhedra.solids[m.solid[1 - side]].rounding > 0.0:
        return True
    s = edge.start
    for k in range(2):
        n = edge.normals[k]
        height = (x - s[0]) * n[0] + (y - s[1]) * n[1] + (z - s[2]) * n[2]
        rate = dx * n[0] + dy * n[1] + dz * n[2]
        if rate > 0.0:
            high = min(high, -height / rate)
        elif rate < 0.0:
            low = max(low, -height / rate)
        elif height > 0.0:
            return False
    if low > high:
        return False
    shift = 0.1 * depth
    t = min(max(0.0, low), high)
    t += min(max(0.5 * (low + high) - t, -shift), shift)
    d, e, w, n = edge.direction, edge.inward[0], edge.inward[1], edge.normals[0]
    back = shift if 2.0 * along < edge.length else -shift
    x += t * dx + shift * (e[0] + w[0]) + back * d[0]
    y += t * dy + shift * (e[1] + w[1]) + back * d[1]
    z += t * dz + shift * (e[2] + w[2]) + back * d[2]
    return is_inside(polyhedra, m, side, x, y, z, n[0], n[1], n[2], 0.0)


@inner_kernel
def _may_reach(edge: Edge, along: float, rim: float, deepest: float) -> bool:
    """Return whether position `along` an edge's line is on the edge, or may be in its hollow."""
    if along < -rim:
        return edge.goes_on & 1 != 0 and along > -rim - 4.0 * deepest
    if along > edge.length + rim:
        return edge.goes_on & 2 != 0 and along < edge.length + rim + 4.0 * deepest
    return True


@inner_kernel
def _reaches(
    edge: Edge,
    along: float,
    nx: float,
    ny: float,
    nz: float,
    depth: Metres,
    rim: float,
    deepest: float,
) -> bool:
    """Return whether position `along` an edge's line is on the edge or in its hollow.

    In the hollow, the contact must not be deeper than `deepest` beneath the face beyond. n leads
    out of the edge, and `depth` is the overlap along n [m].
    """
    past = max(-along, along - edge.length)
    if past <= rim:
        return True
    end = 0 if along < 0.0 else 1
    g, d = edge.beyond[end], edge.direction
    out = past if end == 1 else -past
    inside = depth * (nx * g[0] + ny * g[1] + nz * g[2])
    inside -= out * (d[0] * g[0] + d[1] * g[1] + d[2] * g[2])
    return depth > 0.0 and inside <= deepest and past <= rim + 2.0 * (max(inside, 0.0) + depth)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _overlap(
    polyhedra: Polyhedra,
    m: SolidPair,
    edge_a: Edge,
    edge_b: Edge,
    along_a: float,
    along_b: float,
    is_past: bool,
    on_a: int,
    on_b: int,
    nx: float,
    ny: float,
    nz: float,
    depth: Metres,
    deepest: float,
) -> bool:
    """Return whether two overlapping edges are in contact, rather than a vertex and a face.

    Args:
        polyhedra: pool of solids.
        m: SOLID_PAIR record.
        edge_a: edge of a.
        edge_b: edge of b.
        along_a: position of the crossing along edge a [m].
        along_b: position of the crossing along edge b [m].
        is_past: whether the lines cross beyond an end of an edge.
        on_a: face of edge a that lies on b, or NO_FACE.
        on_b: face of edge b that lies on a, or NO_FACE.
        nx: component of n, which leads out of b.
        ny: component of n.
        nz: component of n.
        depth: overlap along n [m].
        deepest: largest depth of a contact of these edges [m].
    """
    if is_past:
        if not _reaches(edge_b, along_b, nx, ny, nz, depth, m.rim, deepest):
            return False
        x, y, z = _to_own(m, -nx, -ny, -nz)
        if not _reaches(edge_a, along_a, x, y, z, depth, m.rim, deepest):
            return False
    la, lb = edge_a.length, edge_b.length
    ax, ay, az, ux, uy, uz = edge_in_other(m, SIDE_A, edge_a)
    if _shallower_elsewhere(
        polyhedra, m, SIDE_A, edge_b, on_b, edge_a, ax, ay, az, la * ux, la * uy, la * uz, depth
    ):
        return False
    bx, by, bz, vx, vy, vz = edge_in_other(m, SIDE_B, edge_b)
    if _shallower_elsewhere(
        polyhedra, m, SIDE_B, edge_a, on_a, edge_b, bx, by, bz, lb * vx, lb * vy, lb * vz, depth
    ):
        return False
    if depth <= m.rim and not is_past:
        return True
    depth = max(depth, m.rim)
    x, y, z = ax + along_a * ux, ay + along_a * uy, az + along_a * uz
    low, high = min(-along_a, 0.0), max(la - along_a, 0.0)
    if not _enters(polyhedra, m, SIDE_A, edge_b, along_b, x, y, z, ux, uy, uz, low, high, depth):
        return False
    x, y, z = bx + along_b * vx, by + along_b * vy, bz + along_b * vz
    low, high = min(-along_b, 0.0), max(lb - along_b, 0.0)
    return _enters(polyhedra, m, SIDE_B, edge_a, along_a, x, y, z, vx, vy, vz, low, high, depth)


@inlined_kernel
def _crossing(
    m: SolidPair, edge_a: Edge, edge_b: Edge, deepest: float
) -> tuple[bool, float, float, float, float, float, float]:
    """Find where the lines of two edges are nearest to each other, in the frame of b.

    Returns:
        (whether the edges may meet there, three components of the common unit normal n, distance
        from b to a along n [m], position along edge a [m], position along edge b [m]).
    """
    nowhere = False, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    ux, uy, uz = to_other(m, SIDE_A, edge_a.direction[0], edge_a.direction[1], edge_a.direction[2])
    v, slack = edge_b.direction, FACE_TO_FACE + m.turn
    if is_beside(edge_b, ux, uy, uz, slack):
        return nowhere
    x, y, z = _to_own(m, v[0], v[1], v[2])
    if is_beside(edge_a, x, y, z, slack):
        return nowhere
    nx, ny, nz = uy * v[2] - uz * v[1], uz * v[0] - ux * v[2], ux * v[1] - uy * v[0]
    sine = math.sqrt(nx * nx + ny * ny + nz * nz)
    if sine < _PARALLEL:
        return nowhere
    nx, ny, nz = nx / sine, ny / sine, nz / sine
    ax, ay, az = point_in_other(m, SIDE_A, edge_a.start)
    s = edge_b.start
    wx, wy, wz = ax - s[0], ay - s[1], az - s[2]
    distance = wx * nx + wy * ny + wz * nz
    if abs(distance) > max(m.near + m.rounding[0] + m.rounding[1], deepest):
        return nowhere
    # Where the lines are nearest: w + along_a u - along_b v is along n.
    cosine = ux * v[0] + uy * v[1] + uz * v[2]
    wu, wv = wx * ux + wy * uy + wz * uz, wx * v[0] + wy * v[1] + wz * v[2]
    along_a = (cosine * wv - wu) / (sine * sine)
    if not _may_reach(edge_a, along_a, m.rim, deepest):
        return nowhere
    along_b = (wv - cosine * wu) / (sine * sine)
    if not _may_reach(edge_b, along_b, m.rim, deepest):
        return nowhere
    return True, nx, ny, nz, distance, along_a, along_b


@inlined_kernel
def _contact_normal(
    m: SolidPair, edge_a: Edge, edge_b: Edge, nx: float, ny: float, nz: float, distance: float
) -> tuple[bool, float, float, float, float, int, int, bool]:
    """Find the contact normal of two edges: their common normal n, or the normal of a face.

    Returns:
        (whether the edges may touch, three components of the normal, distance along the normal
        [m], face of edge a on b or -1, face of edge b on a or -1, whether this face is not yet flat
        on the other solid but may become so in the step).
    """
    outside, where = _outside_cones(m, edge_a, edge_b, nx, ny, nz)
    opposite, elsewhere = _outside_cones(m, edge_a, edge_b, -nx, -ny, -nz)
    if opposite < outside or (opposite == outside and distance < 0.0):
        nx, ny, nz, distance = -nx, -ny, -nz, -distance
        outside, where = opposite, elsewhere
    on_a, on_b = _faces_together(m, edge_a, edge_b)
    holds, comes_down = True, False
    if on_b >= 0:
        h = edge_b.normals[on_b]
        leaning = nx * h[0] + ny * h[1] + nz * h[2]
        holds = abs(leaning) >= 0.5
        distance = distance if leaning > 0.0 else -distance
        nx, ny, nz = h[0], h[1], h[2]
    elif outside > CONE_TOLERANCE:
        holds = outside <= FACE_TO_FACE + (m.turn if distance > 0.0 else 0.0)
        holds = holds and _may_lie_flat(m, edge_a, edge_b, where)
        comes_down = outside > FACE_TO_FACE
        if where < 2:
            on_b = where
            h = edge_b.normals[where]
            nx, ny, nz = h[0], h[1], h[2]
        else:
            on_a = where - 2
            g = edge_a.normals[on_a]
            nx, ny, nz = to_other(m, SIDE_A, -g[0], -g[1], -g[2])
    return holds, nx, ny, nz, distance, on_a, on_b, comes_down


@inlined_kernel
def _approach(m: SolidPair, x: float, y: float, z: float, nx: float, ny: float, nz: float) -> float:
    """Return how far a point of a approaches b in the step, along -n [m]."""
    dx, dy, dz = velocity_at(m, SIDE_A, x, y, z)
    return -m.time_step * (dx * nx + dy * ny + dz * nz)


@inner_kernel
def meet_edges(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    edge_a: Edge,
    code_a: int,
    edge_b: Edge,
    code_b: int,
) -> None:
    """Add the contact of an edge of a with an edge of b, if the edges may touch.

    If faces at the edges lie on each other, or one edge lies on a face at the other edge, the
    crossing is a corner of the common patch. The contact normal is then the normal of the face. The
    same holds if the solids turn to such a pose, and the edges meet, within the step.

    Args:
        polyhedra: pool of solids.
        m: SOLID_PAIR record.
        candidates: contacts found so far.
        edge_a: EDGE record in the frame of solid a.
        code_a: code of this feature.
        edge_b: EDGE record in the frame of solid b.
        code_b: code of this feature.
    """
    deepest = min(edge_a.depth, edge_b.depth)
    crosses, nx, ny, nz, distance, along_a, along_b = _crossing(m, edge_a, edge_b, deepest)
    if not crosses:
        return
    holds, nx, ny, nz, distance, on_a, on_b, comes_down = _contact_normal(
        m, edge_a, edge_b, nx, ny, nz, distance
    )
    gap = distance - m.rounding[0] - m.rounding[1] if holds else math.inf
    if gap > m.near or distance < -deepest:
        return
    past = max(max(-along_a, along_a - edge_a.length), max(-along_b, along_b - edge_b.length))
    if (past > m.rim or distance < 0.0) and not _overlap(
        polyhedra, m, edge_a, edge_b, along_a, along_b, past > m.rim, on_a, on_b, nx, ny, nz,
        -distance, deepest,
    ):  # fmt: skip
        return
    ax, ay, az, ux, uy, uz = edge_in_other(m, SIDE_A, edge_a)
    px, py, pz = ax + along_a * ux, ay + along_a * uy, az + along_a * uz
    if comes_down and (past > m.rim or _approach(m, px, py, pz, nx, ny, nz) < gap):
        return
    if gap > m.calm and not comes_behind_edge(m, SIDE_A, edge_b, px, py, pz, nx, ny, nz, gap):
        return
    add_candidate(
        m, candidates, SIDE_A, EDGE_EDGE, code_a, code_b, NO_TRIANGLE,
        px, py, pz, nx, ny, nz, distance,
    )  # fmt: skip
