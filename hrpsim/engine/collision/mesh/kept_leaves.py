# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Lists of leaves of two convex solids that may touch, kept from step to step.

A list holds all leaves within limits that are wider than those of the step (mesh.facing_triangles).
The list is complete while the limits, the poses relative to the axis and the reference point have
changed by less than the limits are widened. A step tests only the leaves of the list, with its own
limits. The contacts are the same as without lists, to the last bit.

A coordinate of a solid's points changes by at most the change at the middle of the solid, plus the
change of the coordinate's axis times the radius around this middle.
"""

import math

import numpy as np

from hrpsim.engine.collision.mesh.facing_triangles import (
    add_triangle,
    begin_triangles,
    climbs_away,
    grow_box,
    is_out_of_reach,
    may_touch,
)
from hrpsim.engine.collision.mesh.separating_axis import middle_of
from hrpsim.engine.collision.solids.polyhedra import Polyhedra
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Facing, KeptLeaves, KeptSide, SolidPair

# Pairs with a list, and leaves of one solid in a list. A pair beyond replaces the oldest list.
SLOTS, LEAF_ROOM = 16, 256
# How much the limits are widened: lengths as a part of the largest gap of contacts, the chord of
# normals, and the way from the reference point over the lengths.
_WIDER, _TURN, _WAYS = 0.5, 0.02, 4.0
# A list is made if the solids move by less than this part of the lengths in the step.
_SLOW = 0.3

KEPT_SIDE = np.dtype(
    [
        ("R", "f8", (3, 3)),  # from the frame of the solid to the frame of the axis,
        ("t", "f8", (3,)),  # when the list was made [m]
        ("normal", "f8", (3,)),  # limits at that time, as in FACING
        ("bound", "f8"),
        ("lowest", "f8"),
        ("reach", "f8"),
        ("low", "f8", (3,)),  # of all triangles in the list [m]
        ("high", "f8", (3,)),
        ("count", "i8"),
        ("leaves", "i4", (LEAF_ROOM,)),  # numbers of nodes
    ]
)
KEPT_LEAVES = np.dtype(
    [
        ("owner", "i8"),  # the pair of shapes, 0 for none
        ("slack", "f8"),  # how much the limits are widened [m]
        ("cap", "f8"),  # limits when the list was made, as in SOLID_PAIR
        ("rise", "f8"),
        ("spread", "f8"),
        ("middle", "f8", (2,)),
        ("side", KEPT_SIDE, (2,)),
    ]
)


@inner_kernel
def list_kept_leaves(polyhedra: Polyhedra, m: SolidPair) -> bool:
    """List the triangles of both solids that may touch by a kept list. Make a list if useful.

    Call `limit_surface` before, which writes the limits.

    Returns:
        Whether there is a list. If not, the solids touch anew, move fast, or have many leaves.
    """
    if m.owner == 0:
        return False
    slot = 0
    while slot < SLOTS and m.kept_leaves[slot].owner != m.owner:
        slot += 1
    if m.rise == math.inf:
        if slot < SLOTS:
            m.kept_leaves[slot].owner = 0
        return False
    if slot == SLOTS or not _is_complete(polyhedra, m, m.kept_leaves[slot]):
        if not _is_slow(polyhedra, m):
            return False
        if slot == SLOTS:
            slot = m.next_slot
            m.next_slot = (slot + 1) % SLOTS
        kept = m.kept_leaves[slot]
        kept.owner = m.owner
        if not _make_list(polyhedra, m, kept):
            kept.owner = 0
            return False
    for k in range(2):
        side = 1 - k
        own, other, leaves = m.facing[side], m.facing[k], m.kept_leaves[slot].side[side]
        begin_triangles(own)
        for i in range(leaves.count):
            node = polyhedra.nodes[leaves.leaves[i]]
            if not is_out_of_reach(m, own, node, other.low, other.high, 0.0, 0.0):
                add_triangle(polyhedra, m, own, node)
    return True


@inner_kernel
def _is_slow(polyhedra: Polyhedra, m: SolidPair) -> bool:
    """Return whether a list would stay complete for some steps at the present motion."""
    a, b, p = polyhedra.solids[m.solid[0]], polyhedra.solids[m.solid[1]], m.separation.place
    w, v = m.spin[0], m.drift[0]
    x, y, z = v[0] + w[1] * p[2] - w[2] * p[1], v[1] + w[2] * p[0] - w[0] * p[2], v[2]
    z += w[0] * p[1] - w[1] * p[0]
    motion = m.time_step * math.sqrt(x * x + y * y + z * z) + m.turn * (a.ball + b.ball)
    return motion <= _SLOW * _WIDER * m.near


@inner_kernel
def _make_list(polyhedra: Polyhedra, m: SolidPair, kept: KeptLeaves) -> bool:
    """Write the leaves of both solids within the widened limits, and return whether they fit."""
    kept.slack, kept.cap, kept.rise, kept.spread = _WIDER * m.near, m.cap, m.rise, m.spread
    kept.middle[0], kept.middle[1] = m.middle[0], m.middle[1]
    for k in range(2):
        side = 1 - k
        own, leaves = m.facing[side], kept.side[side]
        leaves.bound, leaves.lowest, leaves.reach = own.bound, own.lowest, own.reach
        for i in range(3):
            leaves.t[i], leaves.normal[i] = own.t[i], own.normal[i]
            for j in range(3):
                leaves.R[i, j] = own.R[i, j]
    kept.side[0].low[:], kept.side[0].high[:] = -math.inf, math.inf
    return _fill_list(polyhedra, m, kept, 1) and _fill_list(polyhedra, m, kept, 0)


@inner_kernel
def _fill_list(polyhedra: Polyhedra, m: SolidPair, kept: KeptLeaves, side: int) -> bool:
    """Write the leaves of a solid within the widened limits, and return whether they fit."""
    own, leaves, other, stack = m.facing[side], kept.side[side], kept.side[1 - side], m.stack
    slack, way = kept.slack, _WAYS * kept.slack
    leaves.count = 0
    leaves.low[:], leaves.high[:] = math.inf, -math.inf
    stack[0] = polyhedra.solids[m.solid[side]].root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        number = stack[waiting]
        node = polyhedra.nodes[number]
        if is_out_of_reach(m, own, node, other.low, other.high, slack, _TURN):
            continue
        if node.child >= 0:
            if not climbs_away(m, own, node, slack, way):
                stack[waiting], stack[waiting + 1] = node.child, node.child + 1
                waiting += 2
        elif may_touch(polyhedra, m, own, node, slack, way):
            if leaves.count == LEAF_ROOM:
                return False
            leaves.leaves[leaves.count] = number
            leaves.count += 1
            grow_box(polyhedra, own, node.triangle, leaves)
    return True


@inner_kernel
def _is_complete(polyhedra: Polyhedra, m: SolidPair, kept: KeptLeaves) -> bool:
    """Return whether a list certainly holds all leaves within the present limits."""
    slack, beside_x, beside_y = kept.slack, 0.0, 0.0
    for side in range(2):
        own, was = m.facing[side], kept.side[side]
        x, y, z = _largest_shifts(polyhedra, m, own, was, side)
        beside_x, beside_y = beside_x + x, beside_y + y
        if not (
            z + max(own.bound - was.bound, 0.0) <= slack
            and max(beside_x, beside_y) + max(own.reach - was.reach, 0.0) <= 2.0 * slack
            and _rises_alike(polyhedra, m, kept, side, x, y, z)
        ):
            return False
    return True


@inlined_kernel
def _rises_alike(
    polyhedra: Polyhedra, m: SolidPair, kept: KeptLeaves, side: int, x: float, y: float, z: float
) -> bool:
    """Return whether normals, and rises from the reference point, changed less than widened.

    x, y, z: largest shifts of the solid's points in the frame of the axis [m].
    """
    own, was, slack = m.facing[side], kept.side[side], kept.slack
    cx, cy, cz, radius = middle_of(polyhedra.solids[m.solid[side]])
    away = radius  # of points from the reference point, across the axis
    for r in range(2):
        at = own.t[r] + own.R[r, 0] * cx + own.R[r, 1] * cy + own.R[r, 2] * cz
        away += abs(at - m.middle[r])
    turn = chord = 0.0
    for i in range(3):
        change = own.normal[i] - was.normal[i]
        turn, chord = max(turn, abs(change)), chord + change * change
    way = x + y + abs(m.middle[0] - kept.middle[0]) + abs(m.middle[1] - kept.middle[1])
    way += (_turned_by(own, was, 0) + _turned_by(own, was, 1)) * away
    rise = max(m.rise - kept.rise, 0.0) + kept.spread * way
    rise += max(m.spread - kept.spread, 0.0) * away
    return (
        turn + max(m.cap - kept.cap, 0.0) <= _TURN
        and way <= _WAYS * slack
        and z + max(own.lowest - was.lowest, 0.0) + rise <= slack
        and math.sqrt(chord) * away + rise <= 2.0 * slack
    )


@inlined_kernel
def _largest_shifts(
    polyhedra: Polyhedra, m: SolidPair, own: Facing, was: KeptSide, side: int
) -> tuple[float, float, float]:
    """Return how much the coordinates of a solid's points changed in the frame of the axis [m]."""
    x, y, z, radius = middle_of(polyhedra.solids[m.solid[side]])
    return (
        _shift(own, was, 0, x, y, z) + _turned_by(own, was, 0) * radius,
        _shift(own, was, 1, x, y, z) + _turned_by(own, was, 1) * radius,
        _shift(own, was, 2, x, y, z) + _turned_by(own, was, 2) * radius,
    )


@inlined_kernel
def _shift(own: Facing, was: KeptSide, r: int, x: float, y: float, z: float) -> float:
    """Return how much coordinate r of a point changed in the frame of the axis [m]."""
    change = own.t[r] - was.t[r]
    change += (own.R[r, 0] - was.R[r, 0]) * x + (own.R[r, 1] - was.R[r, 1]) * y
    return abs(change + (own.R[r, 2] - was.R[r, 2]) * z)


@inlined_kernel
def _turned_by(own: Facing, was: KeptSide, r: int) -> float:
    """Return the chord by which axis r of the frame of the axis turned against the solid."""
    x, y, z = own.R[r, 0] - was.R[r, 0], own.R[r, 1] - was.R[r, 1], own.R[r, 2] - was.R[r, 2]
    return math.sqrt(x * x + y * y + z * z)
