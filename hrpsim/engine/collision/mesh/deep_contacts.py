# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of two deeply overlapping convex solids, along the direction of least penetration.

These contacts are used only while no contact of single features is as deep as the overlap of the
solids.

The points of a that are deepest in b are the support of a: a vertex, an edge or a face. b has a
support as well. Seen along the normal, the contacts are the corners of the overlap of both
supports: vertices over the other support, and crossings of edges. An edge that lies along a face
therefore has contacts at both ends, whatever the rounding errors.
"""

import math

import numpy as np

from hrpsim.engine.collision.mesh.contact_order import deepest_contact
from hrpsim.engine.collision.mesh.expanding_polytope import find_penetration, witness_of_penetration
from hrpsim.engine.collision.mesh.facing_features import lay_axes
from hrpsim.engine.collision.mesh.separating_axis import end_along
from hrpsim.engine.collision.mesh.solid_pair import (
    A_SOLID,
    DEEP,
    NO_TRIANGLE,
    SIDE_A,
    SIDE_B,
    add_candidate,
    feature_code,
)
from hrpsim.engine.collision.mesh.support_outline import is_over, outline_support
from hrpsim.engine.collision.solids.collision_proxies import PRISM_ERROR
from hrpsim.engine.collision.solids.polyhedra import Polyhedra
from hrpsim.engine.collision.solids.tree_queries import boxes_apart
from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Candidate,
    FacingVertex,
    Index,
    Records,
    SolidPair,
    Vec3,
)
from hrpsim.engine.spatial.vector import matrix_times, transposed_times

_THE_SOLID = np.int64(0)  # there is one on each side
# The deepest contact has the penetration depth if it differs from that by no more than this part of
# it, and so many rims (of 1e-4 of the half of the smaller one's least extent). A support reaches
# so many rims from its end.
_SHARE, _RIMS = 0.1, 10.0
# Edges that cross at a smaller sine lie along each other: their ends are the corners.
_ALONG = 1e-6


@inner_kernel
def mend_deep_overlap(polyhedra: Polyhedra, m: SolidPair, candidates: Records[Candidate]) -> None:
    """Replace the contacts of two deeply overlapping convex solids if all of them are too shallow.

    Contacts are too shallow if none reaches the penetration depth of the solids.
    """
    a, b = polyhedra.solids[m.solid[0]], polyhedra.solids[m.solid[1]]
    if not (a.is_convex and b.is_convex):
        return
    if m.count == 0:
        radii = a.cylinder_radius + b.cylinder_radius
        if m.separation.known and m.apart > PRISM_ERROR * radii:
            return
        if boxes_apart(m, polyhedra.nodes[a.root], polyhedra.nodes[b.root]) > 0.0:
            return
    elif _is_consistent(polyhedra, m, candidates):
        return
    if not find_penetration(polyhedra, m):
        return
    _meet_supports(polyhedra, m, candidates)


@inner_kernel
def _meet_supports(polyhedra: Polyhedra, m: SolidPair, candidates: Records[Candidate]) -> None:
    """Replace all contacts by the corners of the overlap of both supports along m.polytope.out."""
    n, a, b = m.separation.axis, m.facing[0], m.facing[1]
    for r in range(3):
        n[r] = -m.polytope.out[r]
    lay_axes(m)
    low = outline_support(polyhedra, m, SIDE_A, _RIMS * m.rim)
    high = -outline_support(polyhedra, m, SIDE_B, _RIMS * m.rim)
    m.count = 0
    for i in range(a.vertex_count):
        p = a.vertices[i]
        if is_over(b, p.place, m.rim):
            _add(
                m, candidates, p.vertex, _THE_SOLID, p.place[0], p.place[1],
                low, high, p.place[2] - low,
            )  # fmt: skip
    for j in range(b.vertex_count):
        q = b.vertices[j]
        if is_over(a, q.place, m.rim):
            _add(
                m, candidates, _THE_SOLID, q.vertex, q.place[0], q.place[1],
                low, high, high - q.place[2],
            )  # fmt: skip
    for i in range(a.vertex_count if a.vertex_count > 2 else a.vertex_count - 1):
        for j in range(b.vertex_count if b.vertex_count > 2 else b.vertex_count - 1):
            _meet_sides(
                m, candidates, a.vertices[i], a.vertices[(i + 1) % a.vertex_count],
                b.vertices[j], b.vertices[(j + 1) % b.vertex_count], low, high,
            )  # fmt: skip
    if m.count == 0:
        x, y, z = witness_of_penetration(polyhedra, m)
        x, y, _ = matrix_times(b.R, x, y, z)
        _add(m, candidates, _THE_SOLID, _THE_SOLID, x, y, low, high, 0.0)
    _, least = deepest_contact(m, candidates)
    gap = low - high - m.rounding[0] - m.rounding[1]
    for k in range(m.count):  # the deepest corner is as deep as the solids
        candidates[k].gap += gap - least


@inner_kernel
def _meet_sides(
    m: SolidPair,
    candidates: Records[Candidate],
    p: FacingVertex,
    q: FacingVertex,
    s: FacingVertex,
    t: FacingVertex,
    low: float,
    high: float,
) -> None:
    """Add the contact where side p q of a's support crosses side s t of b's support, if any."""
    px, py, sx, sy = p.place[0], p.place[1], s.place[0], s.place[1]
    ux, uy = q.place[0] - px, q.place[1] - py
    vx, vy = t.place[0] - sx, t.place[1] - sy
    area = ux * vy - uy * vx
    if abs(area) <= _ALONG * math.sqrt((ux * ux + uy * uy) * (vx * vx + vy * vy)):
        return
    along_a = ((sx - px) * vy - (sy - py) * vx) / area
    along_b = ((sx - px) * uy - (sy - py) * ux) / area
    if min(along_a, along_b) < 0.0 or max(along_a, along_b) > 1.0:
        return
    rise = p.place[2] + along_a * (q.place[2] - p.place[2]) - low
    drop = high - s.place[2] - along_b * (t.place[2] - s.place[2])
    x, y = px + along_a * ux, py + along_a * uy
    _add(m, candidates, p.vertex, s.vertex, x, y, low, high, rise + drop)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _add(
    m: SolidPair,
    candidates: Records[Candidate],
    number_a: Index,
    number_b: Index,
    x: float,
    y: float,
    low: float,
    high: float,
    rise: float,
) -> None:
    """Add the contact at x, y in the frame of the axis, half way between both surfaces.

    low, high: ends of both solids along the axis [m].
    rise: sum of the distances of both surfaces from these ends at x, y [m].
    """
    n = m.separation.axis
    gap = low - high + rise
    bx, by, bz = transposed_times(m.facing[1].R, x, y, 0.5 * (low + high + gap))
    add_candidate(
        m, candidates, SIDE_A, DEEP, feature_code(A_SOLID, number_a),
        feature_code(A_SOLID, number_b), NO_TRIANGLE, bx, by, bz, n[0], n[1], n[2], gap,
    )  # fmt: skip


@inner_kernel
def _is_consistent(polyhedra: Polyhedra, m: SolidPair, candidates: Records[Candidate]) -> bool:
    """Return whether the contacts have the penetration depth of two convex solids.

    Along its normal the deepest contact of convex solids is as deep as the solids, and no other
    contact presses against it.
    """
    deepest, least = deepest_contact(m, candidates)
    if deepest < 0:  # a face keeps the solids apart
        return True
    n = candidates[deepest].normal
    depth = _depth_along(polyhedra, m, n)
    if depth <= _RIMS * m.rim:
        return True
    if abs(depth + least) > _SHARE * depth + _RIMS * m.rim:
        return False
    for k in range(m.count):
        w = candidates[k].normal
        pushes = candidates[k].how >= 0 and candidates[k].gap < 0.0
        if pushes and n[0] * w[0] + n[1] * w[1] + n[2] * w[2] < 0.0:
            return False
    return True


@inner_kernel
def _depth_along(polyhedra: Polyhedra, m: SolidPair, normal: Vec3) -> float:
    """Return the depth of a in b along a normal (3,) of the world, from b to a [m]."""
    depth = m.rounding[0] + m.rounding[1]
    for side in range(2):
        sign = -1.0 if side == 0 else 1.0
        # world_R[1] is that of a, the other frame of side 1
        R, p = m.world_R[1 - side], m.world_p[1 - side]
        x, y, z = transposed_times(R, sign * normal[0], sign * normal[1], sign * normal[2])
        vx, vy, vz = end_along(polyhedra, m, side, x, y, z)
        depth += x * vx + y * vy + z * vz
        for r in range(3):
            depth += sign * normal[r] * p[r]
    return depth
