# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The active rows of contacts in a step, and their derivatives.

docs/explanation/linearization_equations.md, "Rows that hold", has the equations. J (12,) has the
derivatives of a row's rate with respect to the twists of its two bodies. `turns` (3, 12) has the
changes of the rates as the bodies move at constant twists. The sides of a contact are its states,
such as open or closed, sticking or sliding (hrpsim.derivatives.sides.SIDES).
"""

import math

from hrpsim.derivatives.balance import write_rates, write_twists
from hrpsim.derivatives.body_motions import energy_gradients, jacobian_rates
from hrpsim.derivatives.motion_derivatives import solve_negative
from hrpsim.derivatives.room import (
    AT_END,
    AT_START,
    DEPTH,
    FORCE,
    GAP,
    LOSS,
    OTHER,
    SLIP,
    SWITCH,
    DerivativeArrays,
    HeldRow,
)
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Collision,
    Contact,
    Counts,
    Index,
    Indices,
    JointParameters,
    MaterialPair,
    Matrix,
    Records,
    Row,
    Seconds,
    Settings,
    Vec3,
    Vector,
)
from hrpsim.engine.constraints.compliant_law import stop_slopes
from hrpsim.engine.constraints.contact_bending import unbent_target
from hrpsim.engine.constraints.contact_rows import closed_gap, rigid_slopes
from hrpsim.engine.constraints.friction_laws import friction_bound, sliding_derivative
from hrpsim.engine.constraints.impact_rows import CLOSED
from hrpsim.engine.constraints.rows import Rows
from hrpsim.engine.spatial.vector import copy_vector, dot
from hrpsim.engine.step.arrays import Scene

_STAYS_OPEN = 1e30  # acceleration of a gap that does not close within a step [m/s^2]
_ROUNDING = 1e-6  # share of a target by which it is not another one
_AT_LIMIT = 1.0 - 1e-9  # share of a force limit from which on it is reached


@inner_kernel
def place_contacts(counts: Counts, collision: Collision, rows: Rows, w: DerivativeArrays) -> None:
    """Write the directions and J of all rows of contacts.

    The kernel writes `directions` (c, 3, 3) and `local` of w.
    """
    for c in range(counts.contact_count):
        contact, directions = collision.contacts[c], w.directions[c]
        sign = 1.0 if contact.body_a >= 0 else -1.0
        for axis in range(3):
            row, local, d = rows.rows[3 * c + axis], w.local[3 * c + axis], directions[axis]
            for r in range(3):
                d[r] = sign * row.J_a[3 + r]
            local.number, local.compliance = 3 * c + axis, row.compliance
            local.inverse_mass = row.inverse_mass
            local.at[0], local.at[1] = w.body_at[contact.body_a], w.body_at[contact.body_b]
            _write_lever(contact.point_a, d, 1.0 if contact.body_a >= 0 else 0.0, local.J[:6])
            _write_lever(contact.point_b, d, -1.0 if contact.body_b >= 0 else 0.0, local.J[6:])


@inlined_kernel
def _write_lever(p: Vec3, d: Vector, sign: float, J_out: Vector) -> None:
    for r in range(3):
        y, z = (r + 1) % 3, (r + 2) % 3
        J_out[r], J_out[3 + r] = sign * (p[y] * d[z] - p[z] * d[y]), sign * d[r]


@inner_kernel
def write_contact_rows(s: Scene, w: DerivativeArrays, m: int, body_count: int) -> int:
    """Write the active rows of contacts, and each contact's distance from switching its state.

    The kernel writes `held`, `target`, `distances` and `sides` of w.

    Args:
        s: scene after the step.
        w: DerivativeArrays, after `place_contacts`.
        m: number of coordinates.
        body_count: number of bodies with coordinates.

    Returns:
        The number of active rows.
    """
    count, soft = 0, False
    write_twists(w, w.velocity, m, AT_START)
    write_twists(w, w.end_velocity, m, AT_END)
    for c in range(s.counts[0].contact_count):
        soft = soft or pair_of(s.collision, s.materials, c).damping_time >= 0.0
        _find_sides(s, w, c)
    if soft:
        write_rates(w, w.velocity, body_count, w.start_rates)
    for c in range(s.counts[0].contact_count):
        if w.sides[c, FORCE] == 0:
            continue
        write_turns(s.collision, w, c, w.twists[AT_END])
        if s.rows.rows[3 * c].friction * s.rows.rows[3 * c].impulse > 0.0:
            if w.sides[c, SLIP]:
                count = _add_sliding(s.rows, w, c, count)
            else:
                for axis in (1, 2):
                    copy_row(w.local[3 * c + axis], w.held[count])
                    w.target[count, :] = 0.0
                    add_rate_changes(w, 3 * c + axis, axis, -1.0, w.rates, w.target[count])
                    count += 1
        if s.rows.rows[3 * c].impulse < _AT_LIMIT * s.rows.rows[3 * c].upper:
            count = _add_normal(s, w, c, m, count)
    return count


@inlined_kernel
def pair_of(collision: Collision, materials: Records[MaterialPair], c: int) -> MaterialPair:
    """Return the properties of a contact's pair of materials."""
    contact, shapes = collision.contacts[c], collision.shapes
    return materials[shapes[contact.shape_a].material, shapes[contact.shape_b].material]


