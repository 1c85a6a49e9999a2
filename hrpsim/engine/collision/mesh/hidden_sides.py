# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Remove contacts of solids that a neighbouring face makes impossible (internal edges).

engine.collision.primitives.hidden_sides explains the rule. Here the faces are around a vertex, at
an edge, or beyond the edges of a triangle. The solids need not be convex, because a solid outside
the plane of a face cannot reach behind the face.
"""

import numpy as np

from hrpsim.engine.collision.mesh.contact_reduction import LIKE, cosine_of_normals
from hrpsim.engine.collision.mesh.separating_axis import end_along
from hrpsim.engine.collision.mesh.solid_pair import (
    A_FACE,
    A_VERTEX,
    FACE_VERTEX,
    SIDE_A,
    SIDE_B,
    VERTEX_FACE,
    velocity_at,
)
from hrpsim.engine.collision.primitives.hidden_sides import (
    FLUSH,
    FLUSH_SHARE,
    ON_FACE,
    SIDEWAYS,
    depth_in_springs,
    passes_over,
    span_a_patch,
)
from hrpsim.engine.collision.solids.polyhedra import CONVEX, Polyhedra
from hrpsim.engine.collision.solids.tiles import edge_numbered, triangle_numbered, vertex_numbered
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Candidate, Index, Records, SolidPair
from hrpsim.engine.spatial.vector import matrix_times, transposed_times

# A rim is this part of half the smaller solid's least extent (engine.collision.solids.features).
_RIM = 1e-4


@inner_kernel
def _feature(m: SolidPair, found: Candidate, side: int) -> tuple[int, int]:
    """Return kind and number of the own feature of a candidate."""
    code = found.code_a if side == SIDE_A else found.code_b
    return code % 4, code // 4


@inner_kernel
def _face_count(polyhedra: Polyhedra, m: SolidPair, found: Candidate, side: int) -> int:
    """Return the number of faces around the own feature. Faces at a vertex count twice.

    A cylinder has its two caps, whichever feature touches.
    """
    if polyhedra.solids[m.solid[side]].cylinder_radius > 0.0:
        return np.int64(2)
    kind, number = _feature(m, found, side)
    if kind == A_VERTEX:
        solid = polyhedra.solids[m.solid[side]]
        vertex = polyhedra.vertices[vertex_numbered(polyhedra, solid, number)]
        return 2 * (vertex.last_spoke - vertex.first_spoke)
    return np.int64(3 if kind == A_FACE else 2)


@inner_kernel
def _face_normal(
    polyhedra: Polyhedra, m: SolidPair, found: Candidate, side: int, k: Index
) -> tuple[float, float, float]:
    """Return the normal, in the world, of face k about the own feature, or 0 if there is none.

    The core of a round shape has no faces. A face beyond a concave edge hides nothing.
    """
    kind, number = _feature(m, found, side)
    own = polyhedra.solids[m.solid[side]]
    if own.cylinder_radius > 0.0:
        return matrix_times(m.world_R[1 - side], 0.0, 0.0, 1.0 if k else -1.0)
    if kind == A_VERTEX:
        vertex = polyhedra.vertices[vertex_numbered(polyhedra, own, number)]
        n = polyhedra.spokes[vertex.first_spoke + k // 2].normals[k % 2]
    elif kind == A_FACE:
        triangle = polyhedra.triangles[triangle_numbered(polyhedra, own, found.triangle)]
        if triangle.bend[k] != CONVEX:
            return 0.0, 0.0, 0.0
        n = triangle.beyond[k]
    else:
        n = polyhedra.edges[edge_numbered(polyhedra, own, number)].normals[k]
    # world_R[1 - side] is that of the own frame
    return matrix_times(m.world_R[1 - side], n[0], n[1], n[2])


@inner_kernel
def _plane_of_face(
    polyhedra: Polyhedra,
    m: SolidPair,
    found: Candidate,
    side: int,
    k: Index,
    gx: float,
    gy: float,
    gz: float,
) -> float:
    """Return the offset of the plane of face k about the own feature along its normal g [m]."""
    kind, _ = _feature(m, found, side)
    own = polyhedra.solids[m.solid[side]]
    if own.cylinder_radius > 0.0:
        p = m.world_p[1 - side]
        return own.cylinder_half + gx * p[0] + gy * p[1] + gz * p[2]
    if kind == A_FACE:
        triangle = polyhedra.triangles[triangle_numbered(polyhedra, own, found.triangle)]
        v = polyhedra.vertices[triangle.vertices[k]].position
        x, y, z = matrix_times(m.world_R[1 - side], v[0], v[1], v[2])
        p = m.world_p[1 - side]
        return gx * (x + p[0]) + gy * (y + p[1]) + gz * (z + p[2])
    x, y, z = _surface_point(found, side)
    return gx * x + gy * y + gz * z


@inner_kernel
def _surface_point(found: Candidate, side: int) -> tuple[float, float, float]:
    """Return the point of the own surface in contact, in the world."""
    half = 0.5 * found.gap if side == SIDE_A else -0.5 * found.gap
    p, n = found.point, found.normal
    return p[0] + half * n[0], p[1] + half * n[1], p[2] + half * n[2]


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _height_of_other(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    side: int,
    gx: float,
    gy: float,
    gz: float,
    plane: float,
    least: float,
) -> float:
    """Return the height of the other solid's lowest point over a plane with the normal g [m].

    If any contact point is lower than `least`, its height is returned without a further search.
    """
    for j in range(m.count):
        x, y, z = _surface_point(candidates[j], 1 - side)
        height = gx * x + gy * y + gz * z - plane
        if height < least:
            return height
    # world_R[side] is that of the other frame
    x, y, z = transposed_times(m.world_R[side], gx, gy, gz)
    vx, vy, vz = end_along(polyhedra, m, 1 - side, -x, -y, -z)
    p = m.world_p[side]
    height = x * vx + y * vy + z * vz + gx * p[0] + gy * p[1] + gz * p[2]
    return height - m.rounding[1 - side] - plane


@inner_kernel
def _is_on_face(polyhedra: Polyhedra, m: SolidPair, found: Candidate) -> bool:
    """Return whether the normal of a candidate is the normal of a face of either solid."""
    if found.how == VERTEX_FACE or found.how == FACE_VERTEX:
        return True
    n = found.normal
    for side in range(2):
        for k in range(_face_count(polyhedra, m, found, side)):
            x, y, z = _face_normal(polyhedra, m, found, side, k)
            if abs(x * n[0] + y * n[1] + z * n[2]) > ON_FACE:
                return True
    return False


@inner_kernel
def _velocity_of_core(
    polyhedra: Polyhedra, m: SolidPair, found: Candidate, side: int
) -> tuple[float, float, float]:
    """Return the world velocity of a relative to b at a core's point nearest to a contact [m/s].

    Rotation does not move a round surface. The core of a cylinder is its axis.
    """
    x, y, z = _surface_point(found, side)
    n, R, p = found.normal, m.world_R[SIDE_A], m.world_p[SIDE_A]
    if polyhedra.solids[m.solid[side]].cylinder_radius > 0.0:
        own_R, c = m.world_R[1 - side], m.world_p[1 - side]
        ax, ay, az = own_R[0, 2], own_R[1, 2], own_R[2, 2]
        along = (x - c[0]) * ax + (y - c[1]) * ay + (z - c[2]) * az
        x, y, z = c[0] + along * ax, c[1] + along * ay, c[2] + along * az
    r = m.rounding[side] if side == SIDE_A else -m.rounding[side]
    x, y, z = x + r * n[0] - p[0], y + r * n[1] - p[1], z + r * n[2] - p[2]
    x, y, z = transposed_times(R, x, y, z)
    x, y, z = velocity_at(m, SIDE_A, x, y, z)
    return matrix_times(R, x, y, z)


@inner_kernel
def _is_hidden(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    found: Candidate,
    tolerance: float,
) -> bool:
    """Return whether any face around a candidate's features makes the candidate impossible."""
    on_face = _is_on_face(polyhedra, m, found)
    if on_face and m.rounding[0] + m.rounding[1] > 0.0:  # it overlaps all around the contact
        return False
    for side in range(2):
        own = SIDE_A if side == 0 else SIDE_B
        for k in range(_face_count(polyhedra, m, found, own)):
            if _face_hides(polyhedra, m, candidates, found, own, k, on_face, tolerance):
                return True
    return False


