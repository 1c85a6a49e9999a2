# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Differentiate the equations of motion of a step and its active constraint rows.

A row is active if its rate stays at its target under small changes.
docs/explanation/linearization_equations.md has the equations.
"""

import math

from hrpsim.derivatives.balance import (
    add_force_turns,
    count_bodies,
    write_balance,
    write_coordinates,
    write_rates,
    write_twists,
    write_wrenches,
)
from hrpsim.derivatives.body_motions import derivatives_in_world
from hrpsim.derivatives.contact_rows import (
    add_gap_changes,
    add_rate_changes,
    copy_row,
    gap_slopes,
    is_met_within,
    note_inertia,
    pair_of,
    place_contacts,
    rate_of,
    respond,
    slope_of,
    write_contact_rows,
    write_turns,
)
from hrpsim.derivatives.room import AT_END, BY_Q, OTHER, DerivativeArrays, HeldRow
from hrpsim.derivatives.small_matrices import add_scaled
from hrpsim.engine.collision.contacts import detect
from hrpsim.engine.collision.records import Collision
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    Contact,
    Counts,
    Index,
    IndexTable,
    JointHold,
    JointParameters,
    Kinematics,
    Matrix,
    Records,
    Row,
    Tensor,
    Vector,
)
from hrpsim.engine.constraints.compliant_law import held_slopes
from hrpsim.engine.constraints.connection_rows import SHARP
from hrpsim.engine.constraints.joint_rows import mimic_error, rigid_limit_slopes
from hrpsim.engine.constraints.rows import (
    LOCK,
    LOWER_LIMIT,
    MIMIC,
    UPPER_LIMIT,
    VELOCITY_LIMIT,
    Rows,
    correction_slope,
)
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.step.arrays import Scene

STEP = 2e-6  # of the differences [m and rad]
# Bend of a difference above which a smaller step follows the point of a round shape: differences
# that bend less err by 2e-8. At the smaller step rounding is 1e-16 / (2e-4 tilt) of the derivative.
_STRAIGHT = 2e-4
_UNSEEN = 1e-6  # change of a derivative within a step that does not matter [1/m or 1]
_KINKED = 0.05  # bend at the smaller step where it is not curvature
_LEFT = 1e-8  # errors of redundant rows whose change does not matter [m/s or rad/s]
_PRESSES = 2e-5  # gap at which a contact that appears may press [m]


@inner_kernel
def place_joint_rows(
    counts: Counts, forest: Forest, rows: Rows, w: DerivativeArrays, first: Index
) -> None:
    """Write the entries of J for the joint rows, from row `first` on, to w.local."""
    for number in range(first, counts.row_count):
        row, local = rows.rows[number], w.local[number]
        local.number, local.compliance = number, row.compliance
        local.inverse_mass = row.inverse_mass
        local.J[:] = 0.0
        local.at[0], local.at[1], local.J[0] = w.dof_at[row.source], -1, row.J_a[0]
        if row.at_b >= 0:
            local.at[1] = w.dof_at[forest.dofs[row.source].mimic_dof]
            local.J[6] = row.J_b[0]


@inner_kernel
def write_joint_rows(s: Scene, w: DerivativeArrays, first: Index, count: int) -> int:
    """Append the active joint rows to w.held. Write each row's distance from switching its state.

    Args:
        s: scene after the step.
        w: DerivativeArrays, after `place_joint_rows`. `held`, `target`, `row_holds` and
            `row_distance` are written.
        first: number of the first joint row.
        count: number of rows in `held` before the call.

    Returns:
        The number of rows in `held`.
    """
    nv = w.velocity.shape[0]
    for number in range(first, s.counts[0].row_count):
        row, local = s.rows.rows[number], w.local[number]
        spare = min(row.impulse - row.lower, row.upper - row.impulse) * row.inverse_mass
        left = abs(rate_of(local, w.twists[AT_END]) + row.compliance * row.impulse - row.target)
        w.row_holds[number] = 1 if spare > left else 0
        w.row_distance[number] = max(spare, left)
        if spare <= left:
            continue
        copy_row(local, w.held[count])
        w.target[count, :] = 0.0
        target = w.target[count]
        by_gap, by_rate = _joint_slopes(s, w, number, count)
        for half in range(2):
            if local.at[half] >= 0:
                dof = row.source if half == 0 else s.forest.dofs[row.source].mimic_dof
                target[dof] += by_gap * local.J[6 * half]
                target[nv + dof] += by_rate * local.J[6 * half]
        count += 1
    return count


@inlined_kernel
def _is_limit(row: Row) -> bool:
    """Return whether a row is the constraint of a position limit."""
    return row.kind == LOWER_LIMIT or row.kind == UPPER_LIMIT


@inlined_kernel
def _error_rate(forest: Forest, w: DerivativeArrays, row: Row, local: HeldRow) -> float:
    """Return the rate of the error of a joint row [rad/s or m/s]."""
    rate = 0.0
    for half in range(2):
        if local.at[half] >= 0:
            dof = row.source if half == 0 else forest.dofs[row.source].mimic_dof
            rate += local.J[6 * half] * w.velocity[dof]
    return rate


@inner_kernel
def _joint_slopes(s: Scene, w: DerivativeArrays, number: Index, count: int) -> tuple[float, float]:
    """Return the derivatives of a joint row's target with respect to its error and error rate.

    For a compliant row, the kernel also writes the dependence on the inverse mass to w.held[count].
    """
    row, own = s.rows.rows[number], parameters_of(s.joint_parameters, w, s.rows.rows[number])
    is_limit, h = _is_limit(row), s.settings[0].time_step
    if not (is_limit or row.kind == MIMIC or row.kind == LOCK):
        return 0.0, 0.0
    if own.damping_time < 0.0:
        by_room, _ = rigid_limit_slopes(room_of(s.forest, w, row), s.settings[0])
        return by_room if is_limit else 0.0, 0.0
    local, rate = w.local[number], _error_rate(s.forest, w, row, w.local[number])
    if not is_limit:
        inverse_mass = row.inverse_mass - row.compliance
        held_slopes(_error_of(s.forest, s.joint_holds, w, row), rate, inverse_mass, own, h, w.law)
    elif is_met_within(w, row, row.target, room_of(s.forest, w, row), rate, own, h):
        w.findings[0].met_within = number
    if is_limit or own.compliance > 0.0:
        by_inertia = slope_of(w, 2, row)
        respond(w, local.J, local.at)
        note_inertia(w, row, count)
        add_scaled(w.gradient[0], -by_inertia, w.target[count, : w.velocity.shape[0]])
    return slope_of(w, 0, row), slope_of(w, 1, row)


@inlined_kernel
def parameters_of(
    joint_parameters: Records[JointParameters], w: DerivativeArrays, row: Row
) -> JointParameters:
    """Return the parameters of a joint row. Velocity limits use the lower limit's parameters."""
    kind = LOWER_LIMIT if row.kind == VELOCITY_LIMIT else row.kind
    return joint_parameters[row.source, w.parameters[kind - LOWER_LIMIT]]


