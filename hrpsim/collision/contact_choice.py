"""Of the many contacts of a patch the few that hold it, from step to step the same.

Tilt solid a against b by a slope t across the patch's normal: the gap of a contact at x becomes
g + t . x. A choice serves the slope if the least of its gaps is that of all. The slopes looked at
are none, the one that the present motion leads to, and rings of those that the step may bring.
"""

from __future__ import annotations

import math

import numpy as np

from hrpsim.collision.contact_row import MAX_POINTS, NO_POINTS
from hrpsim.collision.meeting import SIDE_A, velocity_at
from hrpsim.compiled import inner_kernel

# The slopes: none, the motion's, and rings of seven.
_DIRECTIONS = MAX_POINTS - 1
_FIRST_OF_RINGS = 2
_RINGS = 3
_SLOPES = _FIRST_OF_RINGS + _RINGS * _DIRECTIONS
# The widest ring is at the slope that a step may bring, within these bounds, each ring within it
# at this part of the next one's.
_LEAST, _LARGEST = 5e-3, 0.05
_INWARD = 0.125
# A contact that was there in the last step serves for another one that reaches further by less
# than this part of the patch's extent.
_ALIKE = 0.02
# Gaps that differ by less are equal [m]: rounding, and what solvers leave.
_EQUAL = 1e-8
# Gap over the deepest point up to which a contact has not left yet [m].
_NEAR = 1e-5
_NONE = np.int64(-1)


@inner_kernel
def choose_points(m, candidates, seed, cluster):
    """Mark as `kept` up to MAX_POINTS contacts of a cluster, among them the deepest, `seed`.

    What was there in the last step (m.memory) stays while it bears load, is about to or serves a
    slope. What the least slopes ask for goes before: they are the ones that a step does bring.
    """
    extent = _lay_out(m, candidates, seed, cluster)
    count = _remember(m, candidates, cluster)
    motion_x, motion_y, widest = _slope_of_motion(m, candidates[seed], extent)
    for number in range(_SLOPES):
        tx = ty = steepness = 0.0
        ring = (number - _FIRST_OF_RINGS) // _DIRECTIONS
        if number == 1:
            tx, ty = motion_x, motion_y
        elif number > 1:
            steepness = widest * _INWARD ** (_RINGS - 1 - ring)
            # in an order that goes round early
            direction = 3 * (number - _FIRST_OF_RINGS) % _DIRECTIONS
            angle = (direction + 0.25) * 2.0 * math.pi / _DIRECTIONS
            tx, ty = -steepness * math.cos(angle), -steepness * math.sin(angle)
        steady = _EQUAL + _ALIKE * steepness * extent
        alike = _EQUAL + steepness * m.rim
        lowest, serving = _find_lowest(m, candidates, cluster, tx, ty, steady, alike)
        if serving < 0:
            if count == MAX_POINTS:
                away = -math.inf if ring <= 0 else candidates[seed].gap + _NEAR
                if not _make_room(m, candidates, cluster, away):
                    continue
                count -= 1
            serving = lowest
            candidates[serving].kept = 1
            count += 1
        candidates[serving].needed = 1
    away = candidates[seed].gap + _NEAR
    for k in range(m.count):
        found = candidates[k]
        if found.cluster == cluster and not found.needed and found.load <= 0.0 and found.gap > away:
            found.kept = 0


@inner_kernel
def _lay_out(m, candidates, seed, cluster):
    """Write where the contacts of a cluster lie across its normal; return how far they reach [m].

    The axes are fixed in b.
    """
    n, origin = candidates[seed].normal, candidates[seed].point
    R = m.world_R[0]
    axis, least = 0, math.inf
    for k in range(3):
        along = abs(R[0, k] * n[0] + R[1, k] * n[1] + R[2, k] * n[2])
        if along < least - 1e-3:
            axis, least = k, along
    ux, uy, uz = R[0, axis], R[1, axis], R[2, axis]
    along = ux * n[0] + uy * n[1] + uz * n[2]
    ux, uy, uz = ux - along * n[0], uy - along * n[1], uz - along * n[2]
    norm = math.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux / norm, uy / norm, uz / norm
    m.across[0], m.across[1], m.across[2] = ux, uy, uz
    vx, vy, vz = n[1] * uz - n[2] * uy, n[2] * ux - n[0] * uz, n[0] * uy - n[1] * ux
    extent = 0.0
    for k in range(m.count):
        found = candidates[k]
        found.kept = found.needed = 0
        found.load = -1.0
        if found.cluster == cluster:
            p = found.point
            x, y, z = p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]
            found.x, found.y = ux * x + uy * y + uz * z, vx * x + vy * y + vz * z
            extent = max(extent, found.x * found.x + found.y * found.y)
    return math.sqrt(extent)


