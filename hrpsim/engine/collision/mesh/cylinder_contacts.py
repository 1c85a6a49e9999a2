# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of a cylinder with the features of a mesh (docs/explanation/collision.md).

A cylinder has no fixed features on its round sides. The feature that a triangle, edge or vertex of
the mesh would touch has a closed form, or follows from an equation in one angle:

- a face touches the points of both rims that are deepest along the normal of the face,
- an edge touches the side as if the axis had a rounding radius, and a rim at the point of the
  circle that is nearest to the line of the edge,
- a vertex touches a cap, the side, or the nearest point of a rim.

These features follow the contact and do not turn with the cylinder, so that the cylinder rolls. A
cap that faces a triangle, and is near its plane as a whole, also has six points that are fixed to
the cylinder. The cylinder stands on these points.
"""

import math

import numpy as np

from hrpsim.engine.collision.mesh.edge_contacts import FACE_TO_FACE, is_beside, meet_edges
from hrpsim.engine.collision.mesh.separating_axis import is_outside_slab
from hrpsim.engine.collision.mesh.solid_pair import (
    A_FACE,
    A_VERTEX,
    AN_EDGE,
    FACE_VERTEX,
    LEAN,
    NO_TRIANGLE,
    SIDE_A,
    VERTEX_FACE,
    add_candidate,
    closes,
    feature_code,
    point_in_other,
    velocity_at,
)
from hrpsim.engine.collision.mesh.vertex_contacts import (
    COINCIDENT,
    CONE_TOLERANCE,
    over_face,
    touch_edge,
    touch_face,
    vertex_supports,
)
from hrpsim.engine.collision.primitives.cylinder_cap import FACING_COSINE
from hrpsim.engine.collision.primitives.generatrix import MEANINGFUL_SINE
from hrpsim.engine.collision.solids.polyhedra import TILE, Polyhedra
from hrpsim.engine.collision.solids.tiles import hold_tile
from hrpsim.engine.collision.solids.tree_queries import boxes_apart
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Candidate, Index, Records, SolidNode, SolidPair
from hrpsim.engine.spatial.vector import matrix_times, transposed_times

# Numbers of the features of a cylinder: edge 0 is the axis, edges 1 to 6 are places on rims, two
# for each way to find them. Vertices 0 and 1 are deepest points, the others are fixed points.
_AXIS, _FIRST_RIM = np.int64(0), np.int64(1)
_FIRST_FIXED, _FIXED_POINTS = 2, 6
# Cosine and sine of the angle between fixed points.
_COSINE, _SINE = 0.5, math.sqrt(0.75)
# Half the length of the tangent that stands for a rim at a place, over the radius.
_TANGENT = 0.05
# Tangents of angles: the longest step of the search on a rim, and the step at which it ends.
_LONGEST, _EXACT = 0.5, 1e-12
_STEPS = 20
# Ways to begin the search: both crossings of the projected line, and the point where it pierces.
_WAYS = 3
# A line at a smaller sine to the plane of a cap does not pierce it, one at a smaller sine to the
# axis does not cross the rim in projection.
_LEVEL = 1e-3
# Places on a rim whose directions have a larger cosine are one.
_SAME_PLACE = 1.0 - 1e-8


@inner_kernel
def meet_cylinder(
    polyhedra: Polyhedra, m: SolidPair, side: int, candidates: Records[Candidate]
) -> None:
    """Add the contacts of a mesh with a cylinder, which is the own solid of `side`.

    Args:
        polyhedra: pool of solids.
        m: SOLID_PAIR record.
        side: 0 if the cylinder is solid a, 1 if it is solid b.
        candidates: contacts found so far, changed.
    """
    near, solid = m.near, polyhedra.solids[m.solid[side]]
    box = polyhedra.nodes[solid.root]
    stack = m.pairs
    stack[0, 0] = polyhedra.solids[m.solid[1 - side]].root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = polyhedra.nodes[stack[waiting, 0]]
        if m.separation.known and is_outside_slab(m, 1 - side, node):
            continue
        apart = boxes_apart(m, box, node) if side == SIDE_A else boxes_apart(m, node, box)
        if apart > near or _clears_axis(m, side, node, near + solid.cylinder_radius):
            continue
        if node.child <= TILE:
            stack[waiting, 0] = hold_tile(polyhedra, node)
            waiting += 1
            continue
        if node.child < 0:
            _meet_triangle(polyhedra, m, candidates, side, node.triangle)
            continue
        stack[waiting, 0], stack[waiting + 1, 0] = node.child, node.child + 1
        waiting += 2


@inner_kernel
def _clears_axis(m: SolidPair, side: int, node: SolidNode, distance: float) -> bool:
    """Return whether the box of a node is certainly further from the axis than a distance [m]."""
    R, t, c, h = m.R[side], m.t[side], node.center, node.half
    x, y, _ = transposed_times(R, c[0] - t[0], c[1] - t[1], c[2] - t[2])
    reach = distance + math.sqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2])
    return x * x + y * y > reach * reach


@inner_kernel
def _meet_triangle(
    polyhedra: Polyhedra, m: SolidPair, candidates: Records[Candidate], side: int, number: int
) -> None:
    """Add the contacts with a triangle's face and with the features that the triangle owns."""
    solid = polyhedra.solids[m.solid[side]]
    triangle = polyhedra.triangles[number]
    n, c = triangle.normal, m.t[side]
    corner = polyhedra.vertices[triangle.vertices[0]].position
    height = n[0] * (c[0] - corner[0]) + n[1] * (c[1] - corner[1]) + n[2] * (c[2] - corner[2])
    x, y, z = transposed_times(m.R[side], n[0], n[1], n[2])
    sine = math.sqrt(x * x + y * y)
    if height - solid.cylinder_half * abs(z) - solid.cylinder_radius * sine > m.near:
        return
    highest = height - solid.cylinder_half * abs(z) + solid.cylinder_radius * sine
    _meet_face(polyhedra, m, candidates, side, number, x, y, z, highest <= m.near)
    for k in range(3):
        if triangle.owned & (1 << k):
            _meet_vertex(polyhedra, m, candidates, side, triangle.vertices[k])
        if triangle.owned & (8 << k):
            _meet_edge(polyhedra, m, candidates, side, triangle.edges[k])


