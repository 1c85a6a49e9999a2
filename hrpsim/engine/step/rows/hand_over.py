# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The order of solvers for an island: the first one, and the successors if it fails.

The order is data, in `_POLICY`. `_try` calls the solvers. Islands that converge in a few sweeps, as
most standing or walking robots, never use this order. `solver_table` lists the rows that solvers
accept.
"""

from __future__ import annotations

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.constraints.rows import DISPLACEMENT
from hrpsim.engine.constraints.solver_table import NEWTON
from hrpsim.engine.solvers.projected_gauss_seidel import FEW_SWEEPS, solve_bounded
from hrpsim.engine.step.rows.direct_island import solve_direct_island, try_direct_solver
from hrpsim.engine.step.rows.newton_island import (
    AFTER_ALL_SWEEPS,
    AT_REST,
    BRIEF,
    BY_DIRECT,
    INSISTS,
    NOT_AT_ALL,
    USUAL,
    begins_by_newton,
    end_trial,
    goes_to_newton,
    rests_after_sweeps,
    set_steps_by_newton,
    solve_by_newton_method,
    steps_by_newton,
)
from hrpsim.engine.step.rows.row_sweeps import sweep
from hrpsim.engine.step.rows.saved_impulses import restore_impulses
from hrpsim.engine.step.scene.islands import allowed_sweeps, sweeps_in_time
from hrpsim.engine.step.scene.records import FIRST_ATTEMPTS, REMAINDER
from hrpsim.engine.step.scene.status import DONE, TOO_LARGE

# Attempts at an island; at _BEGIN, `_first` chooses.
(
    _BEGIN,
    _BOUNDS,
    _DIRECT_BOUNDS,
    _NEWTON_BEFORE_DIRECT,
    _DIRECT_CHOSEN,
    _NEWTON_FOR_DIRECT,
    _DIRECT_AGAIN,
    _SWEEPS_AT_REST,
    _NEWTON_AGAIN,
    _NEWTON_CHOSEN,
    _FIRST_SWEEPS,
    _NEWTON_BRIEFLY,
    _FEW_SWEEPS,
    _NEWTON_EARLY,
    _ALL_SWEEPS,
    _NEWTON_LATE,
    _DIRECT,
    _END,
) = range(18)

# When an island solved by an attempt counts as handed over: if it has rows for which Newton's
# method was chosen, always, or never.
_NO, _IF_NEWTON, _YES = range(3)

# That of each attempt; then the next attempt where the island has not converged, if it goes to
# Newton's method NOT_AT_ALL, AFTER_ALL_SWEEPS or SOON; last, the next one after TOO_LARGE.
_POLICY = (
    (_NO, _BEGIN, _BEGIN, _BEGIN, _END),
    # _BOUNDS, _DIRECT_BOUNDS: later steps make the rest of the position corrections.
    (_NO, _END, _END, _END, _END),
    (_NO, _END, _END, _END, _END),
    # _NEWTON_BEFORE_DIRECT: over a lone robot with closed loops the direct solver's rounds did not
    # end in the last steps.
    (_YES, _DIRECT_CHOSEN, _DIRECT_CHOSEN, _DIRECT_CHOSEN, _DIRECT_CHOSEN),
    # _DIRECT_CHOSEN: its rounds do not end where contacts change between sticking and slipping, or
    # where swept contacts jam a closed loop.
    (_NO, _END, _NEWTON_FOR_DIRECT, _NEWTON_FOR_DIRECT, _END),
    # _NEWTON_FOR_DIRECT: no penalty is large enough for the forces in a jammed loop.
    (_YES, _DIRECT, _DIRECT, _DIRECT, _DIRECT),
    # _DIRECT_AGAIN: the direct solver solved the island in the last step, and does so no longer.
    (_YES, _BEGIN, _BEGIN, _BEGIN, _END),
    # _SWEEPS_AT_REST: the first sweeps over a robot at rest change too much.
    (_NO, _NEWTON_AGAIN, _NEWTON_AGAIN, _NEWTON_AGAIN, _END),
    # _NEWTON_AGAIN, _NEWTON_CHOSEN: where a body carries 1e9 times its own mass the scaled problem
    # has an eigenvalue of 4e-10: no penalty is large enough, and the direct solver needs none.
    (_NO, _DIRECT, _DIRECT, _DIRECT, _FIRST_SWEEPS),
    (_NO, _DIRECT, _DIRECT, _DIRECT, _END),
    # _FIRST_SWEEPS, _NEWTON_BRIEFLY: over a lone robot a factorisation costs as much as a few
    # sweeps, and one or two suffice as a rule; where they do not sweeps come to their end. So do
    # those that would end in as many sweeps again (TOO_LARGE).
    (_IF_NEWTON, _FEW_SWEEPS, _NEWTON_BRIEFLY, _FEW_SWEEPS, _FEW_SWEEPS),
    (_NO, _ALL_SWEEPS, _ALL_SWEEPS, _ALL_SWEEPS, _ALL_SWEEPS),
    # _FEW_SWEEPS: they stall where bodies push each other; some rules and laws are for them alone.
    (_IF_NEWTON, _ALL_SWEEPS, _ALL_SWEEPS, _NEWTON_EARLY, _END),
    # _NEWTON_EARLY: as above.
    (_NO, _DIRECT, _DIRECT, _DIRECT, _ALL_SWEEPS),
    # _ALL_SWEEPS: where Newton's method would take too long the direct solver would, too. Sweeps
    # leave the left foot other impulses than the right one; Newton's method does not.
    (_IF_NEWTON, _END, _NEWTON_LATE, _END, _END),
    (_NO, _DIRECT, _DIRECT, _DIRECT, _END),
    (_YES, _END, _END, _END, _END),
)
_WHERE_TOO_LARGE = 3

# Share of a millisecond (sweeps_in_time) for sweeps before Newton's method begins over a lone
# robot, which takes as long: 20 sweeps over 8 contacts, 11 over 16.
_SHARE = 0.01

# Tolerances from which on sweeps diverge, as with friction at very long arms: velocities are then
# lost in rounding, and no solver can continue.
_DIVERGES = 1e10


@inlined_kernel
def solve_island(s, k):
    """Solve island `k`; count the island if a solver other than the chosen one solved it.

    Returns:
        DONE, or the status that names the missing capacity.
    """
    island = s.islands.ranges[k]
    limit, extent = allowed_sweeps(island, s.settings[0]), s.counts[0].extent
    if extent == REMAINDER and (island.converged or limit < FEW_SWEEPS):
        return DONE
    attempt = _second(s, k, island, limit) if extent == REMAINDER else _first(s, k, island, limit)
    if attempt > _DIRECT_BOUNDS:
        island.converged = 0
        if extent != REMAINDER:
            island.sweeps = 0
    while attempt != _END:
        status = _try(s, k, island, attempt, limit)
        if status != DONE and status != TOO_LARGE:
            return status
        if status == DONE and island.converged:
            handed_over = _POLICY[attempt][0]
            if handed_over == _YES or (
                handed_over == _IF_NEWTON and _asks_for(s.counts[0], s.rows, island, NEWTON)
            ):
                s.step_stats[0].handed_over += 1
            return DONE
        few = attempt == _FEW_SWEEPS and limit < FEW_SWEEPS
        first = extent == FIRST_ATTEMPTS and attempt != _FIRST_SWEEPS
        if status == DONE and (few or first):
            island.attempt = attempt
            return DONE
        attempt = _next(s, k, island, attempt, status, limit)
    return DONE


@inlined_kernel
def _next(s, k, island, attempt, status, limit):
    """Return the attempt after an attempt that ended with `status`, without convergence."""
    when = _when(s, island) if status == DONE else _WHERE_TOO_LARGE
    attempt = _POLICY[attempt][1 + when]
    return _first(s, k, island, limit) if attempt == _BEGIN else attempt


@inlined_kernel
def _when(s, island):
    """Return when an island goes to Newton's method."""
    return goes_to_newton(s.settings[0], s.forest, s.constrained, s.rows, island)