@inlined_kernel
def room_of(forest: Forest, w: DerivativeArrays, row: Row) -> float:
    """Return a joint's distance from the position limit of a row [rad or m], 0 for other rows."""
    dof = forest.dofs[row.source]
    if row.kind == LOWER_LIMIT:
        return w.q[dof.q_index] - dof.lower
    return dof.upper - w.q[dof.q_index] if row.kind == UPPER_LIMIT else 0.0


@inlined_kernel
def _error_of(
    forest: Forest, joint_holds: Records[JointHold], w: DerivativeArrays, row: Row
) -> float:
    """Return the position error of the row of a locked or mimic joint [rad or m]."""
    dof = forest.dofs[row.source]
    position = w.q[dof.q_index]
    if row.kind == LOCK:
        return position - joint_holds[row.source].position
    leader = w.q[forest.dofs[dof.mimic_dof].q_index]
    return mimic_error(dof, position, leader)


@inner_kernel
def contact_derivatives(s: Scene, w: DerivativeArrays, search: Collision, body_count: int) -> None:
    """Write the derivatives of contact point, normal and gap with respect to both bodies' twists.

    The contact search is repeated with each body displaced, for central differences. The kernel
    writes two arrays of `w`:

    - `geometry` (contacts, 2, 7, 6): derivatives of point, normal and gap with respect to the twist
      of body a or b about the origin of its tree.
    - `found` (contacts, 2): the number of the 12 searches that found the contact. Fewer than 12
      mean that a small motion ends the contact.

    Args:
        s: scene after the step, with the contacts to differentiate.
        w: DerivativeArrays. `moved` is a copy of `poses` before and after the call.
        search: a Collision with pairs and contacts that are overwritten.
        body_count: number of bodies with contacts or connections.
    """
    contacts, count = s.collision.contacts, s.counts[0].contact_count
    w.geometry[:count] = 0.0
    w.found[:count] = 0
    for b in range(body_count):
        i = w.bodies[b]
        pairs = _list_pairs(contacts, count, i, search.pairs)
        for axis in range(6):
            bend = _differentiate_search(s, w, search, pairs, i, axis, STEP)
            if bend > _STRAIGHT:
                finer = STEP * _STRAIGHT / bend
                if _differentiate_search(s, w, search, pairs, i, axis, finer) > _KINKED:
                    _note_kinks(s.counts[0], s.collision, w, i, axis, finer)
        _displace(w.poses[i], 3, 0.0, w.moved[i])


