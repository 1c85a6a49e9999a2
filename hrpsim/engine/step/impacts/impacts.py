# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Impacts with restitution, in the order of time within a step.

Between impacts, bodies move without constraint forces. The gap that closes first has the first
impact, which only changes velocities. Then all gaps continue with the new velocities. The
restitution of the next gap applies to its rate at that time.

If balls fly freely (`is_timed`), impacts happen at exact times. The initial positions of the step
are then changed, so that the final velocities lead to the correct final positions. Otherwise
impacts happen at the start of the step, in the same order. Gaps at rest, and gaps that close slower
than the threshold, are left to the constraint rows of the step. Between balls with timed impacts,
slow gaps come to rest at the time of the impact.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Contact,
    Counts,
    Impact,
    Index,
    Island,
    Records,
    Scene,
    Settings,
    StepStats,
    Vector,
)
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.impact_rows import (
    ABSENT,
    CLOSED,
    OPEN,
    RESTING,
    closing_time,
    gap_at,
    is_closed,
    is_impact,
)
from hrpsim.engine.constraints.rows import Rows, is_one_sided
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.engine.step.continuous.drift import takes_start_force
from hrpsim.engine.step.continuous.records import ContinuousDetection
from hrpsim.engine.step.impacts.ball_impacts import resolve_ball_impacts
from hrpsim.engine.step.impacts.impact_island import (
    begin_island,
    bounces,
    find_support,
    may_have_impacts,
    needs_support,
    widen_search,
)
from hrpsim.engine.step.impacts.impact_place import drifted, is_timed, place_at_start
from hrpsim.engine.step.impacts.impact_round import find_gaps, solve_round
from hrpsim.engine.step.impacts.inelastic_impacts import change_velocity
from hrpsim.engine.step.motion.half_turns import turns_freely
from hrpsim.engine.step.rows.constraint_wrenches import clear_wrenches, forget_impact_impulses
from hrpsim.engine.step.scene.records import Start
from hrpsim.engine.step.scene.status import DONE, RESOLVED, WIDER_SEARCH

# Maximum number of rounds of an island in a step: a constant, and a number for each constraint
# block. Gaps that close later in the step have no restitution.
_ROUNDS, _MORE_ROUNDS = 2000, 20

# Maximum number of updates of contacts and rows in a step, over all islands. With ballistic shapes
# the limit is _OF_FAST times higher, but an island without exact times still has _UPDATES. A step
# that begins again has the remaining number, and at least the fraction _LEAST.
_UPDATES, _OF_FAST, _LEAST = 1_000_000, 20, 1.0 / 64.0


@lazy_kernel(feature="restitution")
def resolve_impacts(s: Scene) -> int:
    """Resolve impacts with restitution: change s.velocity and s.q.

    Returns:
        DONE if nothing changed. RESOLVED if the rows must be written again. WIDER_SEARCH if the
        contact search must be repeated, with nothing else changed.

    Reads: articulated, collision, connections, constrained, continuous, counts, direct, forest,
    impacts, islands, joint_impact_impulses, kinematics, materials, q, rows, search, settings,
    start, step_stats, velocity, work. Writes: articulated, collision, connections, constrained,
    continuous, direct, impacts, islands, joint_impact_impulses, kinematics, q, rows, step_stats,
    velocity, work.
    """
    settings, counts = s.settings[0], s.counts[0]
    ranges = s.islands.ranges
    any_meets, any_placed = _find_meeting(s)
    if not any_meets:
        return RESOLVED if any_placed else DONE
    forget_impact_impulses(s.joint_impact_impulses, s.connections)
    for k in range(counts.island_count):
        if ranges[k].meets and needs_support(
            settings, s.forest, s.q, s.collision, s.materials, s.constrained, s.rows, ranges[k]
        ):
            find_support(s, k)
    _take_mean_velocity(
        settings, counts, s.collision.contacts, s.constrained, s.rows, ranges, s.continuous
    )
    clear_wrenches(s.articulated, s.work)
    _resolve_islands(s)
    if widen_search(s):
        return WIDER_SEARCH
    change_velocity(s.forest, s.velocity, s.kinematics, s.articulated, s.impacts, s.work)
    _move_back(settings, counts, s.start, s.forest, s.q, s.velocity, s.constrained, s.continuous)
    update_poses(s.forest, s.q, s.kinematics)
    update_velocities(s.forest, s.velocity, s.kinematics)
    return RESOLVED


