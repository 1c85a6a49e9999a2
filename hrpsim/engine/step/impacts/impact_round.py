# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One round of impacts: the rows of an island that take part, their solution, its effect.

Bodies stay where they are. Free balls have rounds of their own (.ball_impacts).

Newton's law applies. The target of a row that strikes is -e times its rate. A row that is closed
and at rest must not be pressed in. All rows of a round are solved together. Rigid constraints keep
their velocity. Compliant constraints, and constraints bounded by a force, have no impulse in no
time.

With friction Newton's law may give energy (Kane and Levinson 1985; Stronge 1990). Friction changes
the rate of a gap as well, so -e times the rate before may exceed the rate after an elastic impact.
The energy that a round gives is the work of its impulses, sum l (u + u') / 2 over rows with the
rates u before and u' after. A round that gives energy is done again with less restitution.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.constraints.impact_rows import (
    ABSENT,
    OPEN,
    RESTING,
    impact_rate,
    is_closed,
    takes_part,
    wanted_rate,
)
from hrpsim.engine.constraints.rows import CONTACT_ROW, is_one_sided, row_velocity, takes_time
from hrpsim.engine.solvers.impulses import apply_impulse
from hrpsim.engine.solvers.projected_gauss_seidel import solve
from hrpsim.engine.step.impacts.inelastic_impacts import count_impulse
from hrpsim.engine.step.rows.constraint_wrenches import add_impact_impulse, add_wrench
from hrpsim.engine.step.rows.direct_island import solve_direct_island

# Tolerated error of a round's energy, as a share of the work that its impulses do on each other.
_ROUNDING = 1e-9
# Largest change in the last sweep of a round, as a share of its fastest approach.
EXACT = 1e-14
# Updates of contacts or rows that a round may take, and sweeps that it may take in any case.
_UPDATES, _SWEEPS = 20_000, 50
# Bisections of the part of restitution that gives no energy.
_HALVINGS = 30


@inlined_kernel
def _row_count(row):
    """Return how many rows a contact or another constraint has, from its first on."""
    return 3 if row.kind == CONTACT_ROW else 1


@inner_kernel
def note_rates(constrained, rows, islands):
    """Save the velocities of the listed rows before the round."""
    chosen = islands.chosen[0]
    for k in range(chosen.end):
        first = rows.chosen[k]
        for number in range(first, first + _row_count(rows.rows[first])):
            rows.impacts[number].before = row_velocity(rows.rows[number], constrained.velocity)


@inner_kernel
def gives_energy(constrained, rows, islands):
    """Return whether contacts and limits do work on the whole in this round.

    Rigid constraints keep their velocity: a moving drive may do work in any impact.
    """
    chosen = islands.chosen[0]
    work = exchanged = 0.0
    for k in range(chosen.end):
        first = rows.chosen[k]
        if not is_one_sided(rows.rows[first]):
            continue
        for number in range(first, first + _row_count(rows.rows[first])):
            row = rows.rows[number]
            before, after = rows.impacts[number].before, row_velocity(row, constrained.velocity)
            work += row.impulse * (before + after)
            exchanged += abs(row.impulse * before) + abs(row.impulse * after)
    return work > _ROUNDING * exchanged


@inner_kernel
def ask_for_less(settings, constrained, rows, islands, now, part):
    """Undo a round; set the targets of the listed rows to this part of their restitution."""
    chosen, velocity = islands.chosen[0], constrained.velocity
    threshold = settings.restitution_threshold
    for k in range(chosen.end):
        first = rows.chosen[k]
        for number in range(first, first + _row_count(rows.rows[first])):
            apply_impulse(rows.rows[number], -rows.rows[number].impulse, rows.response, velocity)
            rows.rows[number].impulse = 0.0
        if is_one_sided(rows.rows[first]):
            impact = rows.impacts[first]
            whole = impact.restitution
            impact.restitution *= part
            rows.rows[first].target = wanted_rate(impact, now, False, threshold)
            impact.restitution = whole


@inner_kernel
def solve_round(s, island_number, now):
    """Solve the rows that strike at `now` [s], and the other rows that take part.

    Returns:
        The number of updates of contacts or rows; 0 if nothing strikes.
    """
    island, settings = s.islands.ranges[island_number], s.settings[0]
    fastest = _fastest_approach(s.rows, island, now)
    if not fastest < -settings.restitution_threshold:
        return 0
    _choose(settings, s.constrained, s.rows, s.islands, island, now, fastest)
    tolerance = -EXACT * fastest
    note_rates(s.constrained, s.rows, s.islands)
    taken = _solve_island(s, island_number, tolerance)
    if gives_energy(s.constrained, s.rows, s.islands):
        taken += _solve_without_gain(s, island_number, now, tolerance)
    apply_round(s, now)
    find_gaps(settings, s.constrained, s.rows, island)
    return taken


@inner_kernel
def _solve_island(s, island_number, tolerance):
    """Solve the listed rows of an island, and return how many updates that took."""
    if island_number == s.counts[0].direct_island:
        leave_out_rest(s.rows, s.islands.ranges[island_number])
        return solve_direct_island(s, tolerance)
    return solve_chosen(s.counts[0], s.constrained, s.rows, s.islands, tolerance)


