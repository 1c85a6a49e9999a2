# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of an own vertex with the face, edges and vertices of the other solid's triangle.

Points and directions (x, y, z), (nx, ny, nz) are in the frame of the other solid.
"""

import math

from hrpsim.engine.collision.mesh.solid_pair import (
    A_FACE,
    A_VERTEX,
    AN_EDGE,
    EDGE_VERTEX,
    FACE_VERTEX,
    NO_TRIANGLE,
    VERTEX_EDGE,
    VERTEX_FACE,
    VERTEX_VERTEX,
    add_candidate,
    closes,
    feature_code,
    is_inside,
    point_in_other,
    velocity_at,
)
from hrpsim.engine.collision.solids.polyhedra import CONVEX, FLAT, Polyhedra
from hrpsim.engine.collision.solids.tree_queries import is_near_surface
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Candidate, Edge, Index, Records, SolidPair, Triangle
from hrpsim.engine.spatial.vector import transposed_times

# Rounding of directions at the boundary of a normal cone [rad].
CONE_TOLERANCE = 1e-9
# Distance across a flat edge within which a vertex still belongs to the triangle, per height over
# it: faces that continue each other may spread by twice this angle.
SPREAD = 2e-3
# Points nearer than this have no direction from one to the other [m].
COINCIDENT = 1e-12


@inner_kernel
def vertex_supports(
    polyhedra: Polyhedra,
    m: SolidPair,
    side: int,
    vertex: Index,
    nx: float,
    ny: float,
    nz: float,
    lean: float,
) -> bool:
    """Return whether an own vertex is the farthest point of its surface along -n.

    lean: tolerance, as the sine of the angle by which the surface may rise beyond the vertex.
    """
    x, y, z = transposed_times(m.R[side], nx, ny, nz)
    for s in range(polyhedra.vertices[vertex].first_spoke, polyhedra.vertices[vertex].last_spoke):
        d = polyhedra.spokes[s].direction
        if x * d[0] + y * d[1] + z * d[2] < -lean:
            return False
    return True


@inner_kernel
def _over_triangle(
    polyhedra: Polyhedra,
    face: Triangle,
    x: float,
    y: float,
    z: float,
    height: float,
    rim: float,
    calm: float,
) -> tuple[bool, int]:
    """Return whether a point is over or under a triangle, and the concave edge beyond which it is.

    At a concave edge, a face counts as continued beneath its neighbour. A vertex slightly inside
    both faces therefore has contacts with both. The edge is -1 if the point is beyond none.
    """
    across = NO_TRIANGLE
    for k in range(3):
        corner, out = polyhedra.vertices[face.vertices[k]].position, face.outward[k]
        dx, dy, dz = x - corner[0], y - corner[1], z - corner[2]
        past = dx * out[0] + dy * out[1] + dz * out[2]
        if past <= rim:
            continue
        if face.bend[k] == CONVEX:
            return False, across
        if face.bend[k] == FLAT:
            if past > rim + SPREAD * abs(height):
                return False, across
        else:
            n = face.beyond[k]
            inside = -(dx * n[0] + dy * n[1] + dz * n[2])
            if past > rim + 2.0 * inside or inside > calm:
                return False, across
            across = k
    return True, across


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _comes_down_on(
    polyhedra: Polyhedra,
    face: Triangle,
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
    rim: float,
) -> bool:
    """Return whether a point, displaced by d, is still over a triangle or near its convex edges."""
    slack = rim + 0.1 * math.sqrt(dx * dx + dy * dy + dz * dz)
    for k in range(3):
        if face.bend[k] == CONVEX:
            corner, out = polyhedra.vertices[face.vertices[k]].position, face.outward[k]
            past = (
                (x + dx - corner[0]) * out[0]
                + (y + dy - corner[1]) * out[1]
                + (z + dz - corner[2]) * out[2]
            )
            if past > slack:
                return False
    return True


@inner_kernel
def _fraction_inward(
    polyhedra: Polyhedra, face: Triangle, cx: float, cy: float, cz: float, rim: float
) -> float:
    """Return the fraction of the way to a triangle's centroid c that leads three rims inside."""
    least = math.inf
    for k in range(3):
        corner, out = polyhedra.vertices[face.vertices[k]].position, face.outward[k]
        within = (corner[0] - cx) * out[0] + (corner[1] - cy) * out[1] + (corner[2] - cz) * out[2]
        least = min(least, within)
    return min(3.0 * rim / least, 1.0)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _has_come_in(
    polyhedra: Polyhedra,
    m: SolidPair,
    side: int,
    face: Triangle,
    across: int,
    x: float,
    y: float,
    z: float,
    height: float,
) -> bool:
    """Return whether a point behind a face is inside the solid, and entered it through this face.

    A ray along the face's normal decides. The ray starts a little inside the triangle, because the
    point may be flush with its edges.
    """
    if across >= 0:
        w = face.beyond[across]
        return is_inside(polyhedra, m, side, x, y, z, w[0], w[1], w[2], 0.0)
    cx = cy = cz = 0.0
    for k in range(3):
        p = polyhedra.vertices[face.vertices[k]].position
        cx, cy, cz = cx + p[0] / 3.0, cy + p[1] / 3.0, cz + p[2] / 3.0
    fraction = _fraction_inward(polyhedra, face, cx, cy, cz, m.rim)
    n = face.normal
    ix = x + fraction * (cx + height * n[0] - x)
    iy = y + fraction * (cy + height * n[1] - y)
    iz = z + fraction * (cz + height * n[2] - z)
    if not is_inside(polyhedra, m, side, ix, iy, iz, n[0], n[1], n[2], -0.99 * height):
        return False
    if height > -m.near - m.calm:
        return True
    other = m.solid[1 - side]
    return not is_near_surface(polyhedra, other, x, y, z, -0.5 * height, m.stack)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def meet_face(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    side: int,
    vertex: Index,
    code: int,
    x: float,
    y: float,
    z: float,
    triangle: Index,
) -> None:
    """Add the contact of the own vertex at x with the face of a triangle, if any."""
    n = polyhedra.triangles[triangle].normal
    belongs, across, height = over_face(polyhedra, m, side, x, y, z, triangle)
    if belongs and vertex_supports(polyhedra, m, side, vertex, n[0], n[1], n[2], m.lean):
        touch_face(polyhedra, m, candidates, side, code, x, y, z, triangle, across, height)