@inlined_kernel
def _resolve_islands(s: Scene) -> None:
    """Resolve the impacts of all islands that may have impacts, up to the limit of updates."""
    ranges = s.islands.ranges
    most = _UPDATES * (_OF_FAST if s.continuous.state[0].ballistic else 1)
    left = allowed = max(most - s.impacts.state[0].updates, int(_LEAST * most))
    for k in range(s.counts[0].island_count):
        if ranges[k].meets:
            begin_island(s, ranges[k])
            available = left if ranges[k].timed else min(left, _UPDATES)
            left -= available - _resolve_island(s, k, available)
            _end_island(
                s.settings[0], s.collision.contacts, s.constrained, s.rows, s.continuous, ranges[k]
            )
    s.impacts.state[0].updates += allowed - left


@inlined_kernel
def _find_meeting(s: Scene) -> tuple[int, bool]:
    """Find which islands may have impacts, and which impacts have exact times.

    Returns:
        (whether any island may have impacts, whether contacts were computed again at the start of
        the step).
    """
    settings, ranges = s.settings[0], s.islands.ranges
    any_meets = any_placed = False
    for k in range(s.counts[0].island_count):
        island = ranges[k]
        island.timed = 1 if is_timed(s.forest, s.collision, s.rows, island) else 0
        if (
            island.timed
            and s.continuous.state[0].ballistic
            and bounces(s.collision, s.materials, s.rows, island)
        ):
            place_at_start(s, island)
            any_placed = True
        island.meets = (
            1
            if may_have_impacts(
                settings, s.forest, s.q, s.collision, s.materials, s.constrained, s.rows, island
            )
            else 0
        )
        any_meets = any_meets or island.meets
    return any_meets, any_placed


@inlined_kernel
def _lead(settings: Settings, timed: bool) -> float:
    """Return the weight w of the integrator's free flight, q' = q + dt v + w dt^2 a.

    Here q' is the position after a time step dt, v the velocity and a the acceleration. For a
    flight from the start of a semi-implicit step, w is 1/2. From the middle of one step to the
    middle of the next step, w is 1. Impacts that are not `timed` happen in the middle.
    """
    w = 0.5 if settings.order > 1 else 0.0
    return w if timed else w + settings.drift / settings.time_step


@inner_kernel
def _take_mean_velocity(
    settings: Settings,
    counts: Counts,
    contacts: Records[Contact],
    constrained: ConstraintBodies,
    rows: Rows,
    ranges: Records[Island],
    continuous: ContinuousDetection,
) -> None:
    """Replace each initial velocity by the mean velocity of the integrator's free flight."""
    _mark_timed(counts, contacts, rows, ranges, continuous)
    for number in range(counts.constrained_count):
        constraint_body = constrained.bodies[number]
        timed = constraint_body.dof < 0 and continuous.bodies[constraint_body.body].timed
        ahead = (_lead(settings, timed) - 0.5) * settings.time_step
        for k in range(
            constraint_body.offset, constraint_body.offset + (1 if constraint_body.dof >= 0 else 6)
        ):
            constrained.velocity[k] += ahead * constrained.acceleration[k]


