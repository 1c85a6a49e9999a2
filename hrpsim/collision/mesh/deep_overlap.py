# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convex solids so deep in each other that their features tell nothing, or tell it wrong.

Contacts of features see neighbourhoods. That two convex solids overlap, and by which way they come
apart soonest, is a matter of the solids as a whole: one contact along that way takes the place of
contacts that do not reach as deep as the solids do.
"""

from __future__ import annotations

import math

import numpy as np

from hrpsim.collision.mesh.expanding_polytope import find_penetration, witness_of_penetration
from hrpsim.collision.mesh.solid_pair import (
    A_SOLID,
    DEEP,
    NO_TRIANGLE,
    SIDE_A,
    add_candidate,
    feature_code,
)
from hrpsim.collision.mesh.tree_queries import boxes_apart, farthest_vertex
from hrpsim.jit.compiled import inner_kernel
from hrpsim.spatial.vector import transposed_times

_THE_SOLID = np.int64(0)  # there is one on each side

# The deepest contact tells how deep solids are if it differs from that by no more than this part of
# it, and so many rims (of 1e-4 of the half of the smaller one's least extent).
_SHARE, _RIMS = 0.1, 10.0


@inner_kernel
def mend_deep_overlap(polyhedra, m, candidates):
    """Replace the contacts of two convex solids by one where they miss how deep the solids are."""
    a, b = polyhedra.solids[m.solid[0]], polyhedra.solids[m.solid[1]]
    if not (a.is_convex and b.is_convex):
        return
    if m.count == 0:
        if boxes_apart(m, polyhedra.nodes[a.root], polyhedra.nodes[b.root]) > 0.0:
            return
    elif _is_consistent(polyhedra, m, candidates):
        return
    if not find_penetration(polyhedra, m):
        return
    x, y, z = witness_of_penetration(polyhedra, m)
    n, whole = m.polytope.out, feature_code(A_SOLID, _THE_SOLID)
    m.count = 0
    add_candidate(
        m, candidates, SIDE_A, DEEP, whole, whole, NO_TRIANGLE, x, y, z,
        -n[0], -n[1], -n[2], -m.polytope.depth,
    )  # fmt: skip


@inner_kernel
def _is_consistent(polyhedra, m, candidates):
    """Return whether the contacts tell how deep two convex solids are in each other.

    Along its normal the deepest contact of convex solids is as deep as these are, and no other one
    presses against it.
    """
    deepest, least = -1, math.inf
    for k in range(m.count):
        if candidates[k].how >= 0 and candidates[k].gap < least:
            deepest, least = k, candidates[k].gap
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
def _depth_along(polyhedra, m, normal):
    """Return how deep a is in b along a normal (3,) of the world, from b to a [m]."""
    depth = m.rounding[0] + m.rounding[1]
    for side in range(2):
        sign = -1.0 if side == 0 else 1.0
        # world_R[1] is that of a, the other frame of side 1
        R, p = m.world_R[1 - side], m.world_p[1 - side]
        x, y, z = transposed_times(R, sign * normal[0], sign * normal[1], sign * normal[2])
        vertex = farthest_vertex(polyhedra, m.solid[side], x, y, z, m.stack)
        v = polyhedra.vertices[vertex].position
        depth += x * v[0] + y * v[1] + z * v[2]
        for r in range(3):
            depth += sign * normal[r] * p[r]
    return depth
