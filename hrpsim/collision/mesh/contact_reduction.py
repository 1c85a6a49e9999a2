# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""From all contacts between two solids to the few that span each patch."""

from __future__ import annotations

import math

import numpy as np

from hrpsim.collision.mesh.contact_choice import choose_points
from hrpsim.collision.mesh.solid_pair import FACE_VERTEX, VERTEX_FACE
from hrpsim.collision.primitives.contact_row import MAX_MESH_POINTS, MAX_POINTS, NO_POINTS
from hrpsim.jit.compiled import inner_kernel

TAKEN_OUT = np.int64(-1)

# Contacts whose normals differ by less than this angle's cosine make one patch (18 degrees).
LIKE = 0.95
# Contacts in one place are one contact if their normals are within this angle's cosine.
_SAME = 0.999
# Of points as deep as each other to this length the first is the deepest [m].
_EQUALLY_DEEP = 1e-8


@inner_kernel
def _height_of(polyhedra, triangle, other):
    """Return the height of a triangle's middle over the plane of another one, thrice [m]."""
    face = polyhedra.triangles[other]
    n, corner = face.normal, polyhedra.vertices[face.vertices[0]].position
    height = 0.0
    for k in range(3):
        p = polyhedra.vertices[polyhedra.triangles[triangle].vertices[k]].position
        for r in range(3):
            height += n[r] * (p[r] - corner[r])
    return height


@inner_kernel
def _is_corner(polyhedra, first, second):
    """Return whether two faces make a corner to lie in: each one's middle is before the other."""
    return _height_of(polyhedra, first, second) > 0.0 and _height_of(polyhedra, second, first) > 0.0


@inner_kernel
def _drop_other_faces(polyhedra, m, candidates):
    """Leave each vertex one face, the nearest, of all but those that form a corner to lie in.

    Inside a convex edge a vertex is behind both faces, and the nearer one is the way out; the same
    holds for both sides of a plate.
    """
    for i in range(m.count):
        first = candidates[i]
        if (first.how != VERTEX_FACE and first.how != FACE_VERTEX) or first.triangle < 0:
            continue
        for j in range(i + 1, m.count):
            second = candidates[j]
            if second.how != first.how:
                continue
            if first.how == VERTEX_FACE:
                if first.code_a != second.code_a:
                    continue
                is_same = first.code_b == second.code_b
            else:
                if first.code_b != second.code_b:
                    continue
                is_same = first.code_a == second.code_a
            if not is_same and _is_corner(polyhedra, first.triangle, second.triangle):
                continue
            if abs(second.gap) < abs(first.gap):
                first.how = TAKEN_OUT
                break
            second.how = TAKEN_OUT


@inner_kernel
def cosine_of_normals(first, second):
    """Return the cosine between the normals of two candidates."""
    n, w = first.normal, second.normal
    return n[0] * w[0] + n[1] * w[1] + n[2] * w[2]


@inner_kernel
def _merge(m, candidates):
    """Leave one contact where several are in one place: a vertex's rather than an edge's."""
    near = 4.0 * m.rim * m.rim
    for i in range(m.count):
        first = candidates[i]
        if first.how < 0:
            continue
        for j in range(i + 1, m.count):
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
def _deepest_left(m, candidates):
    """Return the deepest candidate that is in no cluster yet, or -1."""
    deepest, least = TAKEN_OUT, math.inf
    for k in range(m.count):
        found = candidates[k]
        if found.how >= 0 and found.cluster < 0 and found.gap < least - _EQUALLY_DEEP:
            deepest, least = k, found.gap
    return deepest


@inner_kernel
def reduce_candidates(polyhedra, m, candidates, out):
    """Write the contacts that span each patch, deepest patch first; return how many."""
    _drop_other_faces(polyhedra, m, candidates)
    _merge(m, candidates)
    count = NO_POINTS
    cluster = NO_POINTS
    while count < MAX_MESH_POINTS:
        seed = _deepest_left(m, candidates)
        if seed < 0:
            break
        size = 0
        for k in range(m.count):
            found = candidates[k]
            if (
                found.how >= 0
                and found.cluster < 0
                and cosine_of_normals(found, candidates[seed]) > LIKE
            ):
                found.cluster, found.kept = cluster, 1
                size += 1
        if size > MAX_POINTS:
            choose_points(m, candidates, seed, cluster)
        if count + MAX_POINTS > MAX_MESH_POINTS:  # not all may find room, but the deepest does
            count = _write(candidates[seed], count, out)
            candidates[seed].kept = 0
        for k in range(m.count):
            found = candidates[k]
            if found.cluster == cluster and found.kept and count < MAX_MESH_POINTS:
                count = _write(found, count, out)
        cluster += 1
    return count


@inner_kernel
def _write(found, count, out):
    """Write a candidate as contact number `count`; return count + 1."""
    for r in range(3):
        out.point[count, r] = found.point[r]
        out.normal[count, r] = found.normal[r]
    out.gap[count] = found.gap
    out.feature[count] = found.feature
    return count + 1
