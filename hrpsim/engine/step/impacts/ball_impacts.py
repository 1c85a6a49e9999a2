# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Impacts of balls in free flight, event by event.

Each ball has a list of its contacts, and the time of its next event. An event is an impact, or a
gap that closes slowly and comes to rest. An impact affects the balls that touch at its point and
time. Only the contacts of these balls are detected again.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Ball,
    Contact,
    Impact,
    Index,
    Island,
    Records,
    Scene,
    Settings,
)
from hrpsim.engine.constraints.impact_rows import (
    ABSENT,
    OPEN,
    RESTING,
    closing_time,
    impact_rate,
    is_closed,
    is_impact,
    is_opening,
    takes_part,
    wanted_rate,
)
from hrpsim.engine.constraints.rows import Rows
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.step.impacts.impact_place import place_contact
from hrpsim.engine.step.impacts.impact_round import (
    EXACT,
    apply_round,
    begin_choice,
    choose,
    empty_tangents,
    find_gap,
    sweep_listed,
    task_of_round,
)
from hrpsim.engine.step.scene.islands import Islands

_END = -1  # of a list of balls or contacts


@inner_kernel
def resolve_ball_impacts(
    s: Scene, island_number: Index, left: int, most_rounds: int
) -> tuple[int, float]:
    """Resolve the impacts of an island of free balls in the order of time.

    Args:
        s: the scene.
        island_number: number of the island.
        left: number of contact updates left.
        most_rounds: maximum number of rounds.

    Returns:
        (number of updates left, time of the last event [s]). The time is infinity if no impact is
        left.
    """
    settings = s.settings[0]
    island = s.islands.ranges[island_number]
    first = _list_contacts(settings, s.collision.contacts, s.rows, s.impacts.balls, island)
    left -= island.end - island.first
    time = 0.0
    for _ in range(most_rounds):
        if left <= 0:
            return left, time
        next_time = _next_time(s.impacts.balls, first)
        if next_time >= settings.time_step:
            return left, math.inf
        time = max(time, next_time)
        struck, queries = _find_struck(s, first, time)
        left -= queries
        if struck == _END:
            continue
        left -= _choose_round(s, struck, time)
        if s.islands.chosen[0].end > 0:
            tolerance = -EXACT * _fastest(s.rows, s.islands, time)
            sweep_listed(s, island_number, task_of_round(s.islands, tolerance))
            left -= island.updates
            apply_round(s, time)
            s.step_stats[0].impact_rounds += 1
        left -= _find_contacts_again(
            settings, s.collision.contacts, s.constrained, s.rows, s.impacts.balls, struck, time
        )
    return left, time