@inner_kernel
def over_face(
    polyhedra: Polyhedra, m: SolidPair, side: int, x: float, y: float, z: float, triangle: Index
) -> tuple[bool, int, float]:
    """Return whether the own point x, y, z may have a contact with the face of a triangle.

    Returns:
        (whether the point is over the face and near enough, concave edge that the point is beyond
        or -1, height over the face [m]).
    """
    face = polyhedra.triangles[triangle]
    n = face.normal
    corner = polyhedra.vertices[face.vertices[0]].position
    height = (x - corner[0]) * n[0] + (y - corner[1]) * n[1] + (z - corner[2]) * n[2]
    if height - m.rounding[side] > m.near or height < -face.depth:
        return False, NO_TRIANGLE, height
    belongs, across = _over_triangle(polyhedra, face, x, y, z, height, m.rim, m.calm)
    return belongs, across, height


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def touch_face(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    side: int,
    code: int,
    x: float,
    y: float,
    z: float,
    triangle: Index,
    across: int,
    height: float,
) -> None:
    """Add the contact of the own point x with a face, if any, after `over_face`.

    across, height: results of `over_face`.
    """
    face = polyhedra.triangles[triangle]
    n = face.normal
    gap = height - m.rounding[side]
    if (across >= 0 or height < -m.rim) and not _has_come_in(
        polyhedra, m, side, face, across, x, y, z, height
    ):
        return
    if gap > m.calm:
        dx, dy, dz = velocity_at(m, side, x, y, z)
        approach = -(dx * n[0] + dy * n[1] + dz * n[2])
        if not closes(m, gap, approach):
            return
        time = gap / approach
        if not _comes_down_on(polyhedra, face, x, y, z, time * dx, time * dy, time * dz, m.rim):
            return
    add_candidate(
        m, candidates, side, VERTEX_FACE if side == 0 else FACE_VERTEX, code,
        feature_code(A_FACE, face.facet), face.number, x, y, z, n[0], n[1], n[2], height,
    )  # fmt: skip


@inner_kernel
def _passes_wedge(
    edge: Edge, x: float, y: float, z: float, dx: float, dy: float, dz: float, rounding: float
) -> bool:
    """Return whether a point that moves by d is behind both faces of a convex edge at any time."""
    begin, end = 0.0, 1.0
    for k in range(2):
        n, s = edge.normals[k], edge.start
        height = (x - s[0]) * n[0] + (y - s[1]) * n[1] + (z - s[2]) * n[2] - rounding
        rate = dx * n[0] + dy * n[1] + dz * n[2]
        if height > 0.0:
            if rate >= 0.0:
                return False
            begin = max(begin, -height / rate)
        elif rate > 0.0:
            end = min(end, -height / rate)
    return begin <= end


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def comes_behind_edge(
    m: SolidPair,
    side: int,
    edge: Edge,
    x: float,
    y: float,
    z: float,
    nx: float,
    ny: float,
    nz: float,
    gap: float,
) -> bool:
    """Return whether the own point x, y, z gets behind the faces of an edge within the step.

    n: unit normal of the contact. gap: gap along n [m].
    """
    dx, dy, dz = velocity_at(m, side, x, y, z)
    if not closes(m, gap, -(dx * nx + dy * ny + dz * nz)):
        return False
    time, rounding = m.time_step, m.rounding[0] + m.rounding[1]
    return _passes_wedge(edge, x, y, z, time * dx, time * dy, time * dz, rounding + m.calm)


