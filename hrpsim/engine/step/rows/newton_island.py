# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Islands for Newton's method: islands with rows that request it, or on which sweeps stall."""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.friction_laws import has_derivative
from hrpsim.engine.constraints.solver_table import takes_help
from hrpsim.engine.solvers.newton.multipliers import CAUTION
from hrpsim.engine.solvers.newton.near_contacts import choose_rows, largest_miss
from hrpsim.engine.solvers.newton.newton_problem import write_problem
from hrpsim.engine.solvers.newton.solve import RESTS, STILL, solve_by_newton
from hrpsim.engine.step.rows.row_sweeps import sweep
from hrpsim.engine.step.rows.saved_impulses import restore_impulses
from hrpsim.engine.step.scene.records import FIRST_ATTEMPTS
from hrpsim.engine.step.scene.status import DONE, MORE_NEWTON, TOO_LARGE
from hrpsim.model.system import FREE

NOT_AT_ALL, AFTER_ALL_SWEEPS, SOON = range(3)

# What an attempt may take: a few factorisations, many unless it would take too long, many anyway.
BRIEF, USUAL, INSISTS = range(3)

# Sweeps are tried again over a lone robot that moves: after 1, 2, 4 ... _LONGEST steps, longer
# each time that they fail. `by_newton` is _UNIT times that number, and how many steps remain. It
# moves where the impulses of the last step have errors above RESTS tolerances; it is still below
# STILL. In between sweeps would end a tolerance off the solution, and resting forces vary: it is
# AT_REST, and sweeps suffice only where they come near the solution at once.
_UNIT, _LONGEST = 64, 16
AT_REST = _UNIT - 1

# In place of such a number: the direct solver comes first. In the last step it solved an island
# that Newton's method did not.
BY_DIRECT = -1

# Share of a sweep's change that the next one makes at most where sweeps come near a solution.
_NEARER = 0.7

# Factorisations that an island may take in a step of the world, and multiplications of them all
# (about half a second). Where fewer than _FEWEST would be left, sweeps continue instead.
_MOST, _WORK, _FEWEST = 1000, 3_000_000_000, 25

# Factorisations of a first attempt at a lone robot: as a rule two or three suffice.
_FIRST_ATTEMPT = 12

# Multiplications with which a dense island is solved to the tolerance. In a jammed pile the last
# decades cost most: from there on it is content with a larger error (multipliers.small_enough).
_PATIENT_WORK = 300_000_000

# Contacts that part faster than _SHARE of an island's largest error wait (near_contacts). Where the
# solution brings some of them together it is sought again with them, _TURNS times in all, the last
# time with all contacts. Each turn may take the remaining factorisations, and half of them in any
# case.
_SHARE, _TURNS = 0.25, 4

# Contacts of a lone robot that are solved at once: a second turn costs more than they do.
_FEW_CONTACTS = 16


@inner_kernel
def goes_to_newton(settings, forest, constrained, rows, island):
    """Return when an island goes to Newton's method: NOT_AT_ALL, AFTER_ALL_SWEEPS or SOON.

    Sweeps over a lone robot are cheap, and usually converge.
    """
    island_rows, when = rows.island_rows, AFTER_ALL_SWEEPS
    if settings.relative_tolerance > 0.0:
        return NOT_AT_ALL
    for k in range(island.first, island.end):
        row = rows.rows[island_rows[k]]
        if not takes_help(row):
            return NOT_AT_ALL
        if k < island.contact_end and not has_derivative(row.friction_model):
            return NOT_AT_ALL
        if row.width_b > 0 or _pushes_free_body(forest, constrained, row):
            when = SOON
    return when


@inlined_kernel
def _pushes_free_body(forest, constrained, row):
    """Return whether a row pushes a body that is alone in its tree."""
    constraint_body = constrained.bodies[row.constrained_a]
    if constraint_body.dof >= 0:
        return False
    body = forest.bodies[constraint_body.body]
    return body.joint_type == FREE and forest.dofs[body.v_index].turns_freely != 0


@inner_kernel
def steps_by_newton(contacts, rows, island):
    """Return for how many steps Newton's method comes first in an island.

    In these steps sweeps would stall again, or end a tolerance off the solution. Two values are
    special. AT_REST: Newton's method comes first as long as sweeps do not suffice. BY_DIRECT: the
    direct solver comes first. `begins_by_newton` interprets other values.
    """
    most = 0
    for k in range(island.first, island.contact_end):
        steps = contacts[rows.rows[rows.island_rows[k]].source].by_newton
        if steps == BY_DIRECT:
            return BY_DIRECT
        most = max(most, steps)
    return most


@inlined_kernel
def begins_by_newton(steps):
    """Return whether Newton's method comes first; if no `steps` are left, sweeps are tried."""
    return steps > 0 and steps % _UNIT > 0


@inlined_kernel
def end_trial(contacts, rows, island):
    """Record that sweeps sufficed; usually there is nothing to record."""
    if island.contact_end > island.first:
        row = rows.rows[rows.island_rows[island.first]]
        if contacts[row.source].by_newton > 0:
            set_steps_by_newton(contacts, rows, island, 0)


