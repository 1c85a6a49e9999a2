# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Impacts of balls that fly freely, event by event: what an impact does not change is left alone.

Each ball has a list of its contacts and the time when the first of them closes. An impact concerns
the balls that touch each other where and when it happens. Only their contacts are found anew.
"""

from __future__ import annotations

import math

from hrpsim.constraints.impact_rows import (
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
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.step.impacts.impact_place import place_contact
from hrpsim.step.impacts.impact_round import (
    EXACT,
    apply_round,
    begin_choice,
    choose,
    empty_tangents,
    find_gap,
    solve_chosen,
)

_END = -1  # of a list of balls or contacts


@inner_kernel
def resolve_ball_impacts(s, island, left, most_rounds):
    """Resolve the impacts of an island of free balls, the earliest first.

    Returns how many of the updates that are `left` it did not take, and the time of the last event;
    infinity if nothing strikes any more.
    """
    span = s.islands.spans[island]
    first = _list_contacts(s, span)
    left -= span.end - span.first
    now = 0.0
    for _ in range(most_rounds):
        if left <= 0:
            return left, now
        then = _next_time(s, first)
        if then >= s.settings[0].time_step:
            return left, math.inf
        now = max(now, then)
        struck, looks = _find_struck(s, first, now)
        left -= looks
        if struck == _END:
            continue
        left -= _choose_round(s, span, struck, now)
        if s.islands.chosen[0].end > 0:
            left -= solve_chosen(s, -EXACT * _fastest(s, now))
            apply_round(s, now)
            s.step_stats[0].impact_rounds += 1
        left -= _find_contacts_anew(s, struck, now)
    return left, now


@inner_kernel
def _list_contacts(s, span):
    """Write the list of each ball's contacts, and of the balls; return the first of these."""
    balls, rows = s.work.per_body, s.rows
    for k in range(span.first, span.contact_end):
        contact = s.collision.contacts[rows.island_rows[k] // 3]
        for body in (contact.body_a, contact.body_b):
            if body >= 0:
                balls[body].first_contact, balls[body].next_ball = _END, _END
                balls[body].next_impact, balls[body].struck = math.inf, 0
    first = _END
    for k in range(span.first, span.contact_end):
        number = rows.island_rows[k]
        contact, impact = s.collision.contacts[number // 3], rows.impacts[number]
        impact.time = _event_time(s, impact, 0.0)
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
def _next_of(s, number, body):
    """Return what follows a contact in the list of a ball."""
    if s.collision.contacts[number // 3].body_a == body:
        return s.rows.impacts[number].next_of_a
    return s.rows.impacts[number].next_of_b


@inlined_kernel
def _partner(s, number, body):
    """Return the other body of a contact, negative for the world."""
    contact = s.collision.contacts[number // 3]
    return contact.body_b if contact.body_a == body else contact.body_a


@inner_kernel
def _event_time(s, impact, now):
    """Return when a gap strikes or comes to rest next [s]."""
    if impact.state == OPEN:
        return closing_time(impact, now)
    if impact.state == RESTING and is_impact(
        impact, now, True, s.settings[0].restitution_threshold
    ):
        return now
    return math.inf


@inner_kernel
def _next_time(s, first):
    """Return when anything happens next to a ball of the list."""
    earliest, body = math.inf, first
    while body != _END:
        ball = s.work.per_body[body]
        earliest = min(earliest, ball.next_impact)
        body = ball.next_ball
    return earliest


@inner_kernel
def _find_struck(s, first, now):
    """List the balls that something strikes at `now`, or comes to rest against.

    Returns the first of them and how many contacts were looked at.
    """
    balls = s.work.per_body
    struck, looks, body = _END, 0, first
    while body != _END:
        ball = balls[body]
        if ball.next_impact <= now:
            number = ball.first_contact
            while number != _END:
                looks += 1
                if s.rows.impacts[number].time <= now and _strikes(s, number, now):
                    partner = _partner(s, number, body)
                    struck = _add_struck(balls, struck, body)
                    if partner >= 0:
                        struck = _add_struck(balls, struck, partner)
                number = _next_of(s, number, body)
            ball.next_impact = _earliest(s, body)
        body = ball.next_ball
    return struck, looks


@inlined_kernel
def _add_struck(balls, struck, body):
    """Put a ball in front of the list of those struck, unless it is in it; return the first."""
    ball = balls[body]
    if ball.struck:
        return struck
    ball.struck, ball.next_struck = 1, struck
    return body


@inner_kernel
def _strikes(s, number, now):
    """Return whether a gap whose event is due strikes; find it anew for `now` first.

    One that closes slowly is to rest from now on: it takes part in the round with a rate of 0.
    """
    impact, threshold = s.rows.impacts[number], s.settings[0].restitution_threshold
    if impact.placed != now and is_closed(impact, now):
        place_contact(s, number, now)
    if not is_closed(impact, now):
        impact.time = _event_time(s, impact, now)
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
def _earliest(s, body):
    """Return the earliest event of a ball's contacts [s]."""
    earliest, number = math.inf, s.work.per_body[body].first_contact
    while number != _END:
        earliest = min(earliest, s.rows.impacts[number].time)
        number = _next_of(s, number, body)
    return earliest


@inner_kernel
def _choose_round(s, span, struck, now):
    """List the rows that take part in the impact of these balls, and what they ask for.

    Whoever touches a ball that is struck is struck as well. Returns how many contacts were seen.
    """
    balls, threshold = s.work.per_body, s.settings[0].restitution_threshold
    last = struck
    while balls[last].next_struck != _END:
        last = balls[last].next_struck
    begin_choice(s)
    looks, body = 0, struck
    while body != _END:
        number = balls[body].first_contact
        while number != _END:
            impact = s.rows.impacts[number]
            looks += 1
            if not impact.chosen and impact.state != ABSENT and is_closed(impact, now):
                if impact.placed != now:
                    place_contact(s, number, now)
                if is_closed(impact, now) and impact_rate(impact, now, True) <= threshold:
                    choose(s, number)
                    partner = _partner(s, number, body)
                    if partner >= 0 and not balls[partner].struck:
                        balls[partner].struck, balls[partner].next_struck = 1, _END
                        balls[last].next_struck = partner
                        last = partner
            number = _next_of(s, number, body)
        body = balls[body].next_struck
    _leave_out_who_waits(s, now)
    return looks


@inner_kernel
def _leave_out_who_waits(s, now):
    """Keep of the listed rows those that take part in this round, and say what they ask for.

    What closes slowly comes to rest by itself; beside what strikes that would take energy from it.
    """
    chosen, threshold = s.islands.chosen[0], s.settings[0].restitution_threshold
    fastest, count = _fastest(s, now), 0
    rests_below = threshold if fastest >= -threshold else 0.0
    for k in range(chosen.end):
        number = s.rows.chosen[k]
        impact = s.rows.impacts[number]
        if takes_part(impact, now, True, threshold, fastest):
            row = s.rows.rows[number]
            row.impulse, row.target = 0.0, wanted_rate(impact, now, True, rests_below)
            empty_tangents(s, number, now)
            s.rows.chosen[count] = number
            count += 1
        else:
            impact.chosen = 0
    chosen.end = chosen.contact_end = count


@inner_kernel
def _fastest(s, now):
    """Return the fastest rate at which a listed gap closes on [m/s]."""
    fastest = 0.0
    for k in range(s.islands.chosen[0].end):
        impact = s.rows.impacts[s.rows.chosen[k]]
        fastest = min(fastest, impact_rate(impact, now, True) - impact.floor)
    return fastest


@inner_kernel
def _find_contacts_anew(s, struck, now):
    """Write how the gaps of the balls that were struck move now; return how many those are."""
    balls = s.work.per_body
    looks, body = 0, struck
    while body != _END:
        number = balls[body].first_contact
        while number != _END:
            impact = s.rows.impacts[number]
            before = impact.time
            impact.chosen = 0
            if impact.state != ABSENT:
                find_gap(s, number)
            impact.time = _event_time(s, impact, now)
            partner = _partner(s, number, body)
            if partner >= 0 and not balls[partner].struck:
                if impact.time <= balls[partner].next_impact:
                    balls[partner].next_impact = impact.time
                elif before == balls[partner].next_impact:
                    balls[partner].next_impact = _earliest(s, partner)
            looks += 1
            number = _next_of(s, number, body)
        body = balls[body].next_struck
    body = struck
    while body != _END:
        balls[body].next_impact, balls[body].struck = _earliest(s, body), 0
        body = balls[body].next_struck
    return looks