@inner_kernel
def _meet_face(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    side: int,
    number: Index,
    nx: float,
    ny: float,
    nz: float,
    is_flat: bool,
) -> None:
    """Add the contacts of points of the rims with a triangle of the normal n in the own frame.

    is_flat: whether the whole of a facing cap is near the plane of the triangle.
    """
    radius = polyhedra.solids[m.solid[side]].cylinder_radius
    half = polyhedra.solids[m.solid[side]].cylinder_half
    sine = math.sqrt(nx * nx + ny * ny)
    if sine > MEANINGFUL_SINE:
        reach = radius / sine
        for end in range(2):
            if (nz if end else -nz) < LEAN:
                _meet_point(
                    polyhedra, m, candidates, side, end, number,
                    -reach * nx, -reach * ny, half if end else -half,
                )  # fmt: skip
    if is_flat and abs(nz) > FACING_COSINE:
        cap = 0 if nz > 0.0 else 1
        x, y = radius, 0.0
        for k in range(_FIXED_POINTS):
            _meet_point(
                polyhedra, m, candidates, side, _FIRST_FIXED + cap * _FIXED_POINTS + k, number,
                x, y, half if cap else -half,
            )  # fmt: skip
            x, y = _COSINE * x - _SINE * y, _SINE * x + _COSINE * y


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _meet_point(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    side: int,
    vertex: Index,
    number: Index,
    x: float,
    y: float,
    z: float,
) -> None:
    """Add the contact of point x of a rim, the vertex `vertex`, with the face of a triangle."""
    x, y, z = matrix_times(m.R[side], x, y, z)
    x, y, z = x + m.t[side, 0], y + m.t[side, 1], z + m.t[side, 2]
    belongs, across, height = over_face(polyhedra, m, side, x, y, z, number)
    if belongs:
        touch_face(
            polyhedra, m, candidates, side, feature_code(A_VERTEX, vertex), x, y, z, number,
            across, height,
        )  # fmt: skip


