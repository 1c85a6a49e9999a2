# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Impacts of balls that fly freely, event by event: what an impact does not change is left alone.

Each contact has the time when it closes. An impact concerns the balls that touch each other where
and when it happens. Only their contacts are found again.
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


@inner_kernel
def resolve_ball_impacts(s, island_number, left, most_rounds):
    """Resolve the impacts of an island of free balls, the earliest first.

    Returns how many of the updates that are `left` it did not take, and the time of the last event;
    infinity if nothing strikes any more.
    """
    island, settings, contacts, balls = (
        s.islands.ranges[island_number],
        s.settings[0],
        s.collision.contacts,
        s.impacts.balls,
    )
    for k in range(island.first, island.contact_end):
        impact = s.rows.impacts[s.rows.island_rows[k]]
        impact.time = _event_time(settings, impact, 0.0)
    left -= island.end - island.first
    now = 0.0
    for _ in range(most_rounds):
        if left <= 0:
            return left, now
        then = _next_time(s.rows, island)
        if then >= settings.time_step:
            return left, math.inf
        now = max(now, then)
        found, wider_searches = _find_struck(s, island, now)
        left -= wider_searches
        if not found:
            continue
        left -= _choose_round(s, island, now)
        if s.islands.chosen[0].end > 0:
            left -= solve_chosen(
                s.counts[0],
                s.constrained,
                s.rows,
                s.islands,
                -EXACT * _fastest(s.rows, s.islands, now),
            )
            apply_round(s, now)
            s.step_stats[0].impact_rounds += 1
        left -= _find_contacts_again(settings, contacts, s.constrained, s.rows, balls, island, now)
    return left, now


@inner_kernel
def _event_time(settings, impact, now):
    """Return when a gap strikes or comes to rest next [s]."""
    if impact.state == OPEN:
        return closing_time(impact, now)
    if impact.state == RESTING and is_impact(impact, now, True, settings.restitution_threshold):
        return now
    return math.inf


@inner_kernel
def _next_time(rows, island):
    """Return when the next contact of an island strikes or comes to rest [s]."""
    earliest = math.inf
    for k in range(island.first, island.contact_end):
        earliest = min(earliest, rows.impacts[rows.island_rows[k]].time)
    return earliest


@inlined_kernel
def _is_struck(contacts, balls, number):
    """Return whether a ball of a contact is struck."""
    contact = contacts[number // 3]
    struck = contact.body_a >= 0 and balls[contact.body_a].struck
    return struck or (contact.body_b >= 0 and balls[contact.body_b].struck)


@inlined_kernel
def _set_struck(contacts, balls, number, struck):
    """Note whether the balls of a contact are struck."""
    contact = contacts[number // 3]
    if contact.body_a >= 0:
        balls[contact.body_a].struck = struck
    if contact.body_b >= 0:
        balls[contact.body_b].struck = struck


@inner_kernel
def _find_struck(s, island, now):
    """Note which balls something strikes at `now`, or comes to rest against.

    Returns whether there are any, and how many contacts were looked at.
    """
    contacts, balls = s.collision.contacts, s.impacts.balls
    found, wider_searches = False, 0
    for k in range(island.first, island.contact_end):
        _set_struck(contacts, balls, s.rows.island_rows[k], 0)
    for k in range(island.first, island.contact_end):
        number = s.rows.island_rows[k]
        if s.rows.impacts[number].time <= now:
            wider_searches += 1
            if _strikes(s, number, now):
                _set_struck(contacts, balls, number, 1)
                found = True
    return found, wider_searches


@inner_kernel
def _strikes(s, number, now):
    """Return whether a gap whose event is due strikes; find it anew for `now` first.

    One that closes slowly is to rest from now on: it takes part in the round with a rate of 0.
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
def _choose_round(s, island, now):
    """List the rows that take part in the impact of the struck balls, and what they ask for.

    Whoever touches a ball that is struck is struck as well. Returns how many contacts were seen.
    """
    contacts, balls = s.collision.contacts, s.impacts.balls
    threshold = s.settings[0].restitution_threshold
    begin_choice(s.islands)
    wider_searches, spreads = 0, True
    while spreads:
        spreads = False
        for k in range(island.first, island.contact_end):
            number = s.rows.island_rows[k]
            impact = s.rows.impacts[number]
            if impact.chosen or not _is_struck(contacts, balls, number):
                continue
            wider_searches += 1
            if not is_closed(impact, now):
                continue
            if impact.placed != now:
                place_contact(s, number, now)
            if is_closed(impact, now) and impact_rate(impact, now, True) <= threshold:
                choose(s.rows, s.islands, number)
                _set_struck(contacts, balls, number, 1)
                spreads = True
    _leave_out_who_waits(s.settings[0], s.constrained, s.rows, s.islands, now)
    return wider_searches


@inner_kernel
def _leave_out_who_waits(settings, constrained, rows, islands, now):
    """Keep of the listed rows those that take part in this round, and say what they ask for.

    What closes slowly comes to rest by itself; beside what strikes that would take energy from it.
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
def _fastest(rows, islands, now):
    """Return the fastest rate at which a listed gap closes on [m/s]."""
    fastest = 0.0
    for k in range(islands.chosen[0].end):
        impact = rows.impacts[rows.chosen[k]]
        fastest = min(fastest, impact_rate(impact, now, True) - impact.floor)
    return fastest


@inner_kernel
def _find_contacts_again(settings, contacts, constrained, rows, balls, island, now):
    """Write how the gaps of the struck balls move now; return how many those are."""
    count = 0
    for k in range(island.first, island.contact_end):
        number = rows.island_rows[k]
        if _is_struck(contacts, balls, number):
            impact = rows.impacts[number]
            impact.chosen = 0
            if impact.state != ABSENT:
                find_gap(settings, constrained, rows, number)
            impact.time = _event_time(settings, impact, now)
            count += 1
    return count
