# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The island of the direct or the split solver, and the attempts that use the direct solver."""

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel
from hrpsim.engine.compile.kernel_types import Index, Island, Scene
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.rows import DISPLACEMENT, VELOCITY, Rows
from hrpsim.engine.constraints.solver_table import DIRECT, choose_solver
from hrpsim.engine.solvers.coupled import largest_error, return_to_start, solve_coupled
from hrpsim.engine.step.rows.attempts import IS_DIRECT, SolverTask
from hrpsim.engine.step.rows.prepare_rows import make_direct, write_direct_system
from hrpsim.engine.step.rows.saved_impulses import exchange_impulses, restore_impulses
from hrpsim.engine.step.rows.solver_memory import (
    BY_DIRECT,
    BY_SWEEPS,
    DIRECT_FIRST,
    forget_newton,
    remember,
)
from hrpsim.engine.step.scene.islands import allowed_sweeps
from hrpsim.engine.step.scene.status import DONE

# Cost of a row in a round of the direct solver, in row updates of a sweep.
_OF_ROUND = 8

# Maximum number of rows of an island that is handed over. In larger dense islands, the direct
# solver is slower than Newton's method, and seldom converges if that does not.
_MOST_ROWS = 600


@inlined_kernel
def is_direct_island(s: Scene, k: Index, task: SolverTask) -> int:
    """Return IS_DIRECT if island `k` has rows for the direct or the split solver, else 0."""
    return IS_DIRECT if k == s.counts[0].direct_island else 0


@inlined_kernel
def solve_chosen_rows_directly(s: Scene, k: Index, task: SolverTask) -> int:
    """Solve the rows of the direct solver exactly, in alternation with sweeps over other rows."""
    island = s.islands.ranges[k]
    solve_direct_island(s, task.tolerance, VELOCITY)
    if island.converged:
        forget_newton(s.collision.contacts, s.rows, island)
    return DONE


@inlined_kernel
def solve_positions_directly(s: Scene, k: Index, task: SolverTask) -> int:
    """Solve the direct island for the position correction, without friction cones."""
    solve_direct_island(s, task.tolerance, DISPLACEMENT)
    return DONE


@inlined_kernel
def solve_all_rows_directly(s: Scene, k: Index, task: SolverTask) -> int:
    """Solve all rows of an island by the direct solver, starting from the last step's impulses."""
    return try_direct_solver(s, k)


@inlined_kernel
def solve_all_rows_directly_again(s: Scene, k: Index, task: SolverTask) -> int:
    """Solve all rows of an island by the direct solver, because it solved them in the last step.

    After a failure, the next step no longer begins with the direct solver.
    """
    island = s.islands.ranges[k]
    status = try_direct_solver(s, k)
    if status == DONE and not island.converged:
        remember(s.collision.contacts, s.rows, island, BY_SWEEPS)
    return status


@lazy_kernel(np.float64, np.int64)
def solve_direct_island(s: Scene, tolerance: float, quantity: int) -> int:
    """Solve the island with the rows for the direct solver.

    Args:
        s: the scene.
        tolerance: accepted error [m/s].
        quantity: VELOCITY, or DISPLACEMENT for a position correction. In a position correction, the
            rows have bounds but no friction cones, and only `updates` of the island is written.
    """
    stats, counts = s.step_stats[0], s.counts[0]
    rows, island_rows, response = s.rows.rows, s.rows.island_rows, s.rows.response
    settings, velocity = s.settings[0], s.constrained.velocity
    island = s.islands.ranges[counts.direct_island]
    has_cones = quantity == VELOCITY
    before = island.sweeps if island.slips else 0
    limit = allowed_sweeps(island, settings) - before if has_cones else settings.sweep_limit
    s.direct.leeway[0] = settings.slop / settings.time_step
    rounds, factorisations, stats.direct_work, finished = solve_coupled(
        rows,
        counts.row_count,
        island_rows,
        island,
        has_cones,
        response,
        tolerance,
        limit,
        stats.direct_work,
        velocity,
        s.direct,
    )
    stats.factorisations += factorisations
    stats.fell_back += 0 if finished else 1
    if has_cones:
        error, _ = largest_error(rows, island_rows, island, velocity)
        island.sweeps, island.converged = before + rounds, error <= tolerance
        island.residual = error
    island.updates = _OF_ROUND * (rounds + 1) + factorisations * counts.row_count
    island.updates *= counts.row_count
    return DONE


