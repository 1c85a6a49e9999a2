# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Islands that are for Newton's method: those that ask for it, and those on which sweeps stall."""

from __future__ import annotations

import math

import numpy as np

from hrpsim.constraints.friction_laws import has_derivative
from hrpsim.constraints.solver_table import takes_help
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.jit.on_demand import on_demand_kernel
from hrpsim.model.system import FREE
from hrpsim.solvers.newton.multipliers import CAUTION
from hrpsim.solvers.newton.near_contacts import choose_rows, largest_miss
from hrpsim.solvers.newton.solve import RESTS, STILL, solve_by_newton
from hrpsim.solvers.newton.system import write_problem
from hrpsim.step.rows.kept_impulses import take_back_impulses
from hrpsim.step.rows.sweep import sweep
from hrpsim.step.scene.status import DONE, MORE_NEWTON, TOO_LARGE

NOT_AT_ALL, AFTER_ALL_SWEEPS, SOON = range(3)

# Sweeps are tried again over a lone robot that moves, every so many steps. It moves where the
# impulses of the last step are off by more than RESTS tolerances; it is still below STILL. In
# between sweeps would end a tolerance beside the solution, and resting forces vary: it is AT_REST,
# and sweeps are enough only where they come near the solution at once.
_TRIAL = 8
AT_REST = _TRIAL + 1

# Says in place of such a number that the direct solver comes first: in the last step it solved what
# Newton's method did not.
BY_DIRECT = -1

# Share of a sweep's change that the next one makes at most where sweeps come near a solution.
_NEARER = 0.7

# Factorisations that an island may take in a step of the world, and multiplications of them all
# (about half a second). Where fewer than _FEWEST would be left, sweeps go on instead.
_MOST, _WORK, _FEWEST = 1000, 3_000_000_000, 25

# Multiplications with which a crowd is solved to the tolerance. In a jammed pile the last decades
# cost most: from there on it is content with a larger error (multipliers.small_enough).
_PATIENT_WORK = 300_000_000

# Contacts of a crowd that part faster than _SHARE of its largest error wait (near_contacts). Where
# the solution brings some of them together it is sought again with them, _TURNS times in all, the
# last time with all contacts. Each turn may take what is left of the factorisations, and half of
# them in any case.
_SHARE, _TURNS = 0.25, 4


@inner_kernel
def goes_to_newton(settings, forest, sites, rows, span):
    """Return when an island goes to Newton's method: NOT_AT_ALL, AFTER_ALL_SWEEPS or SOON.

    Sweeps over a lone robot are cheap, and come to their end as a rule.
    """
    island_rows, when = rows.island_rows, AFTER_ALL_SWEEPS
    if settings.relative_tolerance > 0.0:
        return NOT_AT_ALL
    for k in range(span.first, span.end):
        row = rows.rows[island_rows[k]]
        if not takes_help(row):
            return NOT_AT_ALL
        if k < span.contact_end and not has_derivative(row.friction_model):
            return NOT_AT_ALL
        if row.width_b > 0 or _pushes_loose_body(forest, sites, row):
            when = SOON
    return when


@inlined_kernel
def _pushes_loose_body(forest, sites, row):
    """Return whether a row pushes a body that is alone in its tree."""
    site = sites.sites[row.site_a]
    if site.dof >= 0:
        return False
    body = forest.bodies[site.body]
    return body.joint_type == FREE and forest.dofs[body.v_index].turns_freely != 0


@inner_kernel
def steps_by_newton(contacts, rows, span):
    """Return for how many steps Newton's method comes first in an island, which had to change it.

    Sweeps would stall again, or end a tolerance beside what it found. AT_REST: as long as
    sweeps are not enough. BY_DIRECT: the direct solver comes first.
    """
    most = 0
    for k in range(span.first, span.contact_end):
        steps = contacts[rows.rows[rows.island_rows[k]].source].by_newton
        if steps == BY_DIRECT:
            return BY_DIRECT
        most = max(most, steps)
    return most