@inner_kernel
def _solve_without_gain(s, island_number, now, tolerance):
    """Solve a round that gained energy again, with the largest restitution that gains none.

    Returns how many updates that took.
    """
    taken, admitted, refused = 0, 0.0, 1.0
    for _ in range(_HALVINGS):
        part = 0.5 * (admitted + refused)
        ask_for_less(s.settings[0], s.constrained, s.rows, s.islands, now, part)
        taken += _solve_island(s, island_number, tolerance)
        if gives_energy(s.constrained, s.rows, s.islands):
            refused = part
        else:
            admitted = part
    ask_for_less(s.settings[0], s.constrained, s.rows, s.islands, now, admitted)
    s.step_stats[0].impacts_lowered += 1
    return taken + _solve_island(s, island_number, tolerance)


@inner_kernel
def _fastest_approach(rows, island, now):
    """Return the fastest rate at which a closed gap of an island closes on [m/s]."""
    fastest = 0.0
    for k in range(island.first, island.end):
        number = rows.island_rows[k]
        impact = rows.impacts[number]
        if is_one_sided(rows.rows[number]) and is_closed(impact, now):
            fastest = min(fastest, impact_rate(impact, now, False) - impact.floor)
    return fastest


@inner_kernel
def _choose(settings, constrained, rows, islands, island, now, fastest):
    """List the rows of a round, write their targets, and clear all impulses of the island."""
    velocity = constrained.velocity
    threshold = settings.restitution_threshold
    begin_choice(islands)
    for k in range(island.first, island.end):
        number = rows.island_rows[k]
        row, impact = rows.rows[number], rows.impacts[number]
        row.impulse = 0.0
        impact.chosen = 0
        if is_one_sided(row):
            if takes_part(impact, now, False, threshold, fastest):
                row.target = wanted_rate(impact, now, False, threshold)
                choose(rows, islands, number)
        elif not takes_time(row) and row.compliance == 0.0:
            row.target = row_velocity(row, velocity)
            choose(rows, islands, number)
        if row.kind == CONTACT_ROW:
            empty_tangents(constrained, rows, number, 0.0)


@inlined_kernel
def empty_tangents(constrained, rows, number, late):
    """Start the friction of a contact without impulses, `late` after the step's start."""
    for tangent in (rows.rows[number + 1], rows.rows[number + 2]):
        tangent.impulse = 0.0
        tangent.target = -late * row_velocity(tangent, constrained.acceleration)


@inlined_kernel
def begin_choice(islands):
    """Empty the list of rows that are solved in an island."""
    chosen = islands.chosen[0]
    chosen.first = chosen.contact_end = chosen.end = 0
    chosen.new_count = chosen.whole = 0


@inlined_kernel
def choose(rows, islands, number):
    """List a contact's rows, or one row: contacts first, in the order of their island."""
    chosen, row, impact = islands.chosen[0], rows.rows[number], rows.impacts[number]
    rows.chosen[chosen.end] = number
    chosen.end += 1
    if row.kind == CONTACT_ROW:
        chosen.contact_end += 1
    impact.chosen = 1
    row.lower, row.upper = impact.lower, impact.upper


@inner_kernel
def leave_out_rest(rows, island):
    """Clear the impulses of rows that are not listed, for the direct solver reads all rows."""
    for k in range(island.first, island.end):
        number = rows.island_rows[k]
        if not rows.impacts[number].chosen:
            rows.rows[number].lower = rows.rows[number].upper = 0.0


@inner_kernel
def solve_chosen(counts, constrained, rows, islands, tolerance):
    """Solve the listed rows by sweeps, from and to constrained.velocity.

    Returns:
        The number of updates of contacts or rows.
    """
    chosen = islands.chosen[0]
    limit = max(_SWEEPS, _UPDATES // max(chosen.end, 1))
    sweeps, _, _ = solve(
        rows.rows,
        counts.row_count,
        rows.chosen,
        chosen,
        rows.response,
        tolerance,
        0.0,
        0,
        limit,
        constrained.velocity,
        rows.descent,
    )
    return (sweeps + 1) * chosen.end


@inner_kernel
def apply_round(s, now):
    """Add up the impulses of a round, and the correction of positions for impacts at `now`."""
    rows, chosen, constrained = s.rows.rows, s.islands.chosen[0], s.constrained
    for k in range(chosen.end):
        number = s.rows.chosen[k]
        row = rows[number]
        apply_impulse(row, -now * row.impulse, s.rows.response, constrained.gap_offset)
        add_wrench(s.articulated, constrained, s.work, row, row.impulse)
        add_impact_impulse(s.joint_impact_impulses, s.connections, s.rows, number)
        if row.kind == CONTACT_ROW:
            x, y = rows[number + 1], rows[number + 2]
            for tangent in (x, y):
                apply_impulse(
                    tangent, -now * tangent.impulse, s.rows.response, constrained.gap_offset
                )
                add_wrench(s.articulated, constrained, s.work, tangent, tangent.impulse)
            count_impulse(s.collision.contacts[number // 3], row, x, y)


@inner_kernel
def find_gaps(settings, constrained, rows, island):
    """Write the motion of an island's gaps by the present velocities."""
    for k in range(island.first, island.end):
        number = rows.island_rows[k]
        if is_one_sided(rows.rows[number]) and rows.impacts[number].state != ABSENT:
            find_gap(settings, constrained, rows, number)


@inlined_kernel
def find_gap(settings, constrained, rows, number):
    """Write the motion of the gap of row `number` by the present velocities."""
    row, impact = rows.rows[number], rows.impacts[number]
    impact.rate = row_velocity(row, constrained.velocity)
    impact.gap = impact.offset + row_velocity(row, constrained.gap_offset)
    threshold = settings.restitution_threshold
    if impact.state == RESTING and impact.rate - impact.settled > threshold:
        impact.state = OPEN