@inlined_kernel
def _face_hides(
    polyhedra: Polyhedra,
    m: SolidPair,
    candidates: Records[Candidate],
    found: Candidate,
    own: Index,
    k: Index,
    on_face: bool,
    tolerance: float,
) -> bool:
    """Return whether face k about a candidate's feature of one side makes the candidate impossible.

    on_face: whether the candidate lies on a face.
    tolerance: height that counts as zero [m].
    """
    n, sign = found.normal, -1.0 if own == SIDE_A else 1.0
    x, y, z = _face_normal(polyhedra, m, found, own, k)
    if sign * (x * n[0] + y * n[1] + z * n[2]) > (SIDEWAYS if on_face else ON_FACE):
        return False
    if x * x + y * y + z * z == 0.0:
        return False
    plane = _plane_of_face(polyhedra, m, found, own, k, x, y, z)
    flush = tolerance
    if m.sink > 0.0:
        vx, vy, vz = _velocity_of_core(polyhedra, m, found, 1 - own)
        along = sign * (vx * x + vy * y + vz * z)
        flush += depth_in_springs(m.sink, along, m.time_step)
    height = _height_of_other(polyhedra, m, candidates, own, x, y, z, plane, -flush)
    if height < -flush:
        return False
    vx, vy, vz = _velocity_of_core(polyhedra, m, found, 1 - own)
    return passes_over(
        found.gap, n[0], n[1], n[2], on_face, height, sign * x, sign * y, sign * z,
        vx, vy, vz, m.time_step, flush,
    )  # fmt: skip