@inner_kernel
def _mark_timed(
    counts: Counts,
    contacts: Records[Contact],
    rows: Rows,
    ranges: Records[Island],
    continuous: ContinuousDetection,
) -> None:
    """Mark the bodies whose impacts have exact times."""
    body_states = continuous.bodies
    for i in range(body_states.shape[0]):
        body_states[i].timed = 0
    for island_number in range(counts.island_count):
        island = ranges[island_number]
        if not island.timed:
            continue
        for k in range(island.first, island.contact_end):
            contact = contacts[rows.island_rows[k] // 3]
            if contact.body_a >= 0:
                body_states[contact.body_a].timed = 1
            if contact.body_b >= 0:
                body_states[contact.body_b].timed = 1


@inner_kernel
def _resolve_island(s: Scene, island_number: Index, left: int) -> int:
    """Resolve the impacts of an island in the order of time, until none is left.

    left: number of updates that are permitted.

    Returns:
        The number of permitted updates that remain.
    """
    island = s.islands.ranges[island_number]
    most_rounds = _ROUNDS + _MORE_ROUNDS * (island.end - island.first)
    if island.timed:
        left, time = resolve_ball_impacts(s, island_number, left, most_rounds)
    else:
        left, time = _resolve_at_start(s, island_number, left, most_rounds)
    if time < math.inf:
        _count_left(s.settings[0], s.step_stats[0], s.rows, island, time)
    return left


@inner_kernel
def _resolve_at_start(
    s: Scene, island_number: Index, left: int, most_rounds: int
) -> tuple[int, float]:
    """Resolve the impacts of an island in the order of time. Bodies do not move.

    Returns:
        (number of updates left, time of the last round [s]). The time is infinity if no impact is
        left.
    """
    island, time = s.islands.ranges[island_number], 0.0
    for _ in range(most_rounds):
        if left <= 0:
            break
        next_time = _next_time(s.settings[0], s.rows, island, time)
        if next_time == math.inf:
            return left, next_time
        time = next_time
        taken = solve_round(s, island_number, time)
        s.step_stats[0].impact_rounds += 1 if taken > 0 else 0
        left -= taken + island.end - island.first
    return left, time


@inner_kernel
def _count_left(
    settings: Settings, stats: StepStats, rows: Rows, island: Island, now: float
) -> None:
    """Count the gaps that still close after the maximum number of rounds."""
    for k in range(island.first, island.end):
        impact = rows.impacts[rows.island_rows[k]]
        if not is_one_sided(rows.rows[rows.island_rows[k]]):
            continue
        if is_closed(impact, now):
            hits = is_impact(impact, now, island.timed, settings.restitution_threshold)
            stats.impacts_left += 1 if hits else 0
        elif impact.state == OPEN and closing_time(impact, now) < settings.time_step:
            stats.impacts_left += 1


@inner_kernel
def _next_time(settings: Settings, rows: Rows, island: Island, now: float) -> float:
    """Return the time of the next impact of an island [s], infinity for none in this step.

    Gaps that close slower than the threshold before that time come to rest.
    """
    island_rows, impacts = rows.island_rows, rows.impacts
    threshold, dt = settings.restitution_threshold, settings.time_step
    earliest = math.inf
    for k in range(island.first, island.end):
        impact = impacts[island_rows[k]]
        if not is_one_sided(rows.rows[island_rows[k]]):
            continue
        if impact.state == RESTING and is_impact(impact, now, False, threshold):
            return now
        if impact.state == OPEN:
            time = closing_time(impact, now)
            if time < min(dt, earliest) and is_impact(impact, time, False, threshold):
                earliest = time
    _settle(rows, island, threshold, now, min(dt, earliest))
    return earliest


@inlined_kernel
def _settle(rows: Rows, island: Island, threshold: float, now: float, limit: float) -> None:
    """Bring gaps to rest that close before `limit` [s] and slower than the threshold."""
    for k in range(island.first, island.end):
        impact = rows.impacts[rows.island_rows[k]]
        if is_one_sided(rows.rows[rows.island_rows[k]]) and impact.state == OPEN:
            time = closing_time(impact, now)
            if time <= limit and not is_impact(impact, time, False, threshold):
                impact.state, impact.settled = RESTING, impact.rate


@inner_kernel
def _end_island(
    settings: Settings,
    contacts: Records[Contact],
    constrained: ConstraintBodies,
    rows: Rows,
    continuous: ContinuousDetection,
    island: Island,
) -> None:
    """Write the gaps after the impacts to the step's contact rows.

    A row predicts its gap from the velocity at the end of the step. A gap that stays open without
    constraints must not be constrained. A gap that came to rest is constrained at its present
    value.
    """
    find_gaps(settings, constrained, rows, island)
    for k in range(island.first, island.contact_end):
        number = rows.island_rows[k]
        contact, impact = contacts[number // 3], rows.impacts[number]
        if island.timed:
            _say_timed(continuous, contact)
        if impact.state == ABSENT:
            continue
        drift = drifted(settings, contacts, continuous, island, number)
        gap = _gap_of_row(settings, contact, impact, island.timed, drift)
        if island.timed:
            # The offset was for the motion without impacts.
            contact.gap, contact.gap_offset = gap, 0.0
        else:
            contact.gap_offset = gap - contact.gap
    if not island.timed:
        _clear_offsets(constrained, rows, island)


@inlined_kernel
def _gap_of_row(
    settings: Settings, contact: Contact, impact: Impact, timed: int, drift: float
) -> float:
    """Return the gap of a contact after the impacts, for the row of the step [m].

    Args:
        settings: settings of the step.
        contact: CONTACT record. For a timed resting contact, `push_out` is written.
        impact: IMPACT record of the normal row.
        timed: whether impacts happened at exact times.
        drift: time from the pose at the impacts to the pose at which the row finds the contact [s].
    """
    dt = settings.time_step
    end, start = gap_at(impact, dt), impact.gap + drift * impact.rate
    final_rate = impact.rate + (1.5 - _lead(settings, timed)) * dt * impact.acceleration
    if impact.state == RESTING and timed:
        gap = max(start, min(contact.gap, 0.0))
        contact.push_out = _push_out(settings, impact, gap)
        return gap
    if impact.state == RESTING:
        return contact.gap
    if end >= -CLOSED or (final_rate >= 0.0 and contact.gap >= -settings.slop):
        return max(end - dt * final_rate, 0.0)
    return start if timed else contact.gap


@inlined_kernel
def _clear_offsets(constrained: ConstraintBodies, rows: Rows, island: Island) -> None:
    """Set the displacements by delayed impacts (gap_offset) of an island's bodies to zero."""
    for k in range(island.first, island.end):
        row = rows.rows[rows.island_rows[k]]
        for column in range(row.start_a, row.start_a + row.width_a):
            constrained.gap_offset[column] = 0.0
        for column in range(row.start_b, row.start_b + row.width_b):
            constrained.gap_offset[column] = 0.0


@inlined_kernel
def _say_timed(continuous: ContinuousDetection, contact: Contact) -> None:
    """Mark that the bodies of a contact had impacts at exact times."""
    if contact.body_a >= 0:
        continuous.bodies[contact.body_a].timed = 2
    if contact.body_b >= 0:
        continuous.bodies[contact.body_b].timed = 2


@inlined_kernel
def _push_out(settings: Settings, impact: Impact, gap: float) -> float:
    """Return the distance by which a resting gap would be below `gap` at the end of the step [m].

    The body returned to the start of the step along its free flight, but is no longer in free
    flight.
    """
    dt, w = settings.time_step, _lead(settings, True)
    start_rate = impact.rate + (0.5 - w) * dt * impact.acceleration
    return max(gap - impact.gap - (1.0 - w) * dt * start_rate, 0.0)


@inner_kernel
def _move_back(
    settings: Settings,
    counts: Counts,
    start: Start,
    forest: Forest,
    q: Vector,
    velocity: Vector,
    constrained: ConstraintBodies,
    continuous: ContinuousDetection,
) -> None:
    """Move bodies to the start positions that match the velocities after the impacts."""
    bodies, drift = forest.bodies, settings.drift
    for number in range(counts.constrained_count):
        constraint_body = constrained.bodies[number]
        if constraint_body.dof >= 0 or not turns_freely(forest, constraint_body.body):
            continue
        if not continuous.bodies[constraint_body.body].timed:
            continue
        late = 0.0 if takes_start_force(continuous, constraint_body.body) else drift
        for r in range(3):
            k = bodies[constraint_body.body].v_index + 3 + r
            gained = velocity[k] - start.velocity[k]
            moved = constrained.gap_offset[constraint_body.offset + 3 + r] + late * gained
            q[bodies[constraint_body.body].q_index + r] += moved
