# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Choose the few contacts of a patch that support the solid for every tilt possible in a step.

A patch is a set of contacts with similar normals. Tilt solid a against b by a slope t across the
patch's normal. The gap g of a contact at x then becomes g + t . x. The chosen contacts serve the
slope t if they include the contact with the smallest gap. A contact that lies between others of its
patch never has the smallest gap, and can be left out.

The slopes tried are zero, the slope of the present motion, and rings of slopes of growing
steepness. Small slopes resolve noise. Steep slopes find the support polygon of a tilting solid.
Open contacts are chosen with a coarser tolerance.
"""

import math

import numpy as np

from hrpsim.engine.collision.primitives.contact_row import MAX_POINTS
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Candidate, Index, Metres, Records, SolidPair
from hrpsim.engine.spatial.vector import matrix_times

# The slopes: zero, the motion's, and rings of seven.
_DIRECTIONS = MAX_POINTS - 1
_FIRST_OF_RINGS = 2
_RINGS = 4
_SLOPES = _FIRST_OF_RINGS + _RINGS * _DIRECTIONS
# The widest ring's slope, and the ratio of each inner ring to the next.
_WIDEST = 0.05
_INWARD = 0.125
# The directions of a ring, in an order that goes round early.
_ANGLES = 2.0 * np.pi * (3 * np.arange(_DIRECTIONS) % _DIRECTIONS + 0.25) / _DIRECTIONS
_DOWN = -np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)])
# Contacts for the inner rings at most, so that some are left for the others.
_NEAR_RINGS = 2
_NEAR_POINTS = 5
# A contact of the last step replaces another one that is lower by less than this part of the
# patch's extent.
_ALIKE = 0.02
# Once so many contacts are chosen, an open contact is left out of the widest ring if it is lower by
# less than this part of what the slope moves it against a chosen contact.
_SPANNING = 3
_COARSE = 0.4
# A contact of an open patch serves a ring if no other is lower by more than this part of the gap.
_OPEN = 0.25
# Part of its height by which a triangle of contacts may miss a contact that it spans. The support
# polygon loses less than 0.1 % of its area, and edges come nearer to its middle by less than 0.1 %.
_BEYOND = 5e-4
# Gaps that differ by less are equal [m]: rounding, and what solvers leave.
_EQUAL = 1e-8
# Gap over the deepest point up to which a contact has not opened yet [m].
_NEAR = 1e-5
_NONE = np.int64(-1)


@inlined_kernel
def _slope(
    number: Index, ring: int, motion_x: float, motion_y: float
) -> tuple[float, float, float]:
    """Return the components of slope `number` and its steepness.

    Slope 0 is zero, slope 1 is the slope of the motion. Their steepness counts as 0. The others
    belong to rings.
    """
    if number == 0:
        return 0.0, 0.0, 0.0
    if number == 1:
        return motion_x, motion_y, 0.0
    steepness = _WIDEST * _INWARD ** (_RINGS - 1 - ring)
    direction = (number - _FIRST_OF_RINGS) % _DIRECTIONS
    return steepness * _DOWN[direction, 0], steepness * _DOWN[direction, 1], steepness


@inner_kernel
def choose_points(m: SolidPair, candidates: Records[Candidate], seed: int, cluster: Index) -> None:
    """Choose up to MAX_POINTS contacts of a cluster, and set `kept` of their records.

    `seed`, the deepest contact, is always chosen. A contact of the last step (m.memory) is chosen
    if it bears load, nearly touches, or has the smallest gap at one of the slopes. The smallest
    slopes take precedence, because small slopes occur in most steps. In a small cluster all
    touching contacts are chosen, except contacts that lie between others.
    """
    radius = _lay_out(m, candidates, seed, cluster)
    _remember(m, candidates)
    motion_x, motion_y = _slope_of_motion(m, candidates[seed])
    away = candidates[seed].gap + _NEAR
    if m.size <= MAX_POINTS:
        away = max(away, 0.0)
        _drop_spanned(m)
        _choose_touching(m, away)
    for number in range(_SLOPES):
        ring = (number - _FIRST_OF_RINGS) // _DIRECTIONS
        tx, ty, steepness = _slope(number, ring, motion_x, motion_y)
        if ring >= 0 and not _may_change(m, candidates[seed].gap, steepness):
            continue
        slack = _OPEN * max(candidates[seed].gap, 0.0) if ring >= 0 else 0.0
        steady = slack + _EQUAL + _ALIKE * steepness * radius
        alike = slack + _EQUAL + steepness * m.rim
        is_spanned = ring == _RINGS - 1 and _count_due(m) >= _SPANNING
        coarse = _COARSE * steepness if is_spanned else 0.0
        lowest, serving = _find_lowest(m, tx, ty, steady, alike, coarse, away)
        if serving < 0:
            if 0 <= ring < _NEAR_RINGS and _count_due(m) >= _NEAR_POINTS:
                continue
            serving = _find_room(m, -math.inf if ring < 0 else away)
            if serving < 0:
                continue
            m.chosen[serving].index, m.chosen[serving].load = lowest, -1.0
        m.chosen[serving].needed = 1
    _keep_chosen(m, candidates, away)


@inlined_kernel
def _may_change(m: SolidPair, least: Metres, steepness: float) -> bool:
    """Return whether a slope could require a contact of a small patch that is not yet needed.

    A slope moves a contact down by its distance from the deepest contact, times the slope.
    """
    if m.size > MAX_POINTS:
        return True
    for index in range(m.size):
        height = m.gap[index] - least
        if height * height < steepness * steepness * (m.x[index] ** 2 + m.y[index] ** 2):
            if not _is_needed(m, index):
                return True
    return False


@inner_kernel
def _drop_spanned(m: SolidPair) -> None:
    """Exclude contacts that other contacts span, by an infinite gap. New contacts are tried first.

    A spanned contact never has the smallest gap, whichever way the solids tilt.
    """
    for known in range(2):
        for index in range(m.size):
            if _is_chosen(m, index) == (known == 1) and _is_spanned(m, index):
                m.gap[index] = math.inf
    for k in range(m.chosen_count):
        if m.gap[m.chosen[k].index] == math.inf:
            m.chosen[k].load = 0.0


@inner_kernel
def _is_spanned(m: SolidPair, index: int) -> bool:
    """Return whether a contact lies between two or three others of its cluster, and no lower."""
    for i in range(m.size):
        if i == index or m.gap[i] == math.inf:
            continue
        for j in range(i + 1, m.size):
            if j == index or m.gap[j] == math.inf:
                continue
            if _is_between(m, index, i, j):
                return True
            for k in range(j + 1, m.size):
                if k != index and m.gap[k] < math.inf and _is_over(m, index, i, j, k):
                    return True
    return False


@inlined_kernel
def _is_between(m: SolidPair, index: int, i: int, j: int) -> bool:
    """Return whether a contact lies on the line between two others, and no lower."""
    x, y = m.x[index] - m.x[i], m.y[index] - m.y[i]
    dx, dy, near = m.x[j] - m.x[i], m.y[j] - m.y[i], 2.0 * m.rim
    square = dx * dx + dy * dy
    if square <= near * near or abs(x * dy - y * dx) > near * math.sqrt(square):
        return False
    along = (x * dx + y * dy) / square
    if along < -_BEYOND or along > 1.0 + _BEYOND:
        return False
    return m.gap[i] + along * (m.gap[j] - m.gap[i]) <= m.gap[index] + _EQUAL


@inlined_kernel
def _is_over(m: SolidPair, index: int, i: int, j: int, k: int) -> bool:
    """Return whether a contact lies in the triangle of three others, and no lower."""
    x, y = m.x[index] - m.x[i], m.y[index] - m.y[i]
    dx, dy, ex, ey = m.x[j] - m.x[i], m.y[j] - m.y[i], m.x[k] - m.x[i], m.y[k] - m.y[i]
    area = dx * ey - dy * ex
    if abs(area) <= 4.0 * m.rim * m.rim:
        return False
    to_j, to_k = (x * ey - y * ex) / area, (dx * y - dy * x) / area
    if min(to_j, to_k) < -_BEYOND or to_j + to_k > 1.0 + _BEYOND:
        return False
    height = m.gap[i] + to_j * (m.gap[j] - m.gap[i]) + to_k * (m.gap[k] - m.gap[i])
    return height <= m.gap[index] + _EQUAL


@inlined_kernel
def _choose_touching(m: SolidPair, away: float) -> None:
    """Choose the contacts that are no further than `away` [m]."""
    for index in range(m.size):
        if m.gap[index] <= away and not _is_chosen(m, index):
            free = _find_room(m, away)
            if free >= 0:
                choice = m.chosen[free]
                choice.index, choice.load, choice.needed = index, -1.0, 1


@inlined_kernel
def _is_needed(m: SolidPair, index: int) -> bool:
    """Return whether a contact is chosen and serves a slope."""
    for k in range(m.chosen_count):
        if m.chosen[k].index == index:
            return m.chosen[k].needed != 0
    return False


@inlined_kernel
def _is_chosen(m: SolidPair, index: int) -> bool:
    """Return whether a contact is among the chosen."""
    for k in range(m.chosen_count):
        if m.chosen[k].index == index:
            return True
    return False


@inlined_kernel
def _keep_chosen(m: SolidPair, candidates: Records[Candidate], away: float) -> None:
    """Mark the chosen contacts that serve a slope, bear load or have a gap up to `away` [m]."""
    for k in range(m.chosen_count):
        choice = m.chosen[k]
        if choice.needed or choice.load > 0.0 or m.gap[choice.index] <= away:
            candidates[m.member[choice.index]].kept = 1


@inner_kernel
def _lay_out(m: SolidPair, candidates: Records[Candidate], seed: int, cluster: Index) -> float:
    """Write the members of a cluster and their positions perpendicular to its normal.

    The axes perpendicular to the normal are fixed in solid b.

    Returns:
        The largest distance of a member from `seed` [m].
    """
    n, origin = candidates[seed].normal, candidates[seed].point
    R, u, v = m.world_R[0], m.across[0], m.across[1]
    axis, least = 0, math.inf
    for k in range(3):
        along = abs(R[0, k] * n[0] + R[1, k] * n[1] + R[2, k] * n[2])
        if along < least - 1e-3:
            axis, least = k, along
    along = R[0, axis] * n[0] + R[1, axis] * n[1] + R[2, axis] * n[2]
    scale = 1.0 / math.sqrt(1.0 - along * along)
    for r in range(3):
        u[r] = scale * (R[r, axis] - along * n[r])
    v[0] = n[1] * u[2] - n[2] * u[1]
    v[1] = n[2] * u[0] - n[0] * u[2]
    v[2] = n[0] * u[1] - n[1] * u[0]
    m.size = 0
    radius_squared = 0.0
    for k in range(m.count):
        candidate = candidates[k]
        if candidate.cluster != cluster:
            continue
        candidate.kept = 0
        p = candidate.point
        x, y, z = p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]
        m.member[m.size], m.gap[m.size] = k, candidate.gap
        m.x[m.size] = u[0] * x + u[1] * y + u[2] * z
        m.y[m.size] = v[0] * x + v[1] * y + v[2] * z
        radius_squared = max(radius_squared, m.x[m.size] ** 2 + m.y[m.size] ** 2)
        m.size += 1
    return math.sqrt(radius_squared)


@inner_kernel
def _remember(m: SolidPair, candidates: Records[Candidate]) -> None:
    """Choose the contacts that existed in the last step, contacts with load first."""
    m.chosen_count = 0
    for bearing in range(2):
        for j in range(m.memory_count):
            if m.chosen_count == MAX_POINTS or (m.memory_load[j] > 0.0) != (bearing == 0):
                continue
            for index in range(m.size):
                if candidates[m.member[index]].feature == m.memory_feature[j]:
                    choice = m.chosen[m.chosen_count]
                    choice.index, choice.load, choice.needed = index, m.memory_load[j], 0
                    m.chosen_count += 1
                    break


@inner_kernel
def _slope_of_motion(m: SolidPair, seed: Candidate) -> tuple[float, float]:
    """Return both components of the slope by which the present motion tilts a in a step."""
    R, w, n = m.world_R[0], m.spin[0], seed.normal
    wx, wy, wz = matrix_times(R, w[0], w[1], w[2])
    gx, gy, gz = n[1] * wz - n[2] * wy, n[2] * wx - n[0] * wz, n[0] * wy - n[1] * wx
    u, v, dt = m.across[0], m.across[1], m.time_step
    along_u = gx * u[0] + gy * u[1] + gz * u[2]
    along_v = gx * v[0] + gy * v[1] + gz * v[2]
    return dt * along_u, dt * along_v


@inner_kernel
def _find_lowest(
    m: SolidPair, tx: float, ty: float, steady: Metres, alike: Metres, coarse: float, away: Metres
) -> tuple[int, int]:
    """Find the contact with the smallest gap under a slope, and a chosen contact to replace it.

    Args:
        m: SOLID_PAIR record.
        tx: first component of the slope.
        ty: second component of the slope.
        steady: tolerance of the gap for a chosen contact of the last step [m].
        alike: tolerance of the gap for another chosen contact [m].
        coarse: increase of both tolerances by the distance of the contacts, for open contacts [1].
        away: gap beyond which a contact counts as open [m].

    Returns:
        (index of the contact with the smallest gap, slot of the chosen contact or -1).
    """
    lowest, least = _NONE, math.inf
    for index in range(m.size):
        height = m.gap[index] + tx * m.x[index] + ty * m.y[index]
        if height < least:
            lowest, least = index, height
    known = fresh = _NONE
    least_known = least_fresh = math.inf
    for k in range(m.chosen_count):
        index = m.chosen[k].index
        height = m.gap[index] + tx * m.x[index] + ty * m.y[index]
        if m.chosen[k].load < 0.0:
            if height < least_fresh:
                fresh, least_fresh = k, height
        elif height < least_known:
            known, least_known = k, height
    if m.gap[lowest] <= away:
        coarse = 0.0
    if known >= 0 and least_known <= least + steady + coarse * _distance(m, lowest, known):
        return lowest, known
    if fresh >= 0 and least_fresh <= least + alike + coarse * _distance(m, lowest, fresh):
        return lowest, fresh
    return lowest, _NONE


@inlined_kernel
def _distance(m: SolidPair, index: int, slot: int) -> float:
    """Return the distance of a contact from a chosen contact, perpendicular to the normal [m]."""
    other = m.chosen[slot].index
    return math.hypot(m.x[index] - m.x[other], m.y[index] - m.y[other])


@inner_kernel
def _count_due(m: SolidPair) -> int:
    """Return the number of chosen contacts that bear load or serve a slope."""
    count = 0
    for k in range(m.chosen_count):
        count += 1 if m.chosen[k].needed or m.chosen[k].load > 0.0 else 0
    return count


@inlined_kernel
def _furthest_without_load(m: SolidPair, away: float) -> int:
    """Return the slot of the chosen contact with the largest gap that may be replaced, or _NONE.

    The contact has no load, serves no slope, and its gap exceeds `away` [m].
    """
    worst, largest = _NONE, away
    for k in range(m.chosen_count):
        choice = m.chosen[k]
        if not choice.needed and choice.load <= 0.0 and m.gap[choice.index] > largest:
            worst, largest = k, m.gap[choice.index]
    return worst


@inner_kernel
def _find_room(m: SolidPair, away: float) -> int:
    """Return a free slot for another chosen contact, or the slot of a replaceable contact, or -1.

    A contact is replaceable if it serves no slope. The contact without load and with the largest
    gap comes first, then the contact with the smallest load. With a finite `away` [m], only
    contacts without load and with a gap above `away` are replaceable.
    """
    if m.chosen_count < MAX_POINTS:
        m.chosen_count += 1
        return m.chosen_count - 1
    worst = _furthest_without_load(m, away)
    if worst >= 0 or away > -math.inf:
        return worst
    least = math.inf
    for k in range(m.chosen_count):
        choice = m.chosen[k]
        if not choice.needed and choice.load < least:
            worst, least = k, choice.load
    return worst
