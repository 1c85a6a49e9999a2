# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The energy of a round of impacts, and the round again with less restitution.

Newton's law with friction may give energy (Kane and Levinson 1985; Stronge 1990): friction changes
the rate of a gap as well, so that -e times the rate before may exceed what an elastic impact
gives. The energy that a round gives is the work of its impulses, sum l (u + u') / 2 over rows with
the rates u before and u' after.
"""

from __future__ import annotations

from hrpsim.constraints.impact_rows import wanted_rate
from hrpsim.constraints.rows import CONTACT_ROW, is_one_sided, row_velocity
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.solvers.impulses import apply_impulse

# Tolerated error of a round's energy, as a share of the work that its impulses do on each other.
_ROUNDING = 1e-9


@inlined_kernel
def _rows_of_unit(row):
    """Return how many rows a unit has, from its first on."""
    return 3 if row.kind == CONTACT_ROW else 1


@inner_kernel
def note_rates(constrained, rows, islands):
    """Save the velocities of the listed rows before the round."""
    chosen = islands.chosen[0]
    for k in range(chosen.end):
        first = rows.chosen[k]
        for number in range(first, first + _rows_of_unit(rows.rows[first])):
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
        for number in range(first, first + _rows_of_unit(rows.rows[first])):
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
        for number in range(first, first + _rows_of_unit(rows.rows[first])):
            apply_impulse(rows.rows[number], -rows.rows[number].impulse, rows.response, velocity)
            rows.rows[number].impulse = 0.0
        if is_one_sided(rows.rows[first]):
            impact = rows.impacts[first]
            whole = impact.restitution
            impact.restitution *= part
            rows.rows[first].target = wanted_rate(impact, now, False, threshold)
            impact.restitution = whole
