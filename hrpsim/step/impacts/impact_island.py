# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Islands with impacts: whether anything may strike, and their motion until then."""

from hrpsim.constraints.impact_rows import ABSENT, CLOSED, OPEN, RESTING, is_at_rest
from hrpsim.constraints.rows import CONTACT_ROW, LOWER_LIMIT, is_one_sided, row_velocity
from hrpsim.constraints.solver_table import ITERATIVE, PENALTY
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.solvers.impulses import apply_impulse
from hrpsim.step.continuous.swept_motion import FAR
from hrpsim.step.impacts.impact_place import NEVER, drifted
from hrpsim.step.impacts.impact_round import begin_choice, choose, leave_out_rest, solve_chosen
from hrpsim.step.rows.direct_island import solve_direct_island


@inlined_kernel
def _materials_of(shapes, materials, contact):
    """Return the MATERIAL_PAIR of a contact."""
    return materials[shapes[contact.shape_a].material, shapes[contact.shape_b].material]


@inner_kernel
def _gap_of(settings, forest, q, collision, materials, row):
    """Return the gap of a one-sided row [m or rad] and the largest gap at which it may rest."""
    if row.kind == CONTACT_ROW:
        contact = collision.contacts[row.source]
        rigid = _materials_of(collision.shapes, materials, contact).damping_time < 0.0
        closed = settings.slop if row.solver != ITERATIVE and rigid else CLOSED
        return contact.gap, max(closed, CLOSED)
    dof = forest.dofs[row.source]
    position = q[dof.q_index]
    if row.kind == LOWER_LIMIT:
        return position - dof.lower, CLOSED
    return dof.upper - position, CLOSED


@inlined_kernel
def _is_beyond(contacts, island, row):
    """Return whether a row belongs to a contact that counts only where impacts are timed."""
    if island.timed or row.kind != CONTACT_ROW:
        return False
    return contacts[row.source].gap_offset == FAR