@inner_kernel
def set_steps_by_newton(contacts, rows, island, steps):
    """Set for how many steps Newton's method comes first in an island."""
    for k in range(island.first, island.contact_end):
        row = rows.rows[rows.island_rows[k]]
        contacts[row.source].by_newton = steps


@inlined_kernel
def _steps_to_come(settings, contacts, rows, island, is_dense_island, count, error):
    """Return for how many steps Newton's method will come first in an island that it solved.

    The method took `count` factorisations, from impulses with the error `error` [m/s].
    """
    tolerance = settings.tolerance
    if is_dense_island:
        return 1 if count > 0 else 0
    if error < RESTS * tolerance:
        return AT_REST if error > STILL * tolerance else 0
    before = steps_by_newton(contacts, rows, island)
    if before > 0 and before != AT_REST:
        if before % _UNIT > 0:
            return before - 1
        interval = min(2 * (before // _UNIT), _LONGEST)
        return _UNIT * interval + interval
    return _UNIT + 1


@inner_kernel
def rests_after_sweeps(settings, counts, contacts, constrained, rows, island):
    """Sweep over an island AT_REST, and return whether that suffices.

    If sweeps do not suffice, the impulses are restored. Sweeps suffice if the first sweep changes
    very little, and the second sweep changes so much less that the remaining error is not many
    times as large.
    """
    tolerance = settings.tolerance
    island.sweeps = 0
    sweep(settings, counts, constrained, rows, island, island.sweeps + 1)
    change = island.residual
    if change <= STILL * tolerance:
        set_steps_by_newton(contacts, rows, island, 0)
        return True
    if change <= CAUTION * tolerance:
        sweep(settings, counts, constrained, rows, island, island.sweeps + 1)
        if island.residual <= _NEARER * change:
            return True
    restore_impulses(constrained, rows, island)
    return False


@lazy_kernel(np.int64, np.int64)
def solve_by_newton_method(s, k, effort):
    """Solve island `k` by Newton's method, from its present impulses.

    Args:
        s: the scene.
        k: number of the island.
        effort: BRIEF ... INSISTS.

    Returns:
        DONE, MORE_NEWTON if room is short, or TOO_LARGE if the solution would take too long.
    """
    island, settings = s.islands.ranges[k], s.settings[0]
    rows, island_rows, velocity = s.rows.rows, s.rows.island_rows, s.constrained.velocity
    is_dense_island = goes_to_newton(settings, s.forest, s.constrained, s.rows, island) == SOON
    hurries = not is_dense_island and (effort == BRIEF or s.counts[0].extent == FIRST_ATTEMPTS)
    may_wait = is_dense_island or island.contact_end - island.first > _FEW_CONTACTS
    spent, limit, begin, missed = 0, _FIRST_ATTEMPT if hurries else _MOST, 0.0, 0.0
    for turn in range(_TURNS):
        some_wait = may_wait and turn < _TURNS - 1 and (turn == 0 or spent < limit)
        share = _SHARE if some_wait else math.inf
        contacts = choose_rows(
            rows, island_rows, island, share, velocity, settings.tolerance, s.newton
        )
        if contacts < 0 or not write_problem(
            s.forest, s.constrained, s.counts[0].constrained_count, rows, contacts, s.newton
        ):
            return MORE_NEWTON
        if turn == 0:
            capacity = s.newton.capacity[0]
            limit = min(limit, _WORK // max(capacity.work, 1))
            iteration_limit = max(_PATIENT_WORK // max(capacity.work, 1), 1)
            capacity.factorisations, capacity.iteration_limit = (
                0,
                iteration_limit if is_dense_island else _MOST,
            )
            if limit < _FEWEST and effort != INSISTS and not hurries:
                return TOO_LARGE
        count, error, island.residual = solve_by_newton(
            rows,
            s.rows.response,
            settings.tolerance,
            limit if hurries else max(limit - spent, limit // 2, _FEWEST),
            is_dense_island,
            velocity,
            s.newton,
            s.newton_part,
        )
        spent, begin = spent + count, max(begin, error)
        missed = largest_miss(rows, island_rows, island, velocity, False) if some_wait else 0.0
        if missed <= max(island.residual, CAUTION * settings.tolerance):
            break
    island.residual = max(island.residual, missed)
    island.converged = island.residual <= settings.tolerance
    s.step_stats[0].newton_factorisations += spent
    if hurries and not island.converged:
        return DONE
    s.step_stats[0].newton_islands += 1
    if s.counts[0].friction_revisions > 0 and not is_dense_island:
        return DONE  # the step is no example of those to come
    if effort == BRIEF and begin < RESTS * settings.tolerance:
        return DONE  # sweeps had nearly come to their end
    set_steps_by_newton(
        s.collision.contacts,
        s.rows,
        island,
        _steps_to_come(
            settings, s.collision.contacts, s.rows, island, is_dense_island, spent, begin
        ),
    )
    return DONE