@inner_kernel
def _meet_vertex(
    polyhedra: Polyhedra, m: SolidPair, candidates: Records[Candidate], side: int, vertex: int
) -> None:
    """Add the contact of a vertex of the mesh with the cap, side or rim that is nearest to it."""
    solid = polyhedra.solids[m.solid[side]]
    radius, half = solid.cylinder_radius, solid.cylinder_half
    mesh = 1 - side
    record = polyhedra.vertices[vertex]
    x, y, z = point_in_other(m, mesh, record.position)
    across = math.sqrt(x * x + y * y)
    outside, above = across - radius, abs(z) - half
    if outside > m.near or above > m.near:
        return
    code = feature_code(A_VERTEX, record.number)
    if outside <= m.rim and above >= min(outside, 0.0):
        _meet_cap(polyhedra, m, candidates, mesh, vertex, code, x, y, z)
        return
    if above <= 0.0:
        _set_axis(m, radius, half)
        edge = feature_code(AN_EDGE, _AXIS)
        m.rounding[side] = radius
    else:
        end = 1 if z > 0.0 else 0
        _set_tangent(m, radius, half, end, x / across, y / across)
        edge = feature_code(AN_EDGE, _FIRST_RIM + end)
    touch_edge(polyhedra, m, candidates, mesh, vertex, code, x, y, z, m.round_edge, edge)
    m.rounding[side] = 0.0


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _meet_cap(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    mesh: Index,
    vertex: Index,
    code: int,
    x: float,
    y: float,
    z: float,
) -> None:
    """Add the contact of vertex x of the mesh, the own solid of side `mesh`, with a cap over it."""
    solid = polyhedra.solids[m.solid[1 - mesh]]
    radius, half = solid.cylinder_radius, solid.cylinder_half
    up = 1.0 if z > 0.0 else -1.0
    gap = abs(z) - half
    if gap < -min(radius, half) or not vertex_supports(
        polyhedra, m, mesh, vertex, 0.0, 0.0, up, LEAN
    ):
        return
    if gap > m.calm:
        dx, dy, dz = velocity_at(m, mesh, x, y, z)
        approach = -up * dz
        if not closes(m, gap, approach):
            return
        time = gap / approach
        x_then, y_then = x + time * dx, y + time * dy
        slack = m.rim + 0.1 * time * math.sqrt(dx * dx + dy * dy + dz * dz)
        if math.sqrt(x_then * x_then + y_then * y_then) > radius + slack:
            return
    add_candidate(
        m, candidates, mesh, VERTEX_FACE if mesh == 0 else FACE_VERTEX, code,
        feature_code(A_FACE, 1 if z > 0.0 else 0), NO_TRIANGLE, x, y, z, 0.0, 0.0, up, gap,
    )  # fmt: skip


@inner_kernel
def _meet_edge(
    polyhedra: Polyhedra, m: SolidPair, candidates: Records[Candidate], side: int, number: int
) -> None:
    """Add the contacts of an edge of the mesh with the side of a cylinder and with its rims."""
    solid = polyhedra.solids[m.solid[side]]
    radius, half = solid.cylinder_radius, solid.cylinder_half
    edge = polyhedra.edges[number]
    # start and direction of the edge in the own frame
    x, y, z = point_in_other(m, 1 - side, edge.start)
    d = edge.direction
    dx, dy, dz = matrix_times(m.R[1 - side], d[0], d[1], d[2])
    R = m.R[side]
    if not is_beside(edge, R[0, 2], R[1, 2], R[2, 2], FACE_TO_FACE + m.turn):
        _meet_side(polyhedra, m, candidates, side, number)
    reach = radius + m.near
    beside = _distance_beside(x, y, dx, dy, edge.length, radius)
    farthest = _TANGENT * radius + m.aside + max(m.farthest, m.deepest)
    for end in range(2):
        w = z - half if end else z + half
        along = min(max(-(x * dx + y * dy + w * dz), 0.0), edge.length)
        px, py, pz = x + along * dx, y + along * dy, w + along * dz
        if px * px + py * py + pz * pz > reach * reach:
            continue
        if m.separation.known:
            above = max(min(w, w + edge.length * dz), -max(w, w + edge.length * dz), 0.0)
            if beside * beside + above * above > farthest * farthest:
                continue
        first_c = first_s = second_c = second_s = 0.0
        for way in range(_WAYS):
            c, s = _begin(x, y, w, dx, dy, dz, radius, way)
            if c == 0.0 and s == 0.0:
                continue
            c, s = _nearest_on_rim(x, y, w, dx, dy, dz, radius, c, s)
            if max(c * first_c + s * first_s, c * second_c + s * second_s) > _SAME_PLACE:
                continue
            second_c, second_s, first_c, first_s = first_c, first_s, c, s
            _set_tangent(m, radius, half, end, c, s)
            if abs(c * dy - s * dx) > 1.0 - _LEVEL * _LEVEL and not _turn_across(
                m, x, y, w, dx, dy, dz
            ):
                continue
            rim = _FIRST_RIM + 2 * way + end
            _meet_round_edge(polyhedra, m, candidates, side, rim, number)