@inlined_kernel
def _second(s, k, island, limit):
    """Return the attempt after the only allowed one. Newton's method continues."""
    attempt = island.attempt
    when = _when(s, island)
    if (attempt == _NEWTON_AGAIN or attempt == _NEWTON_CHOSEN) and when == AFTER_ALL_SWEEPS:
        return attempt
    return _next(s, k, island, attempt, DONE, limit)


@inlined_kernel
def _first(s, k, island, limit):
    """Return the first attempt at an island."""
    counts = s.counts[0]
    if s.rows.rows[0].quantity == DISPLACEMENT:
        return _DIRECT_BOUNDS if k == counts.direct_island else _BOUNDS
    steps = steps_by_newton(s.collision.contacts, s.rows, island) if limit >= FEW_SWEEPS else 0
    if k == counts.direct_island:
        if steps == BY_DIRECT and _when(s, island) != NOT_AT_ALL:
            return _DIRECT_AGAIN
        again = begins_by_newton(steps) and _when(s, island) == AFTER_ALL_SWEEPS
        return _NEWTON_BEFORE_DIRECT if again else _DIRECT_CHOSEN
    if steps == BY_DIRECT and _when(s, island) != NOT_AT_ALL:
        return _DIRECT_AGAIN
    if _asks_for(counts, s.rows, island, NEWTON) and _when(s, island) != NOT_AT_ALL:
        return _NEWTON_CHOSEN
    if begins_by_newton(steps) and _when(s, island) != NOT_AT_ALL:
        return _SWEEPS_AT_REST if steps == AT_REST else _NEWTON_AGAIN
    return _FIRST_SWEEPS if limit >= FEW_SWEEPS else _FEW_SWEEPS


