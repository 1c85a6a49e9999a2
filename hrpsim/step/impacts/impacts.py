"""Impacts with restitution: a step's events in time, each solved before the next is looked for.

Gaps close one after the other while bodies move as they would without constraints. What closes
first strikes first; then every gap moves on with the velocities after that, and what closes next
meets its restitution with the rate that it then has. Only velocities jump. Where balls fly freely
(`is_timed`), impacts happen at their times: the step then starts from where bodies would have come
from with the velocities that they end with. Elsewhere they happen at its start, in the same order.
What comes to rest, and what closes slower than the threshold, is left to the step's own rows.
"""

from __future__ import annotations

import math

from hrpsim.constraints.impact_rows import (
    ABSENT,
    CLOSED,
    OPEN,
    RESTING,
    closing_time,
    gap_at,
    is_closed,
    strikes,
)
from hrpsim.dynamics.response import port_velocities
from hrpsim.jit.compiled import inlined_kernel, inner_kernel, late_kernel
from hrpsim.kinematics.forward import update_poses, update_velocities
from hrpsim.step.impacts.drift import is_undrifted
from hrpsim.step.impacts.impact_island import (
    begin_island,
    bounces,
    find_support,
    might_strike,
    needs_support,
)
from hrpsim.step.impacts.impact_place import drifted, is_timed, place_at_start, place_contact
from hrpsim.step.impacts.impact_reach import look_further
from hrpsim.step.impacts.impact_round import find_gaps, is_one_sided, solve_round
from hrpsim.step.impacts.strike import change_velocity
from hrpsim.step.impacts.struck import forget_struck_impulses
from hrpsim.step.motion.loose_rotation import is_loose
from hrpsim.step.rows.loads import clear_loads
from hrpsim.step.scene.scene import EULER, SEMI_IMPLICIT
from hrpsim.step.scene.status import DONE, LOOK_FURTHER, RESOLVED

# Rounds in one island in a step: so many, and more for each of its units; and updates of contacts
# and rows, and looks at them, that all may take. What still closes then meets no restitution.
_ROUNDS, _MORE_ROUNDS = 2000, 20
_UPDATES, _OF_FAST = 1_000_000, 20  # so many times more where fast balls fly far in a step


@late_kernel
def resolve_impacts(s):
    """Let s.velocity jump, and s.q follow, where gaps close with restitution.

    Returns DONE if nothing changed; RESOLVED if the rows must be written again; LOOK_FURTHER if
    contacts must be found again, nothing else having changed.
    """
    tally, spans = s.tally[0], s.islands.spans
    _find_free_motion(s)
    any_meets = any_placed = False
    for k in range(tally.island_count):
        span = spans[k]
        span.timed = 1 if is_timed(s, span) else 0
        if span.timed and tally.flies and bounces(s, span):
            place_at_start(s, span)
            any_placed = True
        span.meets = 1 if might_strike(s, span) else 0
        any_meets = any_meets or span.meets
    if not any_meets:
        return RESOLVED if any_placed else DONE
    forget_struck_impulses(s)
    for k in range(tally.island_count):
        if spans[k].meets and needs_support(s, spans[k]):
            find_support(s, k)
    _take_mean_velocity(s)
    clear_loads(s)
    left = _UPDATES * (_OF_FAST if tally.flies else 1)
    for k in range(tally.island_count):
        if spans[k].meets:
            begin_island(s, spans[k])
            left = _let_strike(s, k, left)
            _end_island(s, spans[k])
    if look_further(s):
        return LOOK_FURTHER
    change_velocity(s)
    _move_back(s)
    update_poses(s.forest, s.q, s.kinematics)
    update_velocities(s.forest, s.velocity, s.kinematics)
    return RESOLVED