@inner_kernel
def _list_contacts(
    settings: Settings, contacts: Records[Contact], rows: Rows, balls: Records[Ball], island: Island
) -> int:
    """Write the list of each ball's contacts, and the list of balls. Return the first ball."""
    for k in range(island.first, island.contact_end):
        contact = contacts[rows.island_rows[k] // 3]
        for body in (contact.body_a, contact.body_b):
            if body >= 0:
                balls[body].first_contact, balls[body].next_ball = _END, _END
                balls[body].next_impact, balls[body].struck = math.inf, 0
    first = _END
    for k in range(island.first, island.contact_end):
        number = rows.island_rows[k]
        contact, impact = contacts[number // 3], rows.impacts[number]
        impact.time = _event_time(settings, impact, 0.0)
        for side in range(2):
            body = contact.body_a if side == 0 else contact.body_b
            if body < 0:
                continue
            ball = balls[body]
            if ball.first_contact == _END:
                ball.next_ball, first = first, body
            if side == 0:
                impact.next_of_a = ball.first_contact
            else:
                impact.next_of_b = ball.first_contact
            ball.first_contact = number
            ball.next_impact = min(ball.next_impact, impact.time)
    return first


@inlined_kernel
def _next_of(contacts: Records[Contact], rows: Rows, number: Index, body: Index) -> int:
    """Return the contact that follows a contact in a ball's list."""
    if contacts[number // 3].body_a == body:
        return rows.impacts[number].next_of_a
    return rows.impacts[number].next_of_b


@inlined_kernel
def _partner(contacts: Records[Contact], number: Index, body: Index) -> int:
    """Return the other body of a contact, negative for the world."""
    contact = contacts[number // 3]
    return contact.body_b if contact.body_a == body else contact.body_a


@inner_kernel
def _event_time(settings: Settings, impact: Impact, now: float) -> float:
    """Return the time of the next event of a gap [s]."""
    if impact.state == OPEN:
        return closing_time(impact, now)
    if impact.state == RESTING and is_impact(impact, now, True, settings.restitution_threshold):
        return now
    return math.inf


@inner_kernel
def _next_time(balls: Records[Ball], first: Index) -> float:
    """Return the time of the next event of the listed balls [s]."""
    earliest, body = math.inf, first
    while body != _END:
        ball = balls[body]
        earliest = min(earliest, ball.next_impact)
        body = ball.next_ball
    return earliest


@inner_kernel
def _find_struck(s: Scene, first: Index, now: float) -> tuple[int, int]:
    """List the balls with an event at the time `now` [s].

    Returns:
        (first ball of the list, number of contact updates).
    """
    balls = s.impacts.balls
    struck, queries, body = _END, 0, first
    while body != _END:
        ball = balls[body]
        if ball.next_impact <= now:
            number = ball.first_contact
            while number != _END:
                queries += 1
                if s.rows.impacts[number].time <= now and _strikes(s, number, now):
                    partner = _partner(s.collision.contacts, number, body)
                    struck = _add_struck(balls, struck, body)
                    if partner >= 0:
                        struck = _add_struck(balls, struck, partner)
                number = _next_of(s.collision.contacts, s.rows, number, body)
            ball.next_impact = _earliest(s.collision.contacts, s.rows, balls, body)
        body = ball.next_ball
    return struck, queries


@inlined_kernel
def _add_struck(balls: Records[Ball], struck: int, body: Index) -> int:
    """Insert a ball at the head of the list of struck balls, if it is new. Return the head."""
    ball = balls[body]
    if ball.struck:
        return struck
    ball.struck, ball.next_struck = 1, struck
    return body


@inner_kernel
def _strikes(s: Scene, number: Index, now: float) -> bool:
    """Return whether an event of a gap at `now` [s] is an impact.

    The contact is first recomputed at `now`. A gap that closes slowly comes to rest, and takes part
    in the round with the target rate 0.
    """
    impact, threshold = s.rows.impacts[number], s.settings[0].restitution_threshold
    if impact.placed != now and is_closed(impact, now):
        place_contact(s, number, now)
    if not is_closed(impact, now):
        impact.time = _event_time(s.settings[0], impact, now)
        return False
    if is_impact(impact, now, True, threshold):
        return True
    impact.time = math.inf
    if impact.state == OPEN:
        if is_opening(impact, now, threshold):
            impact.time = closing_time(impact, now)
            return False
        impact.state, impact.settled = RESTING, -impact.acceleration * now
        return impact.rate < impact.settled
    return False


@inner_kernel
def _earliest(contacts: Records[Contact], rows: Rows, balls: Records[Ball], body: Index) -> float:
    """Return the time of the earliest event of a ball's contacts [s]."""
    earliest, number = math.inf, balls[body].first_contact
    while number != _END:
        earliest = min(earliest, rows.impacts[number].time)
        number = _next_of(contacts, rows, number, body)
    return earliest


@inlined_kernel
def _joins_round(s: Scene, number: Index, now: float) -> bool:
    """Return whether an unlisted gap is closed and takes part in the round at `now` [s].

    The contact is first recomputed at `now`.
    """
    impact = s.rows.impacts[number]
    if impact.chosen or impact.state == ABSENT or not is_closed(impact, now):
        return False
    if impact.placed != now:
        place_contact(s, number, now)
    threshold = s.settings[0].restitution_threshold
    return is_closed(impact, now) and impact_rate(impact, now, True) <= threshold


@inner_kernel
def _choose_round(s: Scene, struck: int, now: float) -> int:
    """List the rows that are part of the impact of the struck balls, with their target velocities.

    A ball that touches a struck ball is also struck.

    Returns:
        The number of contact updates.
    """
    balls, last = s.impacts.balls, struck
    while balls[last].next_struck != _END:
        last = balls[last].next_struck
    begin_choice(s.islands)
    queries, body = 0, struck
    while body != _END:
        number = balls[body].first_contact
        while number != _END:
            queries += 1
            if _joins_round(s, number, now):
                choose(s.rows, s.islands, number)
                partner = _partner(s.collision.contacts, number, body)
                if partner >= 0 and not balls[partner].struck:
                    balls[partner].struck, balls[partner].next_struck = 1, _END
                    balls[last].next_struck = partner
                    last = partner
            number = _next_of(s.collision.contacts, s.rows, number, body)
        body = balls[body].next_struck
    _leave_out_who_waits(s.settings[0], s.constrained, s.rows, s.islands, now)
    return queries


@inner_kernel
def _leave_out_who_waits(
    settings: Settings, constrained: ConstraintBodies, rows: Rows, islands: Islands, now: float
) -> None:
    """Remove the listed rows that do not take part in this round, and write the others' targets.

    If any gap has an impact, gaps that close slowly are removed, and come to rest in another round.
    A common round would lose energy.
    """
    chosen, threshold = islands.chosen[0], settings.restitution_threshold
    fastest, count = _fastest(rows, islands, now), 0
    rests_below = threshold if fastest >= -threshold else 0.0
    for k in range(chosen.end):
        number = rows.chosen[k]
        impact = rows.impacts[number]
        if takes_part(impact, now, True, threshold, fastest):
            row = rows.rows[number]
            row.impulse, row.target = 0.0, wanted_rate(impact, now, True, rests_below)
            empty_tangents(constrained, rows, number, now)
            rows.chosen[count] = number
            count += 1
        else:
            impact.chosen = 0
    chosen.end = chosen.contact_end = count


@inner_kernel
def _fastest(rows: Rows, islands: Islands, now: float) -> float:
    """Return the largest closing rate of the listed gaps [m/s]."""
    fastest = 0.0
    for k in range(islands.chosen[0].end):
        impact = rows.impacts[rows.chosen[k]]
        fastest = min(fastest, impact_rate(impact, now, True) - impact.floor)
    return fastest


@inner_kernel
def _find_contacts_again(
    settings: Settings,
    contacts: Records[Contact],
    constrained: ConstraintBodies,
    rows: Rows,
    balls: Records[Ball],
    struck: int,
    now: float,
) -> int:
    """Write the present gaps, rates and next events of the struck balls' contacts.

    Returns:
        The number of contact updates.
    """
    queries, body = 0, struck
    while body != _END:
        number = balls[body].first_contact
        while number != _END:
            impact = rows.impacts[number]
            before = impact.time
            impact.chosen = 0
            if impact.state != ABSENT:
                find_gap(settings, constrained, rows, number)
            impact.time = _event_time(settings, impact, now)
            partner = _partner(contacts, number, body)
            if partner >= 0 and not balls[partner].struck:
                if impact.time <= balls[partner].next_impact:
                    balls[partner].next_impact = impact.time
                elif before == balls[partner].next_impact:
                    balls[partner].next_impact = _earliest(contacts, rows, balls, partner)
            queries += 1
            number = _next_of(contacts, rows, number, body)
        body = balls[body].next_struck
    body = struck
    while body != _END:
        balls[body].next_impact, balls[body].struck = _earliest(contacts, rows, balls, body), 0
        body = balls[body].next_struck
    return queries