@inner_kernel
def _differentiate_search(
    s: Scene,
    w: DerivativeArrays,
    search: Collision,
    pairs: int,
    body: Index,
    axis: int,
    step: float,
) -> float:
    """Write the central differences of contact geometry for one displacement of a body.

    The body is displaced by +-`step` [m or rad] along `axis` (0 to 5). Only searches with the
    displacement STEP count in w.found.

    Returns:
        the largest bend. The bend is the second difference of a point or normal, relative to the
        first difference.
    """
    contacts, count = s.collision.contacts, s.counts[0].contact_count
    for c in range(count):
        w.bends[c, :] = 0.0
        if contacts[c].body_a == body or contacts[c].body_b == body:
            w.geometry[c, 0 if contacts[c].body_a == body else 1, :, axis] = 0.0
    for direction in range(2):
        sign = 1.0 - 2.0 * direction
        _displace(w.poses[body], axis, sign * step, w.moved[body])
        previous = s.counts[0].previous_count
        total = detect(s.settings[0], s.forest, w.moved, pairs, previous, s.lazy_kernels, search)
        _add(s, w, search.contacts[: min(total, search.contacts.shape[0])], body, axis, sign * step)
    bend = 0.0
    for c in range(count):
        if contacts[c].body_a == body or contacts[c].body_b == body:
            bend = max(bend, _bend_of(w, c, 0 if contacts[c].body_a == body else 1, axis, step))
    return bend


@inner_kernel
def _bend_of(w: DerivativeArrays, c: int, end: Index, axis: int, step: float) -> float:
    """Return the bend of a contact's point or normal, or 0 if negligible.

    `_differentiate_search` defines the bend.
    """
    largest = 0.0
    for first in (0, 3):
        slope = turn = 0.0
        for r in range(first, first + 3):
            slope += w.geometry[c, end, r, axis] ** 2
            turn += (w.bends[c, r] / step) ** 2
        slope, turn = math.sqrt(slope), math.sqrt(turn)
        if turn > _STRAIGHT * slope and turn > _UNSEEN:
            largest = max(largest, turn / slope if slope > turn else 1.0)
    return largest


@inner_kernel
def _note_kinks(
    counts: Counts, collision: Collision, w: DerivativeArrays, body: Index, axis: int, step: float
) -> None:
    """Mark contacts of a body whose point or normal has a kink in the displacement of the body.

    At a kink, the derivatives in the positive and in the negative direction are different.

    Args:
        counts: the step's counts.
        collision: the step's contacts.
        w: the bends of the points and normals are read, and `found` is written.
        body: the displaced body.
        axis: axis of the displacement, 0 to 5.
        step: size of the displacement [rad or m].
    """
    for c in range(counts.contact_count):
        contact = collision.contacts[c]
        if contact.body_a == body or contact.body_b == body:
            end = 0 if contact.body_a == body else 1
            if _bend_of(w, c, end, axis, step) > _KINKED:
                w.found[c, end] = -1000


@inlined_kernel
def _list_pairs(contacts: Records[Contact], count: int, body: Index, pairs_out: IndexTable) -> int:
    """List the pairs of shapes in contact to which a body belongs. Return the number of pairs."""
    listed = 0
    for c in range(count):
        contact = contacts[c]
        if contact.body_a != body and contact.body_b != body:
            continue
        if listed > 0 and pairs_out[listed - 1, 0] == contact.shape_a:
            if pairs_out[listed - 1, 1] == contact.shape_b:
                continue
        pairs_out[listed, 0], pairs_out[listed, 1] = contact.shape_a, contact.shape_b
        listed += 1
    return listed


