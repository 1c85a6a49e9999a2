# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One round of simultaneous impacts: choice of the rows, solution, and effect on velocities.

Bodies do not move in a round. Free balls are treated in .ball_impacts.

Newton's law of impact applies. The target of a row with an impact is -e times its rate, where e is
the restitution. The target of a closed row at rest prevents penetration. All rows of a round are
solved together. Rigid constraints do not change their velocity. Compliant constraints, and
constraints with a force limit, have no impulse in zero time.

With friction, Newton's law may increase the energy (Kane and Levinson 1985, Stronge 1990). Friction
changes the rate of a gap as well, so that -e times the rate before may exceed the rate after an
elastic impact. The energy gain of a round is the work of its impulses, the sum of l (u + u') / 2
over all rows. Here l is the impulse, u the rate before and u' the rate after the round. A round
that gains energy is solved again with less restitution.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Island, Row, Scene, Settings
from hrpsim.engine.constraints.impact_rows import (
    ABSENT,
    OPEN,
    RESTING,
    impact_rate,
    is_closed,
    takes_part,
    wanted_rate,
)
from hrpsim.engine.constraints.rows import (
    CONTACT_ROW,
    VELOCITY,
    Rows,
    is_one_sided,
    row_velocity,
    takes_time,
)
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.solvers.impulses import apply_impulse
from hrpsim.engine.solvers.projected_gauss_seidel import solve
from hrpsim.engine.step.impacts.inelastic_impacts import count_impulse
from hrpsim.engine.step.rows.attempts import IS_DIRECT, Attempt, SolverTask, order_of
from hrpsim.engine.step.rows.constraint_wrenches import add_impact_impulse, add_wrench
from hrpsim.engine.step.rows.direct_island import is_direct_island, solve_direct_island
from hrpsim.engine.step.scene.islands import Islands
from hrpsim.engine.step.scene.records import WHOLE
from hrpsim.engine.step.scene.status import DONE

# Tolerance of a round's energy, as a fraction of the sum of its absolute works.
_ROUNDING = 1e-9
# Largest change in the last sweep of a round, as a fraction of the largest closing rate.
EXACT = 1e-14
# Maximum number of updates of contacts or rows in a round, and number of sweeps always allowed.
_UPDATES, _SWEEPS = 20_000, 50
# Number of bisections for the fraction of restitution without energy gain.
_HALVINGS = 30


@inlined_kernel
def _row_count(row: Row) -> int:
    """Return the number of rows of a constraint: 3 for a contact, else 1."""
    return 3 if row.kind == CONTACT_ROW else 1


@inner_kernel
def note_rates(constrained: ConstraintBodies, rows: Rows, islands: Islands) -> None:
    """Save the velocities of the listed rows before the round."""
    chosen = islands.chosen[0]
    for k in range(chosen.end):
        first = rows.chosen[k]
        for number in range(first, first + _row_count(rows.rows[first])):
            rows.impacts[number].before = row_velocity(rows.rows[number], constrained.velocity)


@inner_kernel
def gives_energy(constrained: ConstraintBodies, rows: Rows, islands: Islands) -> bool:
    """Return whether the total work of contacts and limits in this round is positive.

    Other rigid constraints do not count, because a moving drive may do work in any impact.
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
def ask_for_less(
    settings: Settings,
    constrained: ConstraintBodies,
    rows: Rows,
    islands: Islands,
    now: float,
    part: float,
) -> None:
    """Undo a round, and reduce the restitution of the listed rows to the fraction `part`."""
    chosen, velocity = islands.chosen[0], constrained.velocity
    threshold = settings.restitution_threshold
    for k in range(chosen.end):
        first = rows.chosen[k]
        for number in range(first, first + _row_count(rows.rows[first])):
            apply_impulse(rows.rows[number], -rows.rows[number].impulse, rows.response, velocity)
            rows.rows[number].impulse = 0.0
        if is_one_sided(rows.rows[first]):
            impact = rows.impacts[first]
            restitution = impact.restitution
            impact.restitution *= part
            rows.rows[first].target = wanted_rate(impact, now, False, threshold)
            impact.restitution = restitution


@inner_kernel
def solve_round(s: Scene, island_number: Index, now: float) -> int:
    """Solve the rows with an impact at `now` [s], and the other rows that are part of the round.

    Returns:
        Number of updates of contacts or rows, 0 if there is no impact.
    """
    island, settings = s.islands.ranges[island_number], s.settings[0]
    fastest = _fastest_approach(s.rows, island, now)
    if not fastest < -settings.restitution_threshold:
        return 0
    _choose(settings, s.constrained, s.rows, s.islands, island, now, fastest)
    tolerance = -EXACT * fastest
    note_rates(s.constrained, s.rows, s.islands)
    taken = solve_listed(s, island_number, tolerance)
    if gives_energy(s.constrained, s.rows, s.islands):
        taken += _solve_without_gain(s, island_number, now, tolerance)
    apply_round(s, now)
    find_gaps(settings, s.constrained, s.rows, island)
    return taken


@inner_kernel
def _solve_without_gain(s: Scene, island_number: Index, now: float, tolerance: float) -> int:
    """Solve a round that gained energy again, with the largest restitution without energy gain.

    Bisection finds the fraction of the restitution.

    Returns:
        The number of updates of contacts or rows.
    """
    taken, admitted, refused = 0, 0.0, 1.0
    for _ in range(_HALVINGS):
        part = 0.5 * (admitted + refused)
        ask_for_less(s.settings[0], s.constrained, s.rows, s.islands, now, part)
        taken += solve_listed(s, island_number, tolerance)
        if gives_energy(s.constrained, s.rows, s.islands):
            refused = part
        else:
            admitted = part
    ask_for_less(s.settings[0], s.constrained, s.rows, s.islands, now, admitted)
    s.step_stats[0].impacts_lowered += 1
    return taken + solve_listed(s, island_number, tolerance)


@inner_kernel
def _fastest_approach(rows: Rows, island: Island, now: float) -> float:
    """Return the largest closing rate of an island's closed gaps [m/s]."""
    fastest = 0.0
    for k in range(island.first, island.end):
        number = rows.island_rows[k]
        impact = rows.impacts[number]
        if is_one_sided(rows.rows[number]) and is_closed(impact, now):
            fastest = min(fastest, impact_rate(impact, now, False) - impact.floor)
    return fastest


@inner_kernel
def _choose(
    settings: Settings,
    constrained: ConstraintBodies,
    rows: Rows,
    islands: Islands,
    island: Island,
    now: float,
    fastest: float,
) -> None:
    """List the rows of a round, write the targets, and set all impulses of the island to zero."""
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
def empty_tangents(constrained: ConstraintBodies, rows: Rows, number: Index, late: float) -> None:
    """Set the friction impulses of a contact to zero, and write the tangential targets.

    `late` is the time of the impact after the start of the step [s].
    """
    for tangent in (rows.rows[number + 1], rows.rows[number + 2]):
        tangent.impulse = 0.0
        tangent.target = -late * row_velocity(tangent, constrained.acceleration)


@inlined_kernel
def begin_choice(islands: Islands) -> None:
    """Empty the list of an island's rows that are solved in a round."""
    chosen = islands.chosen[0]
    chosen.first = chosen.contact_end = chosen.end = 0
    chosen.new_count = chosen.whole = 0


@inlined_kernel
def choose(rows: Rows, islands: Islands, number: Index) -> None:
    """Append a constraint to the list rows.chosen of the round, and restore its impulse bounds.

    Contacts must be added before other constraints.

    Args:
        rows: rows of the step. `chosen`, `impacts` and the bounds of row `number` are changed.
        islands: islands of the step. `chosen` counts the entries of the list.
        number: number of the row. For a contact, the number of its first row, the normal.
    """
    chosen, row, impact = islands.chosen[0], rows.rows[number], rows.impacts[number]
    rows.chosen[chosen.end] = number
    chosen.end += 1
    if row.kind == CONTACT_ROW:
        chosen.contact_end += 1
    impact.chosen = 1
    row.lower, row.upper = impact.lower, impact.upper


@inner_kernel
def _leave_out_rest(rows: Rows, island: Island) -> None:
    """Set the bounds of unlisted rows to zero, because the direct solver reads all rows."""
    for k in range(island.first, island.end):
        number = rows.island_rows[k]
        if not rows.impacts[number].chosen:
            rows.rows[number].lower = rows.rows[number].upper = 0.0


@inlined_kernel
def sweep_listed(s: Scene, k: Index, task: SolverTask) -> int:
    """Sweep over the listed rows of island `k`, and update constrained.velocity."""
    island, chosen, rows = s.islands.ranges[k], s.islands.chosen[0], s.rows
    island.sweeps, island.residual, island.converged = solve(
        rows.rows,
        s.counts[0].row_count,
        rows.chosen,
        chosen,
        rows.response,
        task.tolerance,
        0.0,
        0,
        task.sweep_limit,
        s.constrained.velocity,
        rows.descent,
    )
    island.updates = (island.sweeps + 1) * chosen.end
    return DONE


@inlined_kernel
def _solve_listed_directly(s: Scene, k: Index, task: SolverTask) -> int:
    """Solve the listed rows of an island by the direct solver. Other rows have zero impulse."""
    _leave_out_rest(s.rows, s.islands.ranges[k])
    return solve_direct_island(s, task.tolerance, VELOCITY)


IMPACTS = {
    "direct": Attempt(
        _solve_listed_directly, "Rows of the island are for the direct solver.", when=IS_DIRECT
    ),
    "sweeps": Attempt(sweep_listed, "Few rows take part in a round."),
}
_first_attempt, _, _attempt = order_of(IMPACTS, tuple(IMPACTS), is_direct_island)


@inlined_kernel
def task_of_round(islands: Islands, tolerance: float) -> SolverTask:
    """Return the task that solves the listed rows to `tolerance` [m/s]."""
    return SolverTask(WHOLE, max(_SWEEPS, _UPDATES // max(islands.chosen[0].end, 1)), tolerance)


@inner_kernel
def solve_listed(s: Scene, k: Index, tolerance: float) -> int:
    """Solve for the impulses of the listed rows (rows.chosen) of island `k` to `tolerance` [m/s].

    Returns:
        The work of the solution, as an equivalent number of row updates.
    """
    task = task_of_round(s.islands, tolerance)
    _attempt(_first_attempt(s, k, task), s, k, task)
    return s.islands.ranges[k].updates


@inner_kernel
def apply_round(s: Scene, now: float) -> None:
    """Add the impulses of a round to the step's sums, and the position changes at time `now`."""
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
def find_gaps(
    settings: Settings, constrained: ConstraintBodies, rows: Rows, island: Island
) -> None:
    """Write the motion (gap, rate, acceleration) of each gap of an island at present velocities."""
    for k in range(island.first, island.end):
        number = rows.island_rows[k]
        if is_one_sided(rows.rows[number]) and rows.impacts[number].state != ABSENT:
            find_gap(settings, constrained, rows, number)


@inlined_kernel
def find_gap(settings: Settings, constrained: ConstraintBodies, rows: Rows, number: Index) -> None:
    """Write the motion (gap, rate, acceleration) of row `number`'s gap at present velocities."""
    row, impact = rows.rows[number], rows.impacts[number]
    impact.rate = row_velocity(row, constrained.velocity)
    impact.gap = impact.offset + row_velocity(row, constrained.gap_offset)
    threshold = settings.restitution_threshold
    if impact.state == RESTING and impact.rate - impact.settled > threshold:
        impact.state = OPEN