@inlined_kernel
def gap_slopes(settings: Settings, collision: Collision, rows: Rows, c: int) -> tuple[float, float]:
    """Return the derivatives of `rigid_law` of a contact with respect to its gap.

    Returns:
        (derivative of the target, derivative of the correction) [1/s].
    """
    gap = collision.contacts[c].gap
    closed = closed_gap(rows.rows[3 * c].solver, settings.slop)
    return rigid_slopes(gap, closed, CLOSED, settings)


@inner_kernel
def rate_of(local: HeldRow, twists: Vector) -> float:
    """Return the rate of a row [m/s or rad/s], the product of the Jacobian and the twists.

    twists: twists of all bodies and rates of all joints that rows depend on (m,).
    """
    total = 0.0
    for e in range(12):
        if local.J[e] != 0.0:
            total += local.J[e] * twists[local.at[e // 6] + e % 6]
    return total


@inlined_kernel
def _slip_of(rows: Rows, w: DerivativeArrays, number: Index, twists: Vector) -> float:
    """Return the slip of a friction row, its rate minus its target, at the twists (m,) [m/s]."""
    return rate_of(w.local[number], twists) - rows.rows[number].target


@inlined_kernel
def _is_always_found(w: DerivativeArrays, c: int, contact: Contact) -> bool:
    """Return whether every search with a displaced body found the contact."""
    of_a = w.found[c, 0] == (12 if contact.body_a >= 0 else 0)
    return of_a and w.found[c, 1] == (12 if contact.body_b >= 0 else 0)


@inner_kernel
def _find_sides(s: Scene, w: DerivativeArrays, c: int) -> None:
    """Write the sides of a contact and the distances from switching to the other sides [m/s]."""
    contact, pair, rows = s.collision.contacts[c], pair_of(s.collision, s.materials, c), s.rows.rows
    normal, distances, sides = rows[3 * c], w.distances[c], w.sides[c]
    distances[:] = math.inf
    sides[:] = 0
    after = w.twists[AT_END]
    pressed = normal.impulse * normal.inverse_mass
    apart = rate_of(w.local[3 * c], after) + normal.compliance * normal.impulse - normal.target
    distances[FORCE] = max(pressed, abs(apart))
    if not _is_always_found(w, c, contact):
        distances[LOSS] = 0.0
    if pair.damping_time < 0.0:
        deeper = s.settings[0].slop + contact.gap
        distances[DEPTH] = abs(deeper) / s.settings[0].time_step
        sides[DEPTH] = 1 if deeper < 0.0 else 0
    if pressed <= abs(apart):
        return
    sides[FORCE] = 1
    if normal.friction * normal.impulse > 0.0:
        _find_slip_sides(s, w, c)
    if pair.damping_time < 0.0:
        distances[GAP] = abs(contact.gap - closed_gap(normal.solver, s.settings[0].slop))
        distances[GAP] /= s.settings[0].time_step
        sides[GAP] = 1 if contact.gap > CLOSED else 0


@inlined_kernel
def _find_slip_sides(s: Scene, w: DerivativeArrays, c: int) -> None:
    """Write whether a pressed contact slips, and whether its friction is static or kinetic.

    The distances from switching are written too [m/s].
    """
    contact, pair, rows = s.collision.contacts[c], pair_of(s.collision, s.materials, c), s.rows.rows
    distances, sides = w.distances[c], w.sides[c]
    before, after = w.twists[AT_START], w.twists[AT_END]
    start = math.hypot(rate_of(w.local[3 * c + 1], before), rate_of(w.local[3 * c + 2], before))
    slip = math.hypot(_slip_of(s.rows, w, 3 * c + 1, after), _slip_of(s.rows, w, 3 * c + 2, after))
    friction = math.hypot(rows[3 * c + 1].impulse, rows[3 * c + 2].impulse)
    largest = max(rows[3 * c + 1].inverse_mass, rows[3 * c + 2].inverse_mass)
    spare = (rows[3 * c].friction * rows[3 * c].impulse - friction) * largest
    distances[SLIP], sides[SLIP] = max(spare, slip), 1 if slip > spare else 0
    if pair.static != pair.kinetic:
        distances[SWITCH] = abs(start - s.settings[0].slip_threshold)
        sides[SWITCH] = 1 if contact.slides > 0 else 0
    if sides[SLIP]:
        w.findings[0].slides = 1


@inner_kernel
def write_turns(collision: Collision, w: DerivativeArrays, c: int, twists: Vector) -> None:
    """Write w.turns (3, 12): how a contact's rates change as its bodies move at constant twists.

    The rows are the normal and both tangents. The columns are the displacements of body a, then of
    body b: rotation (3) and translation (3) [rad, m]. The twists themselves stay the same. Only the
    contact point, normal and directions move.

    Args:
        collision: collision arrays after the step.
        w: work arrays, after `place_contacts` and `contact_derivatives`. `turns` is written, and
            `motion` is work.
        c: index of the contact.
        twists: the coordinates of the bodies (m,) [rad/s, m/s]. The twist of body i begins at
            w.body_at[i].
    """
    contact, motion, directions, turns = collision.contacts[c], w.motion, w.directions[c], w.turns
    motion[:] = 0.0
    for end in range(2):
        at = w.body_at[contact.body_a if end == 0 else contact.body_b]
        if at >= 0:
            p, sign = contact.point_a if end == 0 else contact.point_b, 1.0 - 2.0 * end
            for r in range(3):
                y, z = (r + 1) % 3, (r + 2) % 3
                motion[r] += sign * twists[at + r]
                turned = twists[at + y] * p[z] - twists[at + z] * p[y]
                motion[3 + r] += sign * (twists[at + 3 + r] + turned)
    along = dot(directions[0], motion[3:])
    for e in range(12):
        geometry, axis = w.geometry[c, e // 6], e % 6
        px, py, pz = geometry[0, axis], geometry[1, axis], geometry[2, axis]
        nx, ny, nz = geometry[3, axis], geometry[4, axis], geometry[5, axis]
        x, y, z = (
            motion[1] * pz - motion[2] * py,
            motion[2] * px - motion[0] * pz,
            motion[0] * py - motion[1] * px,
        )
        for k in range(3):
            d = directions[k]
            turns[k, e] = d[0] * x + d[1] * y + d[2] * z
            if k > 0:
                turns[k, e] -= along * (d[0] * nx + d[1] * ny + d[2] * nz)
        turns[0, e] += motion[3] * nx + motion[4] * ny + motion[5] * nz


@inlined_kernel
def add_entries(entries: Vector, at: Indices, scale: float, matrix: Matrix, out: Vector) -> None:
    """Add `scale` times a row with 12 entries, times a matrix, to `out`.

    at (2,): first row of the matrix for the first and for the last six entries.
    """
    for e in range(12):
        if entries[e] != 0.0:
            factor, row = scale * entries[e], matrix[at[e // 6] + e % 6]
            for j in range(row.shape[0]):
                out[j] += factor * row[j]


@inner_kernel
def add_rate_changes(
    w: DerivativeArrays, number: Index, axis: int, scale: float, rates: Matrix, out: Vector
) -> None:
    """Add `scale` times the derivative of the rate of a contact's row with respect to q.

    w.turns must belong to the contact.

    Args:
        w: DerivativeArrays, after `write_turns`.
        number: number of the row.
        axis: 0 for the normal, 1 and 2 for the tangents.
        scale: factor of the derivative.
        rates: derivative of the coordinates with respect to q (m, nv).
        out: derivative of the rate (nv,), changed.
    """
    local = w.local[number]
    add_entries(local.J, local.at, scale, rates, out)
    add_entries(w.turns[axis], local.at, scale, w.Z, out)


@inlined_kernel
def copy_row(local: HeldRow, held_out: HeldRow) -> None:
    """Copy an active row to all fields of `held_out`. The impulse of the row acts along J."""
    held_out.number, held_out.compliance = local.number, local.compliance
    held_out.inverse_mass = local.inverse_mass
    held_out.slope = held_out.softening = 0.0
    held_out.at[0], held_out.at[1] = local.at[0], local.at[1]
    for e in range(12):
        held_out.J[e] = held_out.F[e] = local.J[e]


@inner_kernel
def _add_normal(s: Scene, w: DerivativeArrays, c: int, m: int, count: int) -> int:
    """Add the normal row of a contact to the active rows. Return the new number of rows.

    If the contact slides, the impulse of the row also acts along the friction force.
    """
    row, target, pair = w.held[count], w.target[count], pair_of(s.collision, s.materials, c)
    contact, normal, local = s.collision.contacts[c], s.rows.rows[3 * c], w.local[3 * c]
    copy_row(local, row)
    if w.sides[c, SLIP]:
        for axis in (1, 2):
            ratio = s.rows.rows[3 * c + axis].impulse / normal.impulse
            for e in range(12):
                row.F[e] += ratio * w.local[3 * c + axis].J[e]
    target[:] = 0.0
    add_rate_changes(w, 3 * c, 0, -1.0, w.rates, target)
    if pair.damping_time < 0.0:
        add_gap_changes(w, c, gap_slopes(s.settings[0], s.collision, s.rows, c)[0], target)
        return count + 1
    rate = rate_of(local, w.twists[AT_START])
    own, dt = unbent_target(contact, normal, s.settings[0].time_step), s.settings[0].time_step
    if is_met_within(w, normal, own, contact.gap, rate, pair, dt):
        w.findings[0].met_within = 3 * c
    add_gap_changes(w, c, slope_of(w, 0, normal), target)
    write_turns(s.collision, w, c, w.twists[AT_START])
    add_rate_changes(w, 3 * c, 0, slope_of(w, 1, normal), w.start_rates, target)
    add_entries(local.J, local.at, slope_of(w, 1, normal), w.Z, target[w.velocity.shape[0] :])
    if pair.damping_time > 0.0:
        _find_inertia_change(s.collision, w, c, m)
        note_inertia(w, normal, count)
        for j in range(w.velocity.shape[0]):
            target[j] += slope_of(w, 2, normal) * w.own_change[j]
            w.softening[c, j] = w.law[2, 1] * w.own_change[j]
    return count + 1


@inlined_kernel
def is_met_within(
    w: DerivativeArrays,
    row: Row,
    own_target: float,
    gap: float,
    rate: float,
    own: JointParameters | MaterialPair,
    time_step: Seconds,
) -> bool:
    """Write the derivatives of a compliant stop to w.law.

    The derivatives are valid if the stop is closed at the start of the step, or stays open. A stop
    that closes within the step has another target and compliance.

    Args:
        w: DerivativeArrays. `law` (3, 2) is written.
        row: ROW record.
        own_target: target of the row, without the contribution of bodies that turn [m/s].
        gap: gap of the row in the middle of the step [m or rad].
        rate: rate of the gap at the start of the step [m/s or rad/s].
        own: record with the compliance and the damping time.
        time_step: [s].

    Returns:
        Whether the stop closed within the step, so that the derivatives are invalid.
    """
    inverse_mass = row.inverse_mass - row.compliance
    target, compliance = stop_slopes(gap, rate, _STAYS_OPEN, inverse_mass, own, time_step, w.law)
    other = abs(target - own_target) > _ROUNDING * abs(own_target)
    return other or abs(compliance - row.compliance) > _ROUNDING * row.compliance


@inlined_kernel
def slope_of(w: DerivativeArrays, k: Index, row: Row) -> float:
    """Return the derivative of target - compliance * impulse of a compliant row.

    The impulse is constant. The unit is [1/s] for the gap, [1] for the rate, and [kg m/s or kg
    m^2/s] for the inverse mass.

    Args:
        w: DerivativeArrays, after `is_met_within`.
        k: variable with respect to which the derivative is taken: 0 for the gap, 1 for the rate, 2
            for the inverse mass.
        row: ROW record.
    """
    return w.law[k, 0] - w.law[k, 1] * row.impulse


@inlined_kernel
def note_inertia(w: DerivativeArrays, row: Row, number: Index) -> None:
    """Write how the active row `number` depends on its inverse mass. Call this after `respond`.

    The kernel writes `slope` and `softening` of w.held, and the row of w.responses.
    """
    w.held[number].slope, w.held[number].softening = slope_of(w, 2, row), w.law[2, 1]
    copy_vector(w.response[0], w.responses[number])


@inlined_kernel
def add_gap_changes(w: DerivativeArrays, c: int, scale: float, out: Vector) -> None:
    """Add `scale` times the derivative of the gap of a contact with respect to q.

    Args:
        w: DerivativeArrays, after `contact_derivatives`.
        c: index of the contact.
        scale: factor of the derivative.
        out: derivative (nv,) [m/rad, 1], changed.
    """
    local = w.local[3 * c]
    for e in range(12):
        factor = scale * w.geometry[c, e // 6, 6, e % 6]
        if factor != 0.0:
            row = w.Z[local.at[e // 6] + e % 6]
            for j in range(row.shape[0]):
                out[j] += factor * row[j]


@inner_kernel
def respond(w: DerivativeArrays, J: Vector, at: Indices) -> None:
    """Write the response v = M^-1 J' of a row, and the derivative of v' M v with respect to q.

    Args:
        w: DerivativeArrays. `response` (1, nv) and `gradient` (1, nv) are written.
        J: entries of the row in the coordinates (12,).
        at: first coordinate of each body (2,).
    """
    line, entries = w.line, w.own_change
    entries[:] = 0.0
    add_entries(J, at, -1.0, w.Z, entries)
    line[:, :] = 0.0
    for k in range(entries.shape[0]):
        line[k, 0] = entries[k]
    solve_negative(w.space.above, w.space.factor, line)
    for k in range(entries.shape[0]):
        w.response[0, k] = line[k, 0]
    energy_gradients(w.space, w.response, w.gradient)


@inner_kernel
def _find_inertia_change(collision: Collision, w: DerivativeArrays, c: int, m: int) -> None:
    """Write the derivative of the inverse mass of a contact's normal row with respect to q.

    The derivative is 2 dJ r - d(r' M r) with r = M^-1 J'.
    """
    local, contact, out = w.local[3 * c], collision.contacts[c], w.own_change
    respond(w, local.J, local.at)
    w.pair[0], w.pair[1] = contact.body_a, contact.body_b
    jacobian_rates(w.space.forest, w.space.kinematics, w.response[0], w.pair, w.pair_rates)
    write_twists(w, w.response[0], m, OTHER)
    write_turns(collision, w, c, w.twists[OTHER])
    for j in range(out.shape[0]):
        out[j] = -w.gradient[0, j]
        for e in range(12):
            out[j] += 2.0 * local.J[e] * w.pair_rates[e, j]
    add_entries(w.turns[0], local.at, 2.0, w.Z, out)


@inner_kernel
def _add_sliding(rows: Rows, w: DerivativeArrays, c: int, count: int) -> int:
    """Add the friction row perpendicular to the slip of a sliding contact.

    The row is compliant, because the direction of the slip can turn.
    """
    row, target, local = w.held[count], w.target[count], w.local[3 * c + 1]
    twists = w.twists[AT_END]
    slip_x, slip_y = _slip_of(rows, w, 3 * c + 1, twists), _slip_of(rows, w, 3 * c + 2, twists)
    copy_row(local, row)
    x, y, row.compliance = sliding_derivative(friction_bound(rows.rows[3 * c]), slip_x, slip_y)
    for e in range(12):
        row.J[e] = x * local.J[e] + y * w.local[3 * c + 2].J[e]
        row.F[e] = row.J[e]
    target[:] = 0.0
    add_rate_changes(w, 3 * c + 1, 1, -x, w.rates, target)
    add_rate_changes(w, 3 * c + 2, 2, -y, w.rates, target)
    return count + 1