@inner_kernel
def _find_free_motion(s):
    """Write the ports' velocity at the start of the step and their acceleration without rows."""
    ports, work, dt = s.ports, s.work, s.settings[0].time_step
    velocity, acceleration = ports.velocity, ports.acceleration
    for k in range(work.change.shape[0]):
        work.change[k] = s.velocity[k] + dt * work.dv[k]
    port_velocities(s.forest, s.kinematics, work.change, s.tally[0].port_count, ports)
    for k in range(velocity.shape[0]):
        acceleration[k] = velocity[k]
        ports.lag[k] = velocity[k] = 0.0
    port_velocities(s.forest, s.kinematics, s.velocity, s.tally[0].port_count, ports)
    for k in range(velocity.shape[0]):
        acceleration[k] = (acceleration[k] - velocity[k]) / dt


@inlined_kernel
def _lead(settings, timed):
    """Return w of the integrator's free flight, q' = q + dt v + w dt^2 a.

    A semi-implicit step does that from its start; from its middle, where impacts happen that are
    not `timed`, to the middle of the next one w is 1.
    """
    if settings.integrator == SEMI_IMPLICIT:
        return 0.5 if timed else 1.0
    return 0.0 if settings.integrator == EULER else 0.5


@inner_kernel
def _take_mean_velocity(s):
    """Turn the velocity at the start into that of the parabola on which the integrator moves."""
    ports, settings = s.ports, s.settings[0]
    _mark_timed(s)
    for number in range(s.tally[0].port_count):
        port = ports.ports[number]
        timed = port.dof < 0 and s.work.held[port.body].timed
        ahead = (_lead(settings, timed) - 0.5) * settings.time_step
        for k in range(port.offset, port.offset + (1 if port.dof >= 0 else 6)):
            ports.velocity[k] += ahead * ports.acceleration[k]