@inlined_kernel
def _distance_beside(
    x: float, y: float, dx: float, dy: float, length: float, radius: float
) -> float:
    """Return the distance of a segment x + t d from a circle, both seen along its axis [m]."""
    squared, outward = dx * dx + dy * dy, x * dx + y * dy
    along = min(max(-outward / squared, 0.0), length) if squared > 0.0 else 0.0
    least = math.sqrt((x + along * dx) ** 2 + (y + along * dy) ** 2)
    most = math.sqrt(max(x * x + y * y, (x + length * dx) ** 2 + (y + length * dy) ** 2))
    return max(least - radius, radius - most, 0.0)


@inner_kernel
def _meet_side(
    polyhedra: Polyhedra, m: SolidPair, candidates: Records[Candidate], side: int, number: int
) -> None:
    """Add the contact of an edge of the mesh with the side of a cylinder.

    An edge that is deeper behind the side than behind a cap does not touch the side.
    """
    solid = polyhedra.solids[m.solid[side]]
    half, count = solid.cylinder_half, m.count
    _set_axis(m, solid.cylinder_radius, half)
    m.rounding[side] = solid.cylinder_radius
    _meet_round_edge(polyhedra, m, candidates, side, _AXIS, number)
    m.rounding[side] = 0.0
    if m.count > count:
        candidate, R, p = candidates[count], m.world_R[1 - side], m.world_p[1 - side]
        along = 0.0
        for i in range(3):
            along += R[i, 2] * (candidate.point[i] - p[i])
        if half - abs(along) < -candidate.gap:
            m.count = count


@inner_kernel
def _meet_round_edge(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    side: int,
    own: int,
    number: int,
) -> None:
    """Add the contact of m.round_edge, of the own number `own`, with an edge of the mesh."""
    edge = polyhedra.edges[number]
    own_code, other_code = feature_code(AN_EDGE, own), feature_code(AN_EDGE, edge.number)
    if side == SIDE_A:
        meet_edges(polyhedra, m, candidates, m.round_edge, own_code, edge, other_code)
    else:
        meet_edges(polyhedra, m, candidates, edge, other_code, m.round_edge, own_code)


@inner_kernel
def _set_axis(m: SolidPair, radius: float, half: float) -> None:
    """Set m.round_edge to the axis of a cylinder, as the core of a capsule without faces."""
    edge = m.round_edge
    edge.length, edge.depth, edge.goes_on, edge.curved = 2.0 * half, radius, 0, 0
    for i in range(3):
        edge.start[i] = -half if i == 2 else 0.0
        edge.direction[i] = 1.0 if i == 2 else 0.0
        for k in range(2):
            edge.normals[k, i] = edge.inward[k, i] = 0.0


@inner_kernel
def _set_tangent(m: SolidPair, radius: float, half: float, end: int, c: float, s: float) -> None:
    """Set m.round_edge to the tangent of a rim at the direction (c, s) from the axis.

    The faces of this edge are the cylinder's side and cap.
    """
    edge, up = m.round_edge, 1.0 if end else -1.0
    reach = _TANGENT * radius
    edge.length, edge.depth, edge.goes_on, edge.curved = 2.0 * reach, min(radius, half), 0, 1
    edge.start[0], edge.start[1] = radius * c + reach * s, radius * s - reach * c
    edge.start[2] = up * half
    edge.direction[0], edge.direction[1], edge.direction[2] = -s, c, 0.0
    for i in range(3):
        outward = c if i == 0 else (s if i == 1 else 0.0)
        upward = up if i == 2 else 0.0
        edge.normals[0, i], edge.normals[1, i] = outward, upward
        edge.inward[0, i], edge.inward[1, i] = -upward, -outward


