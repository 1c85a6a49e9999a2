"""One round of impacts: which rows of an island are solved for, their solution, and what it does.

Newton's law: a row that strikes asks for -e times its rate, one that is closed and at rest asks not
to be pressed in; all rows of a round are solved together. What is held rigidly keeps its velocity.
What gives way, and what is bounded by a force, does nothing in no time.
"""

from __future__ import annotations

from hrpsim.constraints.impact_rows import (
    ABSENT,
    OPEN,
    RESTING,
    impact_rate,
    is_closed,
    takes_part,
    wanted_rate,
)
from hrpsim.constraints.rows import (
    CONTACT_ROW,
    JOINT_FRICTION,
    LOWER_LIMIT,
    SPRING,
    UPPER_LIMIT,
    row_velocity,
)
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.jit.late import DIRECT_ISLAND, call_with_scene
from hrpsim.solvers.impulses import apply_impulse
from hrpsim.solvers.projected_gauss_seidel import solve
from hrpsim.step.impacts.strike import count_impulse
from hrpsim.step.impacts.struck import add_struck_impulse
from hrpsim.step.rows.loads import add_load

# Of the fastest approach in a round, what may change in the last sweep.
_EXACT = 1e-14

# Updates of contacts or rows that a round may take, and sweeps that it may take in any case.
_UPDATES, _SWEEPS = 20_000, 50


@inlined_kernel
def is_one_sided(row):
    """Return whether a row (of a contact, its normal) holds a gap open."""
    return row.kind == CONTACT_ROW or row.kind == LOWER_LIMIT or row.kind == UPPER_LIMIT


@inner_kernel
def solve_round(s, island, now):
    """Solve for what strikes at `now` and what takes part in it.

    Returns how many updates of contacts or rows that took, 0 if nothing strikes.
    """
    span, settings = s.islands.spans[island], s.settings[0]
    fastest = _fastest_approach(s, span, now)
    if not fastest < -settings.restitution_threshold:
        return 0
    _choose(s, span, now, fastest)
    tolerance = -_EXACT * fastest
    if island == s.tally[0].direct_island and not span.timed:
        leave_out_rest(s, span)
        taken = call_with_scene(s, DIRECT_ISLAND, (tolerance,))
    else:
        taken = solve_chosen(s, span, tolerance)
    _apply(s, now)
    find_gaps(s, span)
    return taken


@inner_kernel
def _fastest_approach(s, span, now):
    """Return the fastest rate at which a closed gap of an island closes on [m/s]."""
    fastest = 0.0
    for k in range(span.first, span.end):
        number = s.rows.units[k]
        impact = s.rows.impacts[number]
        if is_one_sided(s.rows.rows[number]) and is_closed(impact, now):
            fastest = min(fastest, impact_rate(impact, now, span.timed) - impact.floor)
    return fastest


@inner_kernel
def _choose(s, span, now, fastest):
    """List the rows of a round, write what they ask for, and empty all impulses of the island."""
    rows, velocity, acceleration = s.rows.rows, s.ports.velocity, s.ports.acceleration
    threshold = s.settings[0].restitution_threshold
    begin_choice(s, span)
    late = now if span.timed else 0.0
    for k in range(span.first, span.end):
        number = s.rows.units[k]
        row, impact = rows[number], s.rows.impacts[number]
        row.impulse = 0.0
        impact.chosen = 0
        if is_one_sided(row):
            if takes_part(impact, now, span.timed, threshold, fastest):
                row.target = wanted_rate(impact, now, span.timed, threshold)
                choose(s, number)
        elif row.kind != JOINT_FRICTION and row.kind != SPRING and row.compliance == 0.0:
            row.target = row_velocity(row, velocity)
            choose(s, number)
        if row.kind == CONTACT_ROW:
            for tangent in (rows[number + 1], rows[number + 2]):
                tangent.impulse = 0.0
                tangent.target = -late * row_velocity(tangent, acceleration)


@inlined_kernel
def begin_choice(s, span):
    """Empty the list of what is solved for in an island."""
    chosen = s.islands.chosen[0]
    chosen.first = chosen.contact_end = chosen.end = 0
    chosen.new_count = chosen.whole = 0


@inlined_kernel
def choose(s, number):
    """List a unit: contacts first, as they are listed in their island."""
    chosen, row, impact = s.islands.chosen[0], s.rows.rows[number], s.rows.impacts[number]
    s.rows.chosen[chosen.end] = number
    chosen.end += 1
    if row.kind == CONTACT_ROW:
        chosen.contact_end += 1
    impact.chosen = 1
    row.lower, row.upper = impact.lower, impact.upper


@inner_kernel
def leave_out_rest(s, span):
    """Give rows that are not listed no impulse, for the direct solver looks at all rows."""
    for k in range(span.first, span.end):
        number = s.rows.units[k]
        if not s.rows.impacts[number].chosen:
            s.rows.rows[number].lower = s.rows.rows[number].upper = 0.0


@inner_kernel
def solve_chosen(s, span, tolerance):
    """Solve what is listed by sweeps, from and to s.ports.velocity; return how many updates."""
    chosen = s.islands.chosen[0]
    limit = max(_SWEEPS, _UPDATES // max(chosen.end, 1))
    sweeps, _, _ = solve(
        s.rows.rows,
        s.tally[0].row_count,
        s.rows.chosen,
        chosen,
        s.rows.response,
        tolerance,
        0.0,
        limit,
        s.ports.velocity,
        s.rows.descent,
    )
    return (sweeps + 1) * chosen.end


@inner_kernel
def _apply(s, now):
    """Count the impulses of a round, and what bodies owe to their coming at `now`."""
    rows, chosen, ports = s.rows.rows, s.islands.chosen[0], s.ports
    for k in range(chosen.end):
        number = s.rows.chosen[k]
        row = rows[number]
        apply_impulse(row, -now * row.impulse, s.rows.response, ports.lag)
        add_load(s, row, row.impulse)
        add_struck_impulse(s, number)
        if row.kind == CONTACT_ROW:
            x, y = rows[number + 1], rows[number + 2]
            for tangent in (x, y):
                apply_impulse(tangent, -now * tangent.impulse, s.rows.response, ports.lag)
                add_load(s, tangent, tangent.impulse)
            count_impulse(s.collision.contacts[number // 3], row, x, y)


@inner_kernel
def find_gaps(s, span):
    """Write how the gaps of an island move with the present velocities."""
    rows, velocity, lag = s.rows.rows, s.ports.velocity, s.ports.lag
    threshold = s.settings[0].restitution_threshold
    for k in range(span.first, span.end):
        number = s.rows.units[k]
        row, impact = rows[number], s.rows.impacts[number]
        if not is_one_sided(row) or impact.state == ABSENT:
            continue
        impact.rate = row_velocity(row, velocity)
        impact.gap = impact.offset + row_velocity(row, lag)
        if impact.state == RESTING and impact.rate - impact.settled > threshold:
            impact.state = OPEN