@inner_kernel
def _mark_timed(s):
    """Mark the bodies whose impacts are timed."""
    held = s.work.held
    for i in range(held.shape[0]):
        held[i].timed = 0
    for island in range(s.tally[0].island_count):
        span = s.islands.spans[island]
        if not span.timed:
            continue
        for k in range(span.first, span.contact_end):
            contact = s.collision.contacts[s.rows.units[k] // 3]
            if contact.body_a >= 0:
                held[contact.body_a].timed = 1
            if contact.body_b >= 0:
                held[contact.body_b].timed = 1


@inner_kernel
def _let_strike(s, island, left):
    """Resolve the impacts of an island, the earliest first, until nothing strikes any more.

    Returns how many of the updates that are `left` it did not take.
    """
    tally, span, rows = s.tally[0], s.islands.spans[island], s.rows
    now = 0.0
    for _ in range(_ROUNDS + _MORE_ROUNDS * (span.end - span.first)):
        if left <= 0:
            break
        then = _next_time(s, span, now)
        if then == math.inf:
            return left
        now = then
        if span.timed:
            for k in range(span.first, span.contact_end):
                impact = rows.impacts[rows.units[k]]
                if impact.placed != now and is_closed(impact, now):
                    place_contact(s, rows.units[k], now)
        taken = solve_round(s, island, now)
        tally.impact_rounds += 1 if taken > 0 else 0
        left -= taken + span.end - span.first
    for k in range(span.first, span.end):
        impact = rows.impacts[rows.units[k]]
        if not is_one_sided(rows.rows[rows.units[k]]):
            continue
        if is_closed(impact, now):
            struck = strikes(impact, now, span.timed, s.settings[0].restitution_threshold)
            tally.impacts_left += 1 if struck else 0
        elif impact.state == OPEN and closing_time(impact, now) < s.settings[0].time_step:
            tally.impacts_left += 1
    return left


@inner_kernel
def _next_time(s, span, now):
    """Return when the next gap of an island strikes, infinity for none in this step.

    Gaps that close more slowly before that come to rest.
    """
    rows, units, impacts = s.rows.rows, s.rows.units, s.rows.impacts
    threshold, dt = s.settings[0].restitution_threshold, s.settings[0].time_step
    earliest = math.inf
    for k in range(span.first, span.end):
        impact = impacts[units[k]]
        if not is_one_sided(rows[units[k]]):
            continue
        if impact.state == RESTING and strikes(impact, now, span.timed, threshold):
            return now
        if impact.state == OPEN:
            time = closing_time(impact, now)
            if time < min(dt, earliest) and strikes(impact, time, span.timed, threshold):
                earliest = time
    for k in range(span.first, span.end):
        impact = impacts[units[k]]
        if is_one_sided(rows[units[k]]) and impact.state == OPEN:
            time = closing_time(impact, now)
            if time <= min(dt, earliest) and not strikes(impact, time, span.timed, threshold):
                impact.state, impact.settled = RESTING, impact.rate
    return earliest


@inner_kernel
def _end_island(s, span):
    """Tell the step's rows of contacts where impacts leave their gaps.

    A row compares its gap with a step at the velocity at its end. What is open at the end by the
    bodies' own motion must not be held up; what rests is held from here on, where it came to rest.
    """
    rows, settings = s.rows, s.settings[0]
    dt = settings.time_step
    rest = (1.5 - _lead(settings, span.timed)) * dt
    find_gaps(s, span)
    for k in range(span.first, span.contact_end):
        number = rows.units[k]
        contact, impact = s.collision.contacts[number // 3], rows.impacts[number]
        if span.timed:
            _say_timed(s, contact)
        if impact.state == ABSENT:
            continue
        gap, end = contact.gap, gap_at(impact, dt)
        start = impact.gap + drifted(s, span, number) * impact.rate  # where the row finds it
        final_rate = impact.rate + rest * impact.acceleration
        if impact.state == RESTING:
            if span.timed:
                gap = max(start, min(contact.gap, 0.0))
                contact.rise = _rise(settings, impact, gap)
        elif end >= -CLOSED or (final_rate >= 0.0 and contact.gap >= -settings.slop):
            gap = max(end - dt * final_rate, 0.0)
        elif span.timed:
            gap = start
        contact.lag = gap - contact.gap
    if span.timed:
        return
    for k in range(span.first, span.end):
        row = rows.rows[rows.units[k]]
        for column in range(row.start_a, row.start_a + row.width_a):
            s.ports.lag[column] = 0.0
        for column in range(row.start_b, row.start_b + row.width_b):
            s.ports.lag[column] = 0.0


@inlined_kernel
def _say_timed(s, contact):
    """Note that impacts on the bodies of a contact have happened at their times."""
    if contact.body_a >= 0:
        s.work.held[contact.body_a].timed = 2
    if contact.body_b >= 0:
        s.work.held[contact.body_b].timed = 2


@inlined_kernel
def _rise(settings, impact, gap):
    """Return by what the step of a gap that is held from now on would end below `gap` [m].

    Its way back to the start of the step is that of free flight, but it does not fly on.
    """
    dt, w = settings.time_step, _lead(settings, True)
    start_rate = impact.rate + (0.5 - w) * dt * impact.acceleration
    return max(gap - impact.gap - (1.0 - w) * dt * start_rate, 0.0)


@inner_kernel
def _move_back(s):
    """Put bodies where they would have come from with the velocities after their impacts."""
    ports, bodies, dt = s.ports, s.forest.bodies, s.settings[0].time_step
    drift = 0.5 * dt if s.settings[0].integrator == SEMI_IMPLICIT else 0.0
    for number in range(s.tally[0].port_count):
        port = ports.ports[number]
        if port.dof >= 0 or not is_loose(s.forest, port.body):
            continue
        if not s.work.held[port.body].timed:
            continue
        late = 0.0 if is_undrifted(s, port.body) else drift
        for r in range(3):
            k = bodies[port.body].v_index + 3 + r
            gained = s.velocity[k] - s.work.velocity_start[k]
            moved = ports.lag[port.offset + 3 + r] + late * gained
            s.q[bodies[port.body].q_index + r] += moved
