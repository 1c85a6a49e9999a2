# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Constraint rows that resist spin and rolling of contacts.

Torsional friction is a moment along the normal, of at most c_t N, with the normal force N. Rolling
friction is a moment across the normal, of at most c_r N. Both coefficients are lengths [m]. These
bounds and the bound of sliding friction are separate. A moment acts against the rotation of body a
relative to body b.

If the bound cannot stop a rolling body within the step, rolling friction acts only against the
rotation. Otherwise two rows keep the body from rolling, and their moments lie in a disk. If the
body begins to roll, the moment keeps the direction in which it reached the edge of the disk.

The bounds depend on the normal impulses. `step.rows.turning_friction` adapts them to a solution.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Contact, Index, MaterialPair, Row, Scene, Vec3
from hrpsim.engine.constraints.contact_rows import contact_directions
from hrpsim.engine.constraints.rows import (
    AT_REST,
    ROLLING,
    SPIN,
    attach_constraint_body,
    attach_second_constraint_body,
    coupling,
    least_inverse_mass,
    row_velocity,
    start_row,
    write_force,
)


@inlined_kernel
def _pair_of(s: Scene, contact: Contact) -> MaterialPair:
    """Return the record of the two materials of a contact."""
    shapes = s.collision.shapes
    return s.materials[shapes[contact.shape_a].material, shapes[contact.shape_b].material]


@inner_kernel
def count_turning(s: Scene) -> int:
    """Return the number of rows against spin (one per contact) and rolling (two per contact)."""
    count = 0
    for c in range(s.counts[0].contact_count):
        pair = _pair_of(s, s.collision.contacts[c])
        count += 1 if pair.torsional > 0.0 else 0
        count += 2 if pair.rolling > 0.0 else 0
    return count


@inner_kernel
def write_turning(s: Scene, used: int) -> int:
    """Write the rows that resist spin and rolling.

    constrained.velocity must be the velocity at the start of the step. The bounds belong to the
    normal impulses with which the solution starts.

    used: number of entries of `response` used before.

    Returns:
        The number of entries of `response` used so far.
    """
    counts, directions, rows = s.counts[0], s.work.directions, s.rows.rows
    number, last = counts.row_count - counts.turning_rows, 0
    for c in range(counts.contact_count):
        contact = s.collision.contacts[c]
        pair = _pair_of(s, contact)
        if pair.torsional <= 0.0 and pair.rolling <= 0.0:
            continue
        contact_directions(contact, directions)
        last = _first_moment(s, contact, last)
        if pair.torsional > 0.0:
            row = rows[number]
            row.friction = pair.torsional
            used = _attach(s, c, directions[0], row, used)
            row.kind = SPIN
            _start(s, c, directions[0], row, last)
            number += 1
        if pair.rolling > 0.0:
            used = _write_rolling(s, c, pair.rolling, number, used, last)
            number += 2
    return used


@inner_kernel
def _write_rolling(
    s: Scene, c: Index, coefficient: float, number: Index, used: int, last: Index
) -> int:
    """Write two rows against rolling of contact c. Return the number of response entries in use.

    number: number of the first row. last: place of the first stored moment of the contact's pair.
    """
    directions, velocity, first = s.work.directions, s.constrained.velocity, used
    along, across = s.rows.rows[number], s.rows.rows[number + 1]
    along.kind = across.kind = AT_REST
    along.friction = across.friction = coefficient
    used = _attach(s, c, directions[1], along, first)
    used = _attach(s, c, directions[2], across, used)
    x, y = row_velocity(along, velocity), row_velocity(across, velocity)
    rate, bound = math.sqrt(x * x + y * y), coefficient * s.rows.rows[3 * c].impulse
    if rate > bound * min(along.inverse_mass, across.inverse_mass):
        x, y = x / rate, y / rate
        for r in range(3):
            tangent_1, tangent_2 = directions[1, r], directions[2, r]
            directions[1, r] = x * tangent_1 + y * tangent_2
            directions[2, r] = x * tangent_2 - y * tangent_1
        used = _attach(s, c, directions[1], along, first)
        used = _attach(s, c, directions[2], across, used)
        along.kind, across.kind, across.friction = ROLLING, ROLLING, 0.0
    _start(s, c, directions[1], along, last)
    _start(s, c, directions[2], across, last)
    return used


@inlined_kernel
def _attach(s: Scene, c: Index, axis: Vec3, row: Row, used: int) -> int:
    """Let a row turn body a of contact c about an axis, and body b in reverse."""
    contact, constrained, response = s.collision.contacts[c], s.constrained, s.rows.response
    a, b = contact.body_a, contact.body_b
    start_row(row, used)
    first, sign = (a, 1.0) if a >= 0 else (b, -1.0)
    write_force(axis, axis, sign, True, row.J_a)
    number = constrained.supports[first].constraint_body
    used = attach_constraint_body(s.forest, constrained, number, row, response, used)
    if a >= 0 and b >= 0:
        write_force(axis, axis, -1.0, True, row.J_b)
        number = constrained.supports[b].constraint_body
        used = attach_second_constraint_body(s.forest, constrained, number, row, response, used)
    row.inverse_mass = coupling(row, row, response)
    if row.inverse_mass <= least_inverse_mass(row, constrained):
        row.inverse_mass = 0.0
    row.source = c
    return used


@inlined_kernel
def _first_moment(s: Scene, contact: Contact, last: Index) -> int:
    """Return the place of the first stored moment of a contact's pair of shapes.

    Moments of the last step are sorted by pairs. If the pair has none, the result is the place of
    the next pair. last: place for the contact before.
    """
    moments, a, b = s.collision.moments, contact.shape_a, contact.shape_b
    while last < s.counts[0].moment_count and (
        moments[last].shape_a < a or (moments[last].shape_a == a and moments[last].shape_b < b)
    ):
        last += 1
    return last


@inlined_kernel
def _start(s: Scene, c: Index, axis: Vec3, row: Row, last: Index) -> None:
    """Write the bounds of a row of contact c, and its impulse from the last step.

    last: place of the first moment of the contact's pair in the last step.
    """
    contact, moments = s.collision.contacts[c], s.collision.moments
    bound = row.friction * s.rows.rows[3 * c].impulse
    row.lower, row.upper, row.impulse = -bound, bound, 0.0
    for k in range(last, s.counts[0].moment_count):
        if moments[k].shape_a != contact.shape_a or moments[k].shape_b != contact.shape_b:
            break
        if moments[k].feature == contact.feature and not contact.is_new:
            moment = moments[k].impulse
            impulse = moment[0] * axis[0] + moment[1] * axis[1] + moment[2] * axis[2]
            row.impulse = min(max(impulse, -bound), bound)


@inner_kernel
def remember_turning(s: Scene) -> None:
    """Store the impulses against spin and rolling of all contacts."""
    counts, rows, moments = s.counts[0], s.rows.rows, s.collision.moments
    count, last = 0, -1
    for number in range(counts.row_count - counts.turning_rows, counts.row_count):
        row = rows[number]
        contact = s.collision.contacts[row.source]
        if row.source != last:
            last, count = row.source, count + 1
            moment = moments[count - 1]
            moment.shape_a, moment.shape_b = contact.shape_a, contact.shape_b
            moment.feature = contact.feature
            moment.impulse[0] = moment.impulse[1] = moment.impulse[2] = 0.0
        sign = 1.0 if contact.body_a >= 0 else -1.0
        for r in range(3):
            moments[count - 1].impulse[r] += sign * row.impulse * row.J_a[r]
    counts.moment_count = count