@inlined_kernel
def _displace(here: Kinematics, axis: int, amount: float, moved_out: Kinematics) -> None:
    """Write the pose of a body after a small motion about or along a world axis.

    axis: 0 to 2 for a rotation [rad], 3 to 5 for a displacement [m]. amount: size of the motion.
    """
    R, p, R_out, p_out = here.R, here.p, moved_out.R, moved_out.p
    for r in range(3):
        p_out[r] = p[r]
        for k in range(3):
            R_out[r, k] = R[r, k]
    if axis >= 3:
        p_out[axis - 3] += amount
        return
    y, z, sine, cosine = (axis + 1) % 3, (axis + 2) % 3, math.sin(amount), math.cos(amount)
    p_out[y], p_out[z] = cosine * p[y] - sine * p[z], sine * p[y] + cosine * p[z]
    for k in range(3):
        R_out[y, k] = cosine * R[y, k] - sine * R[z, k]
        R_out[z, k] = sine * R[y, k] + cosine * R[z, k]


@inlined_kernel
def _find_same(
    contacts: Records[Contact], count: int, last: Index, one: Contact
) -> tuple[int, int, bool]:
    """Find the contact with the same two shapes and features as the contact `one`.

    The search starts after the contact number `last`, because both lists usually have the same
    order.

    Returns:
        (number of the last contact compared, number of a contact of the same shapes or -1, whether
        the features are the same).
    """
    c, of_pair = last, -1
    for _ in range(count):  # both lists are in the same order as a rule
        c = c + 1 if c + 1 < count else 0
        contact = contacts[c]
        if contact.shape_a != one.shape_a or contact.shape_b != one.shape_b:
            continue
        of_pair = c
        if contact.feature == one.feature:
            return c, of_pair, True
    return c, of_pair, False


@inner_kernel
def _add(
    s: Scene,
    w: DerivativeArrays,
    found: Records[Contact],
    body: Index,
    axis: int,
    displacement: float,
) -> None:
    """Add the contact geometry found after a displacement to the central differences.

    found: contacts of the search. axis, displacement: motion of `body` [m or rad].
    """
    contacts, count = s.collision.contacts, s.counts[0].contact_count
    factor, counts, c = 0.5 / displacement, abs(displacement) == STEP, -1
    for f in range(found.shape[0]):
        displaced = found[f]
        c, of_pair, known = _find_same(contacts, count, c, displaced)
        end = 0 if displaced.body_a == body else 1
        if known:
            out, contact = w.geometry[c, end], contacts[c]
            w.found[c, end] += 1 if counts else 0
            for r in range(3):
                out[r, axis] += factor * displaced.point_a[r]
                out[3 + r, axis] += factor * displaced.normal[r]
                w.bends[c, r] += displaced.point_a[r] - contact.point_a[r]
                w.bends[c, 3 + r] += displaced.normal[r] - contact.normal[r]
            out[6, axis] += factor * displaced.gap
        elif counts and of_pair >= 0 and displaced.gap < _PRESSES:
            w.found[of_pair, end] = -1000


@kernel
def differentiate(
    s: Scene, w: DerivativeArrays, search: Collision, columns: Matrix, m: int
) -> tuple[int, int, int, int]:
    """Write the derivatives of the momentum balance, and the active contact and joint rows.

    Args:
        s: scene after the step.
        w: DerivativeArrays, after `read_step`.
        search: a Collision with pairs and contacts that are overwritten.
        columns: work (nv, 3 nv or more).
        m: number of coordinates.

    Returns:
        (number of active rows, whether any contact slides, whether positions are corrected, row of
        a stop that closes within the step or -1).
    """
    counts, body_count = s.counts[0], count_bodies(w)
    first = 3 * counts.contact_count + counts.connection_rows
    w.findings[0].met_within, w.findings[0].slides = -1, 0
    w.findings[0].contact_rows = 3 * counts.contact_count
    is_open = s.direct.blur[0] > SHARP or s.direct.left[0] > _LEFT
    w.findings[0].open = 1 if is_open else 0
    for number in range(counts.row_count):
        w.released[number] = s.direct.active[number] * s.direct.factor.released[number]
    write_balance(s, w, columns)
    write_coordinates(s.forest, w, body_count)
    contact_derivatives(s, w, search, body_count)
    place_contacts(counts, s.collision, s.rows, w)
    place_joint_rows(counts, s.forest, s.rows, w, first)
    count = write_contact_rows(s, w, m, body_count)
    count = write_joint_rows(s, w, first, count)
    add_force_turns(s, w, m, w.balance[BY_Q], w.linear)
    corrects, findings = _is_corrected(counts, s.joint_parameters, s.rows, w, first), w.findings[0]
    return count, findings.slides, corrects, findings.met_within


@inlined_kernel
def _is_wanted(row: Row) -> bool:
    """Return whether a row has a position error that an impulse of the row can correct."""
    velocity = row.correction_velocity
    return velocity > 0.0 or (velocity != 0.0 and row.lower < 0.0)