@lazy_kernel(np.int64)
def try_direct_solver(s: Scene, k: Index) -> int:
    """Solve all rows of island `k` by the direct solver, starting from the last step's impulses.

    The impulses stay unchanged if the result is no better.

    Returns:
        DONE, or the status of the array that is too small.
    """
    counts = s.counts[0]
    island, tolerance = s.islands.ranges[k], s.settings[0].tolerance
    rows, island_rows, velocity = s.rows.rows, s.rows.island_rows, s.constrained.velocity
    if 3 * (island.contact_end - island.first) + island.end - island.contact_end > _MOST_ROWS:
        return DONE
    chosen = counts.direct_island
    if chosen == k and _is_direct(s.rows, island):
        return _solve_again(s, island)
    if chosen >= 0 and chosen != k:
        _hide(s.rows, s.islands.ranges[chosen])
    make_direct(s.rows, island)
    status = write_direct_system(s)
    if status != DONE:
        return status
    counts.direct_island = k
    before, _ = largest_error(rows, island_rows, island, velocity)
    sweeps, residual = island.sweeps, island.residual
    exchange_impulses(s.constrained, s.rows, island)
    solve_direct_island(s, tolerance, VELOCITY)
    if island.converged:
        remember(s.collision.contacts, s.rows, island, BY_DIRECT)
        if chosen == k:
            return DONE
    elif not island.residual < before:
        return_to_start(rows, counts.row_count, s.rows.response, velocity, s.direct)
        exchange_impulses(s.constrained, s.rows, island)
        island.sweeps, island.residual, island.converged = sweeps, residual, 0
    _restore_solvers(s.rows, island)
    counts.direct_island = chosen
    if chosen < 0:
        return DONE
    if chosen != k:
        _hide(s.rows, s.islands.ranges[chosen])
    return write_direct_system(s)


@inlined_kernel
def _solve_again(s: Scene, island: Island) -> int:
    """Solve the island directly again, if the direct solver solved all its rows in the last step.

    If the solution does not converge, the rows return to the chosen solver.

    Returns:
        DONE, or the status of the array that is too small.
    """
    contacts = s.collision.contacts
    if island.memory.state != DIRECT_FIRST:
        return DONE
    solve_direct_island(s, s.settings[0].tolerance, VELOCITY)
    if island.converged:
        return DONE
    remember(contacts, s.rows, island, BY_SWEEPS)
    restore_impulses(s.constrained, s.rows, island)
    _restore_solvers(s.rows, island)
    return write_direct_system(s)


@inlined_kernel
def _is_direct(rows: Rows, island: Island) -> bool:
    """Return whether all rows of an island are solved by the direct solver."""
    for k in range(island.first, island.end):
        if rows.rows[rows.island_rows[k]].solver != DIRECT:
            return False
    return True


@inlined_kernel
def _restore_solvers(rows: Rows, island: Island) -> None:
    """Set the solver of an island's rows to the chosen solver again."""
    for k in range(island.first, island.end):
        first = rows.island_rows[k]
        for number in range(first, first + (3 if k < island.contact_end else 1)):
            choose_solver(rows.rows[number], rows.rows[number].choice)


@inlined_kernel
def _hide(rows: Rows, island: Island) -> None:
    """Hide the rows of an island from the direct solver. A second call reverses this.

    The kernel negates the number of the solver of each row.
    """
    for k in range(island.first, island.end):
        first = rows.island_rows[k]
        for number in range(first, first + (3 if k < island.contact_end else 1)):
            rows.rows[number].solver = -rows.rows[number].solver