@inner_kernel
def bounces(collision, materials, rows, island):
    """Return whether any contact of an island has restitution."""
    for k in range(island.first, island.contact_end):
        contact = collision.contacts[rows.island_rows[k] // 3]
        if _materials_of(collision.shapes, materials, contact).restitution > 0.0:
            return True
    return False


@inner_kernel
def may_have_impacts(settings, forest, q, collision, materials, constrained, rows, island):
    """Return whether an island has restitution and a gap that may close in this step, fast."""
    dt = settings.time_step
    threshold = settings.restitution_threshold
    bounces = closes = False
    for k in range(island.first, island.end):
        row = rows.rows[rows.island_rows[k]]
        if (
            not is_one_sided(row)
            or row.solver == PENALTY
            or _is_beyond(collision.contacts, island, row)
        ):
            continue
        if row.kind == CONTACT_ROW:
            pair = _materials_of(collision.shapes, materials, collision.contacts[row.source])
            bounces = bounces or pair.restitution > 0.0
        gap, closed = _gap_of(settings, forest, q, collision, materials, row)
        before = row_velocity(row, constrained.velocity)
        after = before + dt * row_velocity(row, constrained.acceleration)
        rests = gap <= closed and abs(before) <= threshold
        fastest = min(before, after)
        if not rests and fastest < -threshold and gap + dt * fastest <= CLOSED:
            closes = True
    return bounces and closes


@inner_kernel
def needs_support(settings, forest, q, collision, materials, constrained, rows, island):
    """Return whether anything but free flight moves an island until it strikes."""
    if island.contact_end != island.end:
        return True
    for k in range(island.first, island.contact_end):
        if _supports(
            settings, forest, q, collision, materials, constrained, rows.rows[rows.island_rows[k]]
        ):
            return True
    return False


@inlined_kernel
def _supports(settings, forest, q, collision, materials, constrained, row):
    """Return whether a row acts from the start of the step on, and not only when its gap closes."""
    if not is_one_sided(row):
        return True
    gap, closed = _gap_of(settings, forest, q, collision, materials, row)
    rate = row_velocity(row, constrained.velocity)
    rests = gap <= closed and abs(rate) <= settings.restitution_threshold
    return rests and row.solver != PENALTY


@inner_kernel
def find_support(s, island_number):
    """Add the constraints that hold an island from the start of the step to its acceleration.

    A ball that lies on the floor must not fall until another one strikes it. Where impacts are
    timed, slowly closing gaps continue to close: they come to rest in a round, at once.
    """
    settings = s.settings[0]
    island, rows, constrained = s.islands.ranges[island_number], s.rows.rows, s.constrained
    dt = settings.time_step
    begin_choice(s.islands)
    for k in range(island.first, island.end):
        number = s.rows.island_rows[k]
        row, impact = rows[number], s.rows.impacts[number]
        impact.lower, impact.upper, impact.chosen = row.lower, row.upper, 0
        if _supports(settings, s.forest, s.q, s.collision, s.materials, constrained, row):
            choose(s.rows, s.islands, number)
            if island.timed:
                row.target += min(row_velocity(row, constrained.velocity), 0.0)
        else:
            row.impulse = 0.0
            if row.kind == CONTACT_ROW:
                rows[number + 1].impulse = rows[number + 2].impulse = 0.0
    for k in range(constrained.velocity.shape[0]):
        constrained.gap_offset[k] = constrained.velocity[k]
        constrained.velocity[k] += dt * constrained.acceleration[k]
    chosen = s.islands.chosen[0]
    for k in range(chosen.end):
        number = s.rows.chosen[k]
        for tangent in range(number, number + (3 if rows[number].kind == CONTACT_ROW else 1)):
            row = rows[tangent]
            apply_impulse(row, row.impulse, s.rows.response, constrained.velocity)
    if island_number == s.counts[0].direct_island:
        leave_out_rest(s.rows, island)
        solve_direct_island(s, settings.tolerance)
        for k in range(island.first, island.end):
            number = s.rows.island_rows[k]
            impact = s.rows.impacts[number]
            rows[number].lower, rows[number].upper = impact.lower, impact.upper
    else:
        solve_chosen(s.counts[0], constrained, s.rows, s.islands, settings.tolerance)
    for k in range(constrained.velocity.shape[0]):
        constrained.acceleration[k] = (constrained.velocity[k] - constrained.gap_offset[k]) / dt
        constrained.velocity[k] = constrained.gap_offset[k]
        constrained.gap_offset[k] = 0.0


@inner_kernel
def begin_island(s, island):
    """Write the state of an island's rows at the start of the step."""
    settings = s.settings[0]
    rows, dt = s.rows.rows, settings.time_step
    threshold = settings.restitution_threshold
    for k in range(island.first, island.end):
        number = s.rows.island_rows[k]
        row, impact = rows[number], s.rows.impacts[number]
        impact.lower, impact.upper, impact.chosen = row.lower, row.upper, 0
        impact.state = ABSENT
        impact.placed = (
            0.0
            if drifted(settings, s.collision.contacts, s.continuous, island, number) == 0.0
            else NEVER
        )
        impact.restitution, impact.sequential = 0.0, 0
        impact.settled = impact.floor = 0.0
        if not is_one_sided(row) or _is_beyond(s.collision.contacts, island, row):
            continue
        gap, closed = _gap_of(settings, s.forest, s.q, s.collision, s.materials, row)
        yields = row.compliance > 0.0
        if row.kind == CONTACT_ROW:
            pair = _materials_of(s.collision.shapes, s.materials, s.collision.contacts[row.source])
            impact.restitution = pair.restitution
            impact.sequential = pair.sequential if pair.restitution > 0.0 else 0
            yields = yields or (pair.damping_time >= 0.0 and gap <= closed)
        if row.solver == PENALTY or (yields and impact.restitution == 0.0):
            continue
        impact.rate = row_velocity(row, s.constrained.velocity)
        impact.offset = impact.gap = (
            gap
            - drifted(settings, s.collision.contacts, s.continuous, island, number) * impact.rate
        )
        impact.acceleration = row_velocity(row, s.constrained.acceleration)
        if not island.timed and impact.restitution == 0.0 and gap > closed:
            impact.floor = -gap / dt
        impact.state = RESTING if gap <= closed and abs(impact.rate) <= threshold else OPEN
        if island.timed and not is_at_rest(impact.rate, threshold):
            impact.state = OPEN
