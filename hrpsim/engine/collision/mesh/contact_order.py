# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The contacts of two convex solids by depth and by name, after the search."""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Candidate, Records, SolidPair
from hrpsim.engine.spatial.vector import transposed_times

# A chord that holds all normals.
ANY_NORMAL = 2.0
# Margin along the axis in rims, by which features may miss each other and still meet.
RIMS = 10.0


@inlined_kernel
def deepest_contact(m: SolidPair, candidates: Records[Candidate]) -> tuple[int, float]:
    """Return the candidate contact with the smallest gap.

    Returns:
        (index of the contact or -1 if there is none, its gap [m]).
    """
    deepest, least = -1, math.inf
    for k in range(m.count):
        if candidates[k].how >= 0 and candidates[k].gap < least:
            deepest, least = k, candidates[k].gap
    return deepest, least


@inner_kernel
def drop_high(m: SolidPair, candidates: Records[Candidate]) -> None:
    """Remove contacts of dense solids that cannot become the deepest.

    A contact is kept if a rotation by m.lean [rad] can bring it below the deepest contact.
    """
    deepest, gap = deepest_contact(m, candidates)
    if m.cap == ANY_NORMAL or deepest < 0:
        return
    n, o, remaining = candidates[deepest].normal, candidates[deepest].point, 0
    nx, ny, nz, ox, oy, oz = n[0], n[1], n[2], o[0], o[1], o[2]
    for k in range(m.count):
        p = candidates[k].point
        x, y, z = p[0] - ox, p[1] - oy, p[2] - oz
        along = x * nx + y * ny + z * nz
        beside = math.sqrt(max(x * x + y * y + z * z - along * along, 0.0))
        if candidates[k].how < 0 or candidates[k].gap <= gap + RIMS * m.rim + m.lean * beside:
            if remaining < k:
                candidates[remaining] = candidates[k]
            remaining += 1
    m.count = remaining


@inner_kernel
def sort_by_name(m: SolidPair, candidates: Records[Candidate]) -> None:
    """Sort the contacts of listed features of dense solids by their names (Shell's method).

    Their order then does not depend on the search, which may start at the last contact.
    """
    spare = m.count  # for a record on its way
    if m.cap == ANY_NORMAL or spare >= candidates.shape[0]:
        return
    step = 1
    while step < m.count // 3:
        step = 3 * step + 1
    while step > 0:
        for k in range(step, m.count):
            if not _comes_before(candidates[k], candidates[k - step]):
                continue
            candidates[spare] = candidates[k]
            slot = k
            while slot >= step and _comes_before(candidates[spare], candidates[slot - step]):
                candidates[slot] = candidates[slot - step]
                slot -= step
            candidates[slot] = candidates[spare]
        step //= 3


@inlined_kernel
def _comes_before(first: Candidate, second: Candidate) -> bool:
    """Return whether a contact is the first of two by name, then by triangle."""
    if first.feature == second.feature:
        return first.triangle < second.triangle
    return first.feature < second.feature


@inner_kernel
def remember_normal(m: SolidPair, candidates: Records[Candidate]) -> None:
    """Cache the normal and position of the deepest contact of two convex solids as their axis."""
    separation = m.separation
    if not separation.known:
        return
    deepest, _ = deepest_contact(m, candidates)
    separation.touches = 1 if deepest >= 0 else 0
    if deepest >= 0:
        n, p, origin = candidates[deepest].normal, candidates[deepest].point, m.world_p[0]
        x, y, z = transposed_times(m.world_R[0], n[0], n[1], n[2])
        separation.axis[0], separation.axis[1], separation.axis[2] = x, y, z
        x, y, z = p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]
        x, y, z = transposed_times(m.world_R[0], x, y, z)
        separation.place[0], separation.place[1], separation.place[2] = x, y, z