@inner_kernel
def take_out_hidden(polyhedra: Polyhedra, m: SolidPair, candidates: Records[Candidate]) -> None:
    """Mark the candidates that a face makes impossible: `how` becomes ~how, which is negative."""
    tolerance = min(FLUSH, FLUSH_SHARE / _RIM * m.rim)
    # Contacts beside each other on a round side span no patch.
    radius = polyhedra.solids[m.solid[0]].cylinder_radius
    is_round = max(radius, polyhedra.solids[m.solid[1]].cylinder_radius) > 0.0
    like = ON_FACE if is_round else LIKE
    patch = m.sink == 0.0 and _find_patch(m, candidates, like)
    for k in range(m.count):
        candidate = candidates[k]
        if patch and cosine_of_normals(candidate, candidates[0]) > like:
            continue
        if _is_hidden(polyhedra, m, candidates, candidate, tolerance):
            candidate.how = ~candidate.how


@inner_kernel
def put_back_hidden(m: SolidPair, candidates: Records[Candidate]) -> bool:
    """Restore the candidates that `take_out_hidden` marked, and return whether any were marked."""
    some = False
    for k in range(m.count):
        if candidates[k].how < 0:
            candidates[k].how = ~candidates[k].how
            some = True
    return some


@inner_kernel
def _find_patch(m: SolidPair, candidates: Records[Candidate], like: float) -> bool:
    """Return whether three candidates with similar normals span a patch.

    like: smallest cosine between the normals.
    """
    if m.count < 3:
        return False
    first, second, third = candidates[0], candidates[m.count // 2], candidates[m.count - 1]
    if cosine_of_normals(first, second) < like or cosine_of_normals(first, third) < like:
        return False
    return span_a_patch(first.point, second.point, third.point, first.normal)