@inlined_kernel
def _asks_for(counts, rows, island, solver):
    """Return whether a solver of islands was chosen for a row; most worlds choose none."""
    return counts.newton_rows > 0 and _has_choice(rows, island, solver)


@inner_kernel
def _has_choice(rows, island, solver):
    """Return whether a solver was chosen for a row of an island."""
    found = False
    for k in range(island.first, island.end):
        found = found or rows.rows[rows.island_rows[k]].choice == solver
    return found


@inlined_kernel
def _try(s, k, island, attempt, limit):
    """Make one attempt; return DONE, TOO_LARGE, or the status that names the missing capacity."""
    counts, settings = s.counts[0], s.settings[0]
    if attempt == _FIRST_SWEEPS:
        return _sweep_as_long_as_newton(s, island, limit)
    if attempt == _FEW_SWEEPS or attempt == _ALL_SWEEPS:
        most = limit if attempt == _ALL_SWEEPS else min(limit, FEW_SWEEPS)
        if island.sweeps < most:
            sweep(settings, counts, s.constrained, s.rows, island, most)
        return DONE
    if attempt == _SWEEPS_AT_REST:
        island.converged = rests_after_sweeps(
            settings, counts, s.collision.contacts, s.constrained, s.rows, island
        )
        return DONE
    if attempt == _BOUNDS:
        solve_bounded(
            s.rows.rows,
            s.rows.island_rows,
            island,
            s.rows.response,
            settings.tolerance,
            settings.sweep_limit,
            s.constrained.velocity,
        )
        return DONE
    if attempt == _DIRECT_CHOSEN or attempt == _DIRECT_BOUNDS:
        solve_direct_island(s, settings.tolerance)
        if attempt == _DIRECT_CHOSEN and island.converged:
            end_trial(s.collision.contacts, s.rows, island)
        return DONE
    if attempt == _DIRECT or attempt == _DIRECT_AGAIN:
        status = try_direct_solver(s, k)
        if status == DONE and not island.converged and attempt == _DIRECT_AGAIN:
            set_steps_by_newton(s.collision.contacts, s.rows, island, 0)
        return status
    return _try_newton(s, k, island, attempt)


@inlined_kernel
def _try_newton(s, k, island, attempt):
    """Make an attempt by Newton's method, and return DONE, TOO_LARGE, or the missing capacity."""
    continues = attempt == _NEWTON_EARLY or attempt == _NEWTON_BRIEFLY
    if continues and not island.residual < _DIVERGES * s.settings[0].tolerance:
        return TOO_LARGE
    if attempt == _NEWTON_LATE:
        restore_impulses(s.constrained, s.rows, island)
    elif not continues and attempt != _NEWTON_FOR_DIRECT:
        island.sweeps = 0
    effort = USUAL if attempt != _NEWTON_BRIEFLY else BRIEF
    if attempt == _NEWTON_CHOSEN or attempt == _NEWTON_LATE:
        effort = INSISTS
    status = solve_by_newton_method(s, k, effort)
    of_direct = attempt == _NEWTON_BEFORE_DIRECT or attempt == _NEWTON_FOR_DIRECT
    failed = status == DONE and of_direct and not island.converged
    if failed and attempt == _NEWTON_BEFORE_DIRECT:
        restore_impulses(s.constrained, s.rows, island)
    if status == TOO_LARGE or failed:
        set_steps_by_newton(s.collision.contacts, s.rows, island, 0)
    return status


@inlined_kernel
def _sweep_as_long_as_newton(s, island, limit):
    """Sweep for as long as Newton's method takes.

    TOO_LARGE is returned if as many sweeps again would suffice. In each half of those sweeps,
    changes would then fall by the same factor as in the second half of these.
    """
    settings, most = s.settings[0], min(limit, FEW_SWEEPS)
    most = min(most, int(_SHARE * sweeps_in_time(island)) + 1)
    sweep(settings, s.counts[0], s.constrained, s.rows, island, most // 2)
    before = island.residual
    if not island.converged:
        sweep(settings, s.counts[0], s.constrained, s.rows, island, most)
    if island.converged:
        end_trial(s.collision.contacts, s.rows, island)
    elif island.residual**3 <= settings.tolerance * before**2:
        return TOO_LARGE
    return DONE