@inner_kernel
def set_steps_by_newton(contacts, rows, span, steps):
    """Let Newton's method come first in so many steps."""
    for k in range(span.first, span.contact_end):
        row = rows.rows[rows.island_rows[k]]
        contacts[row.source].by_newton = steps


@inlined_kernel
def _steps_to_come(settings, contacts, rows, span, is_crowd, count, error):
    """Return for how many steps Newton's method is to come first in an island that it solved.

    With `count` factorisations, from impulses that were off by `error`.
    """
    tolerance = settings.tolerance
    if is_crowd:
        return 1 if count > 0 else 0
    if error < RESTS * tolerance:
        return AT_REST if error > STILL * tolerance else 0
    before = steps_by_newton(contacts, rows, span)
    return before - 1 if 0 < before <= _TRIAL else _TRIAL


@inner_kernel
def rests_after_sweeps(settings, counts, contacts, sites, rows, span):
    """Sweep over an island AT_REST; return whether that is enough, else take it back.

    It is where it changes next to nothing, and a second sweep so much less that the error that is
    left is not many times as large.
    """
    tolerance = settings.tolerance
    span.sweeps = 0
    sweep(settings, counts, sites, rows, span, span.sweeps + 1)
    change = span.residual
    if change <= STILL * tolerance:
        set_steps_by_newton(contacts, rows, span, 0)
        return True
    if change <= CAUTION * tolerance:
        sweep(settings, counts, sites, rows, span, span.sweeps + 1)
        if span.residual <= _NEARER * change:
            return True
    take_back_impulses(sites, rows, span)
    return False


@on_demand_kernel(np.int64, np.bool_)
def solve_by_newton_method(s, k, insists):
    """Solve an island by Newton's method, from where it is.

    MORE_NEWTON where room is short; TOO_LARGE where it would take too long, unless it `insists`.
    """
    span, settings = s.islands.spans[k], s.settings[0]
    rows, island_rows, velocity = s.rows.rows, s.rows.island_rows, s.sites.velocity
    is_crowd = goes_to_newton(settings, s.forest, s.sites, s.rows, span) == SOON
    spent, limit, begin, missed = 0, _MOST, 0.0, 0.0
    for turn in range(_TURNS):
        some_wait = is_crowd and turn < _TURNS - 1 and (turn == 0 or spent < limit)
        share = _SHARE if some_wait else math.inf
        contacts = choose_rows(
            rows, island_rows, span, share, velocity, settings.tolerance, s.newton
        )
        if contacts < 0 or not write_problem(
            s.forest, s.sites, s.counts[0].site_count, rows, contacts, s.newton
        ):
            return MORE_NEWTON
        if turn == 0:
            needs = s.newton.needs[0]
            limit = min(_MOST, _WORK // max(needs.work, 1))
            patience = max(_PATIENT_WORK // max(needs.work, 1), 1)
            needs.factorisations, needs.patience = 0, patience if is_crowd else _MOST
            if limit < _FEWEST and not insists:
                return TOO_LARGE
        count, error, span.residual = solve_by_newton(
            rows,
            s.rows.response,
            settings.tolerance,
            max(limit - spent, limit // 2, _FEWEST),
            is_crowd,
            velocity,
            s.newton,
            s.newton_part,
        )
        spent, begin = spent + count, max(begin, error)
        missed = largest_miss(rows, island_rows, span, velocity, False) if some_wait else 0.0
        if missed <= max(span.residual, CAUTION * settings.tolerance):
            break
    span.residual = max(span.residual, missed)
    span.converged = span.residual <= settings.tolerance
    set_steps_by_newton(
        s.collision.contacts,
        s.rows,
        span,
        _steps_to_come(settings, s.collision.contacts, s.rows, span, is_crowd, spent, begin),
    )
    s.step_stats[0].newton_islands += 1
    s.step_stats[0].newton_factorisations += spent
    return DONE
