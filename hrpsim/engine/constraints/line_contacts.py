# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which end of a line contact carries the load when the bodies turn (rk4).

A wheel with a cylindrical surface touches the floor at both ends of a line. In a bend, one end can
roll without slip, and the other end slides. Rigid bodies determine the sum of both loads, but not
the shares. In rk4 the gaps are found at the start of a step, when both ends are closed to rounding.
Errors of the rows would then decide which end carries the load, and the load would pass from end to
end. The end that takes over slides, and its friction costs energy.

The end that slides therefore counts as open by a small gap, and the end that rolls carries the
load. The gap is the distance by which the ends part within the step if nothing but the floor held
the axis level. In `semi_implicit`, the contacts are found in the middle of the step and have such
gaps.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel
from hrpsim.engine.compile.kernel_types import Index, Scene
from hrpsim.engine.constraints.rows import row_velocity

_OPENS = 0.25  # gap, as a share of the change of the normal velocity times the time step
# An end slides if its slip exceeds this multiple of the slip of the other end, and a rounding.
_FASTER = 2.0
_ROUNDING = 1e-6  # [m/s]


@inlined_kernel
def permitted_approach(s: Scene, c: int, change: float) -> float:
    """Return how fast contact c may approach because it is the sliding end of a line [m/s].

    The result is zero for all other contacts.

    Args:
        s: the scene. Reads: collision, constrained, counts, rows, settings.
        c: number of the contact.
        change: change of the contact's normal velocity to the end of the step [m/s].
    """
    other = _other_end(s, c)
    if other < 0 or _slip(s, c) <= _FASTER * _slip(s, other) + _ROUNDING:
        return 0.0
    open_by = _OPENS * abs(change)
    return max(open_by + min(s.collision.contacts[c].gap, 0.0) / s.settings[0].time_step, 0.0)


@inlined_kernel
def _other_end(s: Scene, c: int) -> Index:
    """Return the other contact if two bodies touch at two points with friction, else -1.

    Contacts are sorted by bodies.
    """
    if s.rows.rows[3 * c].friction == 0.0:
        return -1
    contacts, count = s.collision.contacts, s.counts[0].contact_count
    a, b = contacts[c].body_a, contacts[c].body_b
    result, number = -1, 0
    for other in (c - 2, c - 1, c + 1, c + 2):
        if 0 <= other < count and contacts[other].body_a == a and contacts[other].body_b == b:
            result = other
            number += 1
    return result if number == 1 else -1


@inlined_kernel
def _slip(s: Scene, c: int) -> float:
    """Return the speed of contact c along the surface at the start of the step [m/s]."""
    rows, velocity = s.rows.rows, s.constrained.velocity
    x, y = row_velocity(rows[3 * c + 1], velocity), row_velocity(rows[3 * c + 2], velocity)
    return math.hypot(x, y)