@inlined_kernel
def _in_cone_of_edge(edge: Edge, nx: float, ny: float, nz: float) -> bool:
    """Return whether n lies in the normal cone of an edge."""
    e, w = edge.inward[0], edge.inward[1]
    first = nx * e[0] + ny * e[1] + nz * e[2]
    second = nx * w[0] + ny * w[1] + nz * w[2]
    return first <= CONE_TOLERANCE and second <= CONE_TOLERANCE


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def touch_edge(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    side: int,
    vertex: Index,
    code: int,
    x: float,
    y: float,
    z: float,
    edge: Edge,
    edge_code: int,
) -> None:
    """Add the contact of the own vertex at x with an edge if its nearest point is on the edge."""
    s, d = edge.start, edge.direction
    dx, dy, dz = x - s[0], y - s[1], z - s[2]
    along = dx * d[0] + dy * d[1] + dz * d[2]
    if along <= 0.0 or along >= edge.length:
        return
    dx, dy, dz = dx - along * d[0], dy - along * d[1], dz - along * d[2]
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    gap = distance - m.rounding[0] - m.rounding[1]
    if gap > m.near or distance < COINCIDENT:
        return
    nx, ny, nz = dx / distance, dy / distance, dz / distance
    if not _in_cone_of_edge(edge, nx, ny, nz):
        return
    if not vertex_supports(polyhedra, m, side, vertex, nx, ny, nz, CONE_TOLERANCE):
        return
    if gap > m.calm and not comes_behind_edge(m, side, edge, x, y, z, nx, ny, nz, gap):
        return
    add_candidate(
        m, candidates, side, VERTEX_EDGE if side == 0 else EDGE_VERTEX, code, edge_code,
        NO_TRIANGLE, x, y, z, nx, ny, nz, distance,
    )  # fmt: skip


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def meet_vertex(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    side: int,
    vertex: Index,
    code: int,
    x: float,
    y: float,
    z: float,
    number: Index,
) -> None:
    """Add the contact of two vertices if the vertices are the nearest features there.

    x, y, z: own vertex, in the frame of the other solid [m]. number: vertex of the other solid.
    """
    other = polyhedra.vertices[number]
    nx, ny, nz = x - other.position[0], y - other.position[1], z - other.position[2]
    distance = math.sqrt(nx * nx + ny * ny + nz * nz)
    gap = distance - m.rounding[0] - m.rounding[1]
    if gap > m.near or distance < COINCIDENT:
        return
    nx, ny, nz = nx / distance, ny / distance, nz / distance
    for s in range(other.first_spoke, other.last_spoke):
        d = polyhedra.spokes[s].direction
        if nx * d[0] + ny * d[1] + nz * d[2] > CONE_TOLERANCE:
            return
    if not vertex_supports(polyhedra, m, side, vertex, nx, ny, nz, CONE_TOLERANCE):
        return
    if gap > m.calm:
        dx, dy, dz = velocity_at(m, side, x, y, z)
        if not closes(m, gap, -(dx * nx + dy * ny + dz * nz)):
            return
        for s in range(other.first_spoke, other.last_spoke):
            n = polyhedra.spokes[s].normals[0]
            height = distance * (nx * n[0] + ny * n[1] + nz * n[2])
            fall = -m.time_step * (dx * n[0] + dy * n[1] + dz * n[2])
            if height - m.rounding[0] - m.rounding[1] - m.calm > max(fall, 0.0):
                return
    add_candidate(
        m, candidates, side, VERTEX_VERTEX, code, feature_code(A_VERTEX, other.number),
        NO_TRIANGLE, x, y, z, nx, ny, nz, distance,
    )  # fmt: skip


@inner_kernel
def meet_with_vertex(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    side: int,
    vertex: Index,
    triangle: Index,
) -> None:
    """Add the contacts of an own vertex with the face, edges and vertices of a triangle.

    Contacts of two vertices are added for side 0 only, so that no contact is added twice.
    """
    own = polyhedra.vertices[vertex]
    x, y, z = point_in_other(m, side, own.position)
    code = feature_code(A_VERTEX, own.number)
    face = polyhedra.triangles[triangle]
    if face.is_face:
        meet_face(polyhedra, m, candidates, side, vertex, code, x, y, z, triangle)
    for k in range(3):
        if face.owned & (8 << k):
            edge = polyhedra.edges[face.edges[k]]
            touch_edge(
                polyhedra, m, candidates, side, vertex, code, x, y, z, edge,
                feature_code(AN_EDGE, edge.number),
            )  # fmt: skip
        if side == 0 and face.owned & (1 << k):
            meet_vertex(polyhedra, m, candidates, side, vertex, code, x, y, z, face.vertices[k])