@inner_kernel
def _is_corrected(
    counts: Counts,
    joint_parameters: Records[JointParameters],
    rows: Rows,
    w: DerivativeArrays,
    first: Index,
) -> int:
    """Return whether the step has a position correction (displacement.asks_for_displacement).

    Rigid mimic joints count even if their error is 0.
    """
    for number in range(counts.row_count):
        row = rows.rows[number]
        velocity, normal = row.correction_velocity, number % 3 == 0
        if number < 3 * counts.contact_count:
            if normal and velocity > 0.0:
                return 1
        elif _is_wanted(row):
            return 1
        elif number >= first and row.kind == MIMIC:
            if parameters_of(joint_parameters, w, row).damping_time < 0.0:
                return 1
    return 0


@kernel
def differentiate_correction(
    s: Scene, w: DerivativeArrays, columns: Matrix, m: int, balance_out: Tensor, linear_out: Matrix
) -> None:
    """Write the derivative of the position correction's residual J' l - M w with respect to q.

    Args:
        s: scene after the step.
        w: DerivativeArrays, after `differentiate`. `impulses` (k,) are the impulses l, `correction`
            (nv,) is w.
        columns: work (nv, 3 nv or more).
        m: number of coordinates.
        balance_out: derivatives, laid out as `balance` (3, nv, nv), written.
        linear_out: work (nv, nv).
    """
    gravity, none = w.products[0, :3], w.own_change
    gravity[:] = 0.0
    none[:] = 0.0
    write_wrenches(s, w, 1.0)
    for k in range(none.shape[0]):
        w.acceleration[k] = w.correction[k]
    derivatives_in_world(w.space, w.q, none, w.acceleration, gravity, columns, balance_out)
    for i in range(none.shape[0]):
        for j in range(none.shape[0]):
            balance_out[BY_Q, i, j] *= -1.0
    balance_out[1] = 0.0
    add_force_turns(s, w, m, balance_out[BY_Q], linear_out)


@kernel
def correction_slopes(s: Scene, w: DerivativeArrays, first: Index, slopes_out: Vector) -> None:
    """Write the derivative of each row's correction rate with respect to its gap or error [1/s].

    Args:
        s: scene after the step.
        w: DerivativeArrays, after `differentiate`.
        first: first row of joints.
        slopes_out: derivatives for the normals of contacts and the rows of joints (rows,) [1/s],
            written. Other entries are 0.
    """
    settings = s.settings[0]
    slopes_out[:] = 0.0
    for c in range(s.counts[0].contact_count):
        if pair_of(s.collision, s.materials, c).damping_time < 0.0:
            slopes_out[3 * c] = gap_slopes(settings, s.collision, s.rows, c)[1]
        elif s.collision.contacts[c].gap > 0.0:
            slopes_out[3 * c] = -1.0 / settings.time_step
    for number in range(first, s.counts[0].row_count):
        row = s.rows.rows[number]
        is_limit = _is_limit(row)
        rigid = parameters_of(s.joint_parameters, w, row).damping_time < 0.0
        if is_limit and (rigid or room_of(s.forest, w, row) > 0.0):
            slopes_out[number] = rigid_limit_slopes(room_of(s.forest, w, row), settings)[1]
        elif row.kind == MIMIC and rigid:
            error = _error_of(s.forest, s.joint_holds, w, row)
            slopes_out[number] = correction_slope(error, settings.time_step, settings)


@kernel
def contact_changes(
    s: Scene, w: DerivativeArrays, m: int, velocity: Vector, rates_out: Matrix, gaps_out: Matrix
) -> None:
    """Write the derivatives of all gaps, and of their rates at a velocity, with respect to q.

    Args:
        s: scene after the step.
        w: DerivativeArrays, after `differentiate`.
        m: number of coordinates.
        velocity: velocity (nv,) [rad/s, m/s], kernels' layout.
        rates_out: derivatives of the rates (contacts, nv), written.
        gaps_out: derivatives of the gaps (contacts, nv), written.
    """
    write_rates(w, velocity, count_bodies(w), w.start_rates)
    write_twists(w, velocity, m, OTHER)
    for c in range(s.counts[0].contact_count):
        write_turns(s.collision, w, c, w.twists[OTHER])
        rates_out[c] = 0.0
        gaps_out[c] = 0.0
        add_rate_changes(w, 3 * c, 0, 1.0, w.start_rates, rates_out[c])
        add_gap_changes(w, c, 1.0, gaps_out[c])