@inner_kernel
def _turn_across(
    m: SolidPair, x: float, y: float, z: float, dx: float, dy: float, dz: float
) -> bool:
    """Turn m.round_edge perpendicular to the line x + t d, if this rim tangent is parallel to it.

    Parallel edges have no common normal. The edge is turned to the direction that is perpendicular
    to the line and to the shortest connection of line and rim. This gives the same contact normal.
    The turned edge has no faces. x is relative to the centre of the rim.

    Returns:
        Whether the contact normal is in the normal cone of the rim.
    """
    edge, reach = m.round_edge, 0.5 * m.round_edge.length
    px, py = edge.start[0] + reach * edge.direction[0], edge.start[1] + reach * edge.direction[1]
    vx, vy, vz = px - x, py - y, -z
    along = vx * dx + vy * dy + vz * dz
    vx, vy, vz = vx - along * dx, vy - along * dy, vz - along * dz
    length = math.sqrt(vx * vx + vy * vy + vz * vz)
    if length < COINCIDENT:
        return False
    vx, vy, vz = vx / length, vy / length, vz / length
    i, j = edge.inward[0], edge.inward[1]
    over_side, over_cap = vz * i[2], vx * j[0] + vy * j[1]
    if min(over_side, over_cap) < -CONE_TOLERANCE and max(over_side, over_cap) > CONE_TOLERANCE:
        return False
    tx, ty, tz = vy * dz - vz * dy, vz * dx - vx * dz, vx * dy - vy * dx
    edge.direction[0], edge.direction[1], edge.direction[2] = tx, ty, tz
    edge.start[0], edge.start[1] = px - reach * tx, py - reach * ty
    edge.start[2] -= reach * tz
    for r in range(3):
        edge.normals[0, r] = edge.normals[1, r] = 0.0
    return True


@inner_kernel
def _begin(
    x: float, y: float, z: float, dx: float, dy: float, dz: float, radius: float, way: int
) -> tuple[float, float]:
    """Return a first guess (c, s) of the direction to the rim point nearest to a line x + t d.

    Guesses 0 and 1 (`way`) are the crossings of rim and line, projected along the axis, or the
    nearest point of the rim. Guess 2 is where the line pierces the plane of the rim. The result is
    (0, 0) if the guess does not exist.
    """
    squared = dx * dx + dy * dy
    if way == 2:
        if abs(dz) < _LEVEL:
            return 0.0, 0.0
        px, py = x - z / dz * dx, y - z / dz * dy
    else:
        if squared < _LEVEL * _LEVEL:
            return 0.0, 0.0
        along = -(x * dx + y * dy) / squared
        px, py = x + along * dx, y + along * dy
        half_chord_squared = radius * radius - px * px - py * py
        if half_chord_squared > 0.0:
            along = math.sqrt(half_chord_squared / squared)
            along = along if way else -along
            px, py = px + along * dx, py + along * dy
        elif way:
            return 0.0, 0.0
    length = math.sqrt(px * px + py * py)
    if length == 0.0:
        return 0.0, 0.0
    return px / length, py / length


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _nearest_on_rim(
    x: float, y: float, z: float, dx: float, dy: float, dz: float, radius: float, c: float, s: float
) -> tuple[float, float]:
    """Return the direction (c, s) of the rim's point nearest to a line, near the given direction.

    The line is x + t d from the middle of the rim, which lies in the plane z = 0. Newton's method
    minimises |P (q - x)|^2 / 2 over the angle of the point q. P removes the part along d. If the
    curvature is not positive, the step is downhill.
    """
    for _ in range(_STEPS):
        vx, vy, vz = radius * c - x, radius * s - y, -z
        along = vx * dx + vy * dy + vz * dz
        vx, vy = vx - along * dx, vy - along * dy
        tangent = c * dy - s * dx
        slope = c * vy - s * vx
        curvature = radius * (1.0 - tangent * tangent) - (c * vx + s * vy)
        if curvature > 1e-3 * radius:
            step = min(max(-slope / curvature, -_LONGEST), _LONGEST)
        else:
            step = -0.2 if slope > 0.0 else (0.2 if slope < 0.0 else 0.0)
        c, s = c - step * s, s + step * c
        length = math.sqrt(c * c + s * s)
        c, s = c / length, s / length
        if abs(step) < _EXACT:
            break
    return c, s
