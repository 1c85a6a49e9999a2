# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Correct the predicted change of a contact's velocity by the errors of the last steps (rk4).

`contact_bending` predicts the change of a contact's velocity over a step from rates at the start of
the step. The prediction has an error of second order in the time step. The velocity that remains
along a row at the end of the step equals this error. The error varies slowly. The next step
therefore adds the error, extrapolated from the last two steps. The remaining velocity is then of
fourth order.

The error is known on three conditions. The contact pressed, no impact changed the velocity, and
either the row included the prediction or the prediction was below rounding errors. The error along
the surface is known if the contact also stuck.

The motion must determine the contact force. If two bodies with friction touch at several points,
such as a wheel on a line, the force may pass from one point to another without any change of
motion. The errors at one point then do not describe the motion.
"""

from hrpsim.engine.compile.compiled import inlined_kernel
from hrpsim.engine.compile.kernel_types import Contact, Scene, Vec3
from hrpsim.engine.constraints.rows import row_velocity

# Which rows of a contact take the change into account: none, the normal one, those of friction too.
NONE, NORMAL, ALL = range(3)
ROUNDING = 1e-9  # of a change [m/s]
# Largest difference of what two successive steps missed, as a share of the later one. If the
# difference is larger, the later one goes on without a trend.
_SMOOTH = 0.5


@inlined_kernel
def begins(contact: Contact) -> bool:
    """Return whether a contact is new, or its bodies did not turn in the last step."""
    return contact.is_new != 0 or _is_rounding(contact.bend_before)


@inlined_kernel
def _is_rounding(bend: Vec3) -> bool:
    """Return whether a change of velocity (3,) [m/s] is below rounding errors."""
    return bend[0] * bend[0] + bend[1] * bend[1] + bend[2] * bend[2] < ROUNDING * ROUNDING


@inlined_kernel
def is_determinate(s: Scene, c: int) -> bool:
    """Return whether the motion determines the force of contact c.

    True for a contact without friction, and for the only contact between two bodies. Contacts are
    sorted by bodies.
    """
    if s.rows.rows[3 * c].friction == 0.0:
        return True
    contacts, count = s.collision.contacts, s.counts[0].contact_count
    a, b = contacts[c].body_a, contacts[c].body_b
    for other in (c - 1, c + 1):
        if 0 <= other < count and contacts[other].body_a == a and contacts[other].body_b == b:
            return False
    return True


@inlined_kernel
def goes_on(s: Scene, c: int) -> bool:
    """Return whether contact c has a determinate force, and moves smoothly since the last step."""
    contact = s.collision.contacts[c]
    return contact.bends != NONE and not begins(contact) and is_determinate(s, c)


@inlined_kernel
def last_contact(s: Scene, c: int) -> Contact:
    """Return the record of contact c at the end of the last step.

    For a new contact, the result is the record of some other contact.
    """
    contact = s.collision.contacts[c]
    return s.collision.previous[0 if contact.is_new else contact.partner]


@inlined_kernel
def add_missed(s: Scene, c: int) -> None:
    """Add the error of the last steps' predictions to the predicted velocity change of contact c.

    Reads: collision, constrained, impacts, rows. Writes: collision.
    """
    contact, before, rows = s.collision.contacts[c], last_contact(s, c), s.rows.rows
    sign, used = 1.0 if contact.body_a >= 0 else -1.0, 1.0 if before.bends != NONE else 0.0
    difference = size = 0.0
    for r in range(3):
        contact.missed[r] = contact.added[r] = 0.0
    for axis in range(_known_rows(s, c, before)):
        row, target = rows[3 * c + axis], before.asked if axis == 0 else 0.0
        J, last, added = row.J_a, before.missed, before.added
        left = sign * (row_velocity(row, s.constrained.velocity) - target)
        error = left + used * (J[3] * added[0] + J[4] * added[1] + J[5] * added[2])
        rise = error - (J[3] * last[0] + J[4] * last[1] + J[5] * last[2])
        for r in range(3):
            contact.missed[r] += error * J[3 + r]
            contact.added[r] += (error + rise) * J[3 + r]
        difference += rise * rise
        size += error * error
    smooth = difference <= _SMOOTH * _SMOOTH * size
    for r in range(3):
        if not smooth:
            contact.added[r] = contact.missed[r]
        contact.bend[r] += contact.added[r]


@inlined_kernel
def _known_rows(s: Scene, c: int, before: Contact) -> int:
    """Return the number of rows of contact c whose remaining velocity is the prediction's error.

    before: the contact in the last step.

    Returns:
        0, 1 (the normal row) or 3 (all rows).
    """
    contact, plain = s.collision.contacts[c], _is_rounding(before.bend)
    if contact.is_new or not before.warm[0] > 0.0 or (before.bends == NONE and not plain):
        return 0
    if (
        s.impacts.state[0].had_impacts
        or s.rows.rows[3 * c].compliance > 0.0
        or not is_determinate(s, c)
    ):
        return 0
    return 3 if contact.drift.has_slipped and (plain or before.bends == ALL) else 1
