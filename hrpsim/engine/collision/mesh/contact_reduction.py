# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contact reduction: from all contacts between two solids to the few that span each patch.

Contacts with similar normals make a patch. Of several contacts at one point, and of one vertex with
several faces, only one is kept. engine.collision.mesh.contact_choice chooses within a patch.
"""

import math

import numpy as np

from hrpsim.engine.collision.mesh.contact_choice import choose_points
from hrpsim.engine.collision.mesh.solid_pair import FACE_VERTEX, VERTEX_FACE
from hrpsim.engine.collision.primitives.contact_row import MAX_MESH_POINTS, MAX_POINTS, NO_POINTS
from hrpsim.engine.collision.solids.polyhedra import Polyhedra
from hrpsim.engine.collision.solids.tiles import triangle_numbered
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Candidate, Index, Manifold, Records, Solid, SolidPair

_NONE = np.int64(-1)
TAKEN_OUT = np.int64(-1)
# Contacts whose normals differ by less than this angle's cosine make one patch (18 degrees).
LIKE = 0.95
# Contacts at one point are one contact if their normals are within this angle's cosine.
_SAME = 0.999
# Of points as deep as each other to this length the first is the deepest [m].
_EQUALLY_DEEP = 1e-8


@inner_kernel
def _height_of(polyhedra: Polyhedra, triangle: Index, other: int) -> float:
    """Return three times the height of a triangle's centroid over another triangle's plane [m]."""
    face = polyhedra.triangles[other]
    n, corner = face.normal, polyhedra.vertices[face.vertices[0]].position
    height = 0.0
    for k in range(3):
        p = polyhedra.vertices[polyhedra.triangles[triangle].vertices[k]].position
        for r in range(3):
            height += n[r] * (p[r] - corner[r])
    return height


@inner_kernel
def _is_corner(polyhedra: Polyhedra, solid: Solid, first: Index, second: Index) -> bool:
    """Return whether two faces form a concave corner: each centroid is in front of the other."""
    first = triangle_numbered(polyhedra, solid, first)
    second = triangle_numbered(polyhedra, solid, second)
    return _height_of(polyhedra, first, second) > 0.0 and _height_of(polyhedra, second, first) > 0.0


@inlined_kernel
def _of_one_vertex(first: Candidate, second: Candidate) -> bool:
    """Return whether two vertex-face contacts have the same vertex."""
    if first.how == VERTEX_FACE:
        return first.code_a == second.code_a
    return first.code_b == second.code_b


@inner_kernel
def _drop_other_faces(polyhedra: Polyhedra, m: SolidPair, candidates: Records[Candidate]) -> None:
    """For each vertex, keep the contact with the nearest face, and with faces of a concave corner.

    A vertex inside a convex edge is behind both faces, and the nearer face is the shortest way out.
    The same holds for both sides of a plate.
    """
    for i in range(m.count):
        first = candidates[i]
        if (first.how != VERTEX_FACE and first.how != FACE_VERTEX) or first.triangle < 0:
            continue
        for j in range(i + 1, m.count):
            second = candidates[j]
            if second.how != first.how or not _of_one_vertex(first, second):
                continue
            is_same = first.code_a == second.code_a and first.code_b == second.code_b
            solid = polyhedra.solids[m.solid[1 if first.how == VERTEX_FACE else 0]]
            if not is_same and _is_corner(polyhedra, solid, first.triangle, second.triangle):
                continue
            if abs(second.gap) < abs(first.gap):
                first.how = TAKEN_OUT
                break
            second.how = TAKEN_OUT


@inner_kernel
def cosine_of_normals(first: Candidate, second: Candidate) -> float:
    """Return the cosine of the angle between the contact normals of two candidate contacts."""
    n, w = first.normal, second.normal
    return n[0] * w[0] + n[1] * w[1] + n[2] * w[2]


@inner_kernel
def _merge(m: SolidPair, candidates: Records[Candidate]) -> None:
    """Merge coincident contacts. Contacts of vertices are kept rather than contacts of edges."""
    near, x = 4.0 * m.rim * m.rim, m.x
    for i in range(m.count):
        x[i] = candidates[i].point[0]
    for i in range(m.count):
        first = candidates[i]
        if first.how < 0:
            continue
        for j in range(i + 1, m.count):
            if abs(x[j] - x[i]) > 2.0 * m.rim:
                continue
            second = candidates[j]
            if second.how < 0:
                continue
            squared = 0.0
            for r in range(3):
                squared += (first.point[r] - second.point[r]) ** 2
            if squared < near and cosine_of_normals(first, second) > _SAME:
                if second.how < first.how:
                    first.how = TAKEN_OUT
                    break
                second.how = TAKEN_OUT


@inner_kernel
def _deepest_left(m: SolidPair, candidates: Records[Candidate]) -> int:
    """Return the deepest candidate that is in no cluster yet, or -1."""
    deepest, least = TAKEN_OUT, math.inf
    for k in range(m.count):
        candidate = candidates[k]
        if candidate.how >= 0 and candidate.cluster < 0 and candidate.gap < least - _EQUALLY_DEEP:
            deepest, least = k, candidate.gap
    return deepest


@inlined_kernel
def _gather(m: SolidPair, candidates: Records[Candidate], seed: int, cluster: Index) -> int:
    """Put contacts with normals similar to `seed` into a cluster. Return the number of contacts."""
    size = 0
    for k in range(m.count):
        candidate = candidates[k]
        is_left = candidate.how >= 0 and candidate.cluster < 0
        if is_left and cosine_of_normals(candidate, candidates[seed]) > LIKE:
            candidate.cluster, candidate.kept = cluster, 1
            size += 1
    return size


@inlined_kernel
def _narrow(m: SolidPair, candidates: Records[Candidate], seed: int, cluster: Index) -> int:
    """Restrict a cluster to contacts with the normal of `seed`. Return the number of contacts."""
    size = 0
    for k in range(m.count):
        candidate = candidates[k]
        if candidate.cluster != cluster:
            continue
        if cosine_of_normals(candidate, candidates[seed]) > _SAME:
            size += 1
        else:
            candidate.cluster, candidate.kept = _NONE, 0
    return size


@inner_kernel
def reduce_candidates(
    polyhedra: Polyhedra, m: SolidPair, candidates: Records[Candidate], out: Manifold
) -> int:
    """Write the contacts that span each patch, deepest patch first, and return their number."""
    _drop_other_faces(polyhedra, m, candidates)
    _merge(m, candidates)
    count = NO_POINTS
    cluster = NO_POINTS
    while count < MAX_MESH_POINTS:
        seed = _deepest_left(m, candidates)
        if seed < 0:
            break
        size = _gather(m, candidates, seed, cluster)
        if size <= MAX_POINTS:
            size = _narrow(m, candidates, seed, cluster)
        if size > 1:
            choose_points(m, candidates, seed, cluster)
        if count + MAX_POINTS > MAX_MESH_POINTS:  # not all may find room, but the deepest does
            count = _write(candidates[seed], count, out)
            candidates[seed].kept = 0
        for k in range(m.count):
            candidate = candidates[k]
            if candidate.cluster == cluster and candidate.kept and count < MAX_MESH_POINTS:
                count = _write(candidate, count, out)
        cluster += 1
    return count


@inner_kernel
def _write(found: Candidate, count: int, out: Manifold) -> int:
    """Write a candidate as contact number `count`, and return count + 1."""
    for r in range(3):
        out.point[count, r] = found.point[r]
        out.normal[count, r] = found.normal[r]
    out.gap[count] = found.gap
    out.feature[count] = found.feature
    return count + 1