@inner_kernel
def _remember(m, candidates, cluster):
    """Keep the contacts of a cluster that were there in the last step; return how many.

    Those that bore load come first.
    """
    count = NO_POINTS
    for bearing in range(2):
        for j in range(m.memory_count):
            load = m.memory_load[j]
            if (load > 0.0) == (bearing == 1):
                continue
            for k in range(m.count):
                found = candidates[k]
                if found.cluster == cluster and found.feature == m.memory_feature[j]:
                    found.load = load
                    if count < MAX_POINTS and not found.kept:
                        found.kept = 1
                        count += 1
                    break
    return count


@inner_kernel
def _slope_of_motion(m, seed, extent):
    """Return the slope that the present motion adds in the step, and one that the step may add.

    The latter, a single number, counts the turning twice, and that by which the patch would turn
    if it were stopped at one side and went on at the other.
    """
    R, p, n = m.world_R[0], m.world_p[0], seed.normal
    w, q = m.spin[0], seed.point
    wx = R[0, 0] * w[0] + R[0, 1] * w[1] + R[0, 2] * w[2]
    wy = R[1, 0] * w[0] + R[1, 1] * w[1] + R[1, 2] * w[2]
    wz = R[2, 0] * w[0] + R[2, 1] * w[1] + R[2, 2] * w[2]
    gx, gy, gz = n[1] * wz - n[2] * wy, n[2] * wx - n[0] * wz, n[0] * wy - n[1] * wx
    ux, uy, uz = m.across[0], m.across[1], m.across[2]
    vx, vy, vz = n[1] * uz - n[2] * uy, n[2] * ux - n[0] * uz, n[0] * uy - n[1] * ux
    dt = m.time_step
    across = dt * (gx * ux + gy * uy + gz * uz)
    along = dt * (gx * vx + gy * vy + gz * vz)
    x, y, z = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    vx, vy, vz = velocity_at(
        m,
        SIDE_A,
        R[0, 0] * x + R[1, 0] * y + R[2, 0] * z,
        R[0, 1] * x + R[1, 1] * y + R[2, 1] * z,
        R[0, 2] * x + R[1, 2] * y + R[2, 2] * z,
    )
    climb = n[0] * (R[0, 0] * vx + R[0, 1] * vy + R[0, 2] * vz)
    climb += n[1] * (R[1, 0] * vx + R[1, 1] * vy + R[1, 2] * vz)
    climb += n[2] * (R[2, 0] * vx + R[2, 1] * vy + R[2, 2] * vz)
    bound = 2.0 * math.sqrt(across * across + along * along)
    if extent > 0.0:
        bound += dt * abs(climb) / extent
    return across, along, min(max(bound, _LEAST), _LARGEST)


@inner_kernel
def _find_lowest(m, candidates, cluster, tx, ty, steady, alike):
    """Return the lowest contact of a cluster under a slope, and a kept one that serves, or -1.

    Of those that were there in the last step the lowest serves if it is within `steady` [m] of the
    lowest of all, of others that are kept if it is within `alike`.
    """
    lowest, known, fresh = _NONE, _NONE, _NONE
    least = least_known = least_fresh = math.inf
    for k in range(m.count):
        found = candidates[k]
        if found.cluster != cluster:
            continue
        height = found.gap + tx * found.x + ty * found.y
        if height < least:
            lowest, least = k, height
        if found.kept:
            if found.load >= 0.0:
                if height < least_known:
                    known, least_known = k, height
            elif height < least_fresh:
                fresh, least_fresh = k, height
    if least_known <= least + steady:
        return lowest, known
    if least_fresh <= least + alike:
        return lowest, fresh
    return lowest, _NONE


@inner_kernel
def _make_room(m, candidates, cluster, away):
    """Let a contact go that no slope needs; return whether there was one.

    It is the furthest away [m] of those that bore nothing, or else the one that bore least. With
    `away` finite it must have borne nothing and be further away than that.
    """
    worst, largest = _NONE, away
    for k in range(m.count):
        found = candidates[k]
        if found.cluster == cluster and found.kept and not found.needed:
            if found.load <= 0.0 and found.gap > largest:
                worst, largest = k, found.gap
    if worst < 0 and math.isinf(away):
        least = math.inf
        for k in range(m.count):
            found = candidates[k]
            if found.cluster == cluster and found.kept and not found.needed and found.load < least:
                worst, least = k, found.load
    if worst < 0:
        return False
    candidates[worst].kept = 0
    return True
