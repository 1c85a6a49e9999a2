# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Newton's method for islands of the scene: the accepted islands, and the attempts."""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Capacity,
    Counts,
    Index,
    Island,
    NewtonSystem,
    Row,
    Scene,
    Settings,
)
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.friction_laws import has_derivative
from hrpsim.engine.constraints.rows import Rows
from hrpsim.engine.constraints.solver_table import takes_help
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.solvers.newton.multipliers import CAUTION
from hrpsim.engine.solvers.newton.near_contacts import choose_rows, largest_miss
from hrpsim.engine.solvers.newton.newton_problem import write_problem
from hrpsim.engine.solvers.newton.solve import RESTS, STILL, solve_by_newton
from hrpsim.engine.step.rows.attempts import SolverTask
from hrpsim.engine.step.rows.saved_impulses import restore_impulses
from hrpsim.engine.step.rows.solver_memory import (
    AT_REST,
    BY_NEWTON,
    BY_SWEEPS,
    SolverMemory,
    longer_by_newton,
    remember,
)
from hrpsim.engine.step.scene.records import FIRST_ATTEMPTS
from hrpsim.engine.step.scene.status import DONE, MORE_NEWTON, TOO_LARGE
from hrpsim.model.system import FREE

NOT_AT_ALL, AFTER_ALL_SWEEPS, SOON = range(3)

# Effort of an attempt: a few factorisations; many, with a time limit; many, without one.
BRIEF, USUAL, INSISTS = range(3)

# Maximum number of factorisations of an island in a step, and of multiplications in them (about
# half a second). If fewer than _FEWEST factorisations would be left, sweeps continue instead.
_MOST, _WORK, _FEWEST = 1000, 3_000_000_000, 25

# Maximum number of factorisations in a first attempt at a lone robot. Usually 2 or 3 suffice.
_FIRST_ATTEMPT = 12

# Number of multiplications up to which a dense island is solved to the tolerance. In a jammed pile
# the last decades cost most. Beyond, a larger error is accepted (multipliers.small_enough).
_PATIENT_WORK = 300_000_000

# Contacts that separate faster than _SHARE of an island's largest error are left out at first
# (near_contacts). If the solution closes some of them, they are added for the next turn. There are
# at most _TURNS turns, the last one with all contacts. A turn may use all remaining factorisations,
# and always half of the limit.
_SHARE, _TURNS = 0.25, 4

# A lone robot with up to this number of contacts is solved in one turn, which is then faster.
_FEW_CONTACTS = 16

# Sweeps with a residual of so many tolerances diverge, as with friction at very long arms.
# Velocities are then lost in rounding, and no solver can continue.
_DIVERGES = 1e10


@inner_kernel
def goes_to_newton(
    settings: Settings, forest: Forest, constrained: ConstraintBodies, rows: Rows, island: Island
) -> int:
    """Return when Newton's method may solve an island: NOT_AT_ALL, AFTER_ALL_SWEEPS or SOON.

    Sweeps over a single robot are cheap, and usually converge.
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
def _pushes_free_body(forest: Forest, constrained: ConstraintBodies, row: Row) -> bool:
    """Return whether a row acts on a body that is the only body of its tree."""
    constraint_body = constrained.bodies[row.constrained_a]
    if constraint_body.dof >= 0:
        return False
    body = forest.bodies[constraint_body.body]
    return body.joint_type == FREE and forest.dofs[body.v_index].turns_freely != 0


@inlined_kernel
def start_by_newton(s: Scene, k: Index, task: SolverTask) -> int:
    """Solve an island by Newton's method, starting from the impulses of the last step."""
    s.islands.ranges[k].sweeps = 0
    return _solve(s, k, task, USUAL)


@inlined_kernel
def start_by_newton_as_chosen(s: Scene, k: Index, task: SolverTask) -> int:
    """Solve an island by Newton's method from the last step's impulses, without a time limit."""
    s.islands.ranges[k].sweeps = 0
    return _solve(s, k, task, INSISTS)


@inlined_kernel
def start_again_by_newton(s: Scene, k: Index, task: SolverTask) -> int:
    """Undo the sweeps, then solve by Newton's method from the last step's impulses.

    There is no time limit.
    """
    restore_impulses(s.constrained, s.rows, s.islands.ranges[k])
    return _solve(s, k, task, INSISTS)


@inlined_kernel
def continue_by_newton(s: Scene, k: Index, task: SolverTask) -> int:
    """Solve an island by Newton's method from the impulses of the sweeps.

    If the sweeps diverge, their impulses are not used.
    """
    if not s.islands.ranges[k].residual < _DIVERGES * task.tolerance:
        return TOO_LARGE
    return _solve(s, k, task, USUAL)


@inlined_kernel
def continue_briefly_by_newton(s: Scene, k: Index, task: SolverTask) -> int:
    """Continue from the impulses of the sweeps with a few factorisations of Newton's method."""
    if not s.islands.ranges[k].residual < _DIVERGES * task.tolerance:
        return TOO_LARGE
    return _solve(s, k, task, BRIEF)


@inlined_kernel
def precede_direct_solver(s: Scene, k: Index, task: SolverTask) -> int:
    """Solve the direct island by Newton's method, starting from the last step's impulses.

    After a failure, the impulses are restored.
    """
    island = s.islands.ranges[k]
    island.sweeps = 0
    status = _solve(s, k, task, USUAL)
    if status == DONE and not island.converged:
        restore_impulses(s.constrained, s.rows, island)
        remember(s.collision.contacts, s.rows, island, BY_SWEEPS)
    return status


@inlined_kernel
def follow_direct_solver(s: Scene, k: Index, task: SolverTask) -> int:
    """Solve the direct island by Newton's method from the impulses of the direct solver."""
    island = s.islands.ranges[k]
    status = _solve(s, k, task, USUAL)
    if status == DONE and not island.converged:
        remember(s.collision.contacts, s.rows, island, BY_SWEEPS)
    return status


@inner_kernel
def _solve(s: Scene, k: Index, task: SolverTask, effort: int) -> int:
    status = solve_by_newton_method(s, k, effort, task.extent)
    if status == TOO_LARGE:
        remember(s.collision.contacts, s.rows, s.islands.ranges[k], BY_SWEEPS)
    return status


@lazy_kernel(np.int64, np.int64, np.int64)
def solve_by_newton_method(s: Scene, k: Index, effort: int, extent: int) -> int:
    """Solve island `k` by Newton's method, starting from the present impulses.

    Args:
        s: the scene.
        k: number of the island.
        effort: BRIEF, USUAL or INSISTS, which select the limit of factorisations.
        extent: WHOLE, FIRST_ATTEMPTS or REMAINDER: the attempts that this call is part of.

    Returns:
        DONE, MORE_NEWTON if the arrays of the Newton system are too small, or TOO_LARGE if the
        solution would take too long.
    """
    island, settings, stats = s.islands.ranges[k], s.settings[0], s.step_stats[0]
    is_dense = goes_to_newton(settings, s.forest, s.constrained, s.rows, island) == SOON
    hurries = not is_dense and (effort == BRIEF or extent == FIRST_ATTEMPTS)
    status, spent, begin = _solve_in_turns(s, island, is_dense, hurries, effort == INSISTS)
    if status != DONE:
        return status
    stats.newton_factorisations += spent
    if hurries and not island.converged:
        return DONE
    stats.newton_islands += 1
    # The memory ignores steps that are solved again with other frictions, and steps in which sweeps
    # had nearly converged.
    revised = s.counts[0].friction_revisions > 0 and not is_dense
    if not revised and not (effort == BRIEF and begin < RESTS * settings.tolerance):
        memory = _memory_of_solution(settings.tolerance, island, is_dense, spent, begin)
        remember(s.collision.contacts, s.rows, island, memory)
    return DONE


@inlined_kernel
def _solve_in_turns(
    s: Scene, island: Island, is_dense: bool, hurries: bool, insists: bool
) -> tuple[int, int, float]:
    """Solve an island, first without the contacts that separate, then with those that are needed.

    Args:
        s: the scene.
        island: ISLAND record.
        is_dense: whether bodies push each other.
        hurries: whether a few factorisations must suffice.
        insists: whether there is no time limit.

    Returns:
        (status as of `solve_by_newton_method`, number of factorisations, error at the start [m/s]).
    """
    rows, island_rows, constrained = s.rows.rows, s.rows.island_rows, s.constrained
    tolerance, velocity = s.settings[0].tolerance, constrained.velocity
    may_wait = is_dense or island.contact_end - island.first > _FEW_CONTACTS
    spent, limit, begin, waiting_error = 0, _FIRST_ATTEMPT if hurries else _MOST, 0.0, 0.0
    for turn in range(_TURNS):
        some_wait = may_wait and turn < _TURNS - 1 and (turn == 0 or spent < limit)
        error_fraction = _SHARE if some_wait else math.inf
        if not _write_island(
            s.counts[0], s.forest, constrained, s.rows, s.newton, island, error_fraction, tolerance
        ):
            return MORE_NEWTON, spent, begin
        if turn == 0:
            limit = min(limit, _begin_count(s.newton.capacity[0], is_dense))
            if limit < _FEWEST and not insists and not hurries:
                return TOO_LARGE, spent, begin
        count, error, island.residual = solve_by_newton(
            rows,
            s.rows.response,
            tolerance,
            limit if hurries else max(limit - spent, limit // 2, _FEWEST),
            is_dense,
            velocity,
            s.newton,
            s.newton_part,
        )
        spent, begin = spent + count, max(begin, error)
        waiting_error = (
            largest_miss(rows, island_rows, island, velocity, False) if some_wait else 0.0
        )
        if waiting_error <= max(island.residual, CAUTION * tolerance):
            break
    island.residual = max(island.residual, waiting_error)
    island.converged = island.residual <= tolerance
    return DONE, spent, begin


@inlined_kernel
def _write_island(
    counts: Counts,
    forest: Forest,
    constrained: ConstraintBodies,
    rows: Rows,
    newton: NewtonSystem,
    island: Island,
    share: float,
    tolerance: float,
) -> bool:
    """Write the problem without contacts that separate fast. Return whether it fits.

    `share` and `tolerance` are those of `choose_rows`.
    """
    contacts = choose_rows(
        rows.rows, rows.island_rows, island, share, constrained.velocity, tolerance, newton
    )
    if contacts < 0:
        return False
    count = counts.constrained_count
    return write_problem(forest, constrained, count, rows.rows, contacts, newton)


@inlined_kernel
def _begin_count(capacity: Capacity, is_dense: bool) -> int:
    """Reset the count of factorisations. Return the number that an island may use in this step."""
    work = max(capacity.work, 1)
    capacity.factorisations = 0
    capacity.iteration_limit = max(_PATIENT_WORK // work, 1) if is_dense else _MOST
    return _WORK // work


@inlined_kernel
def _memory_of_solution(
    tolerance: float, island: Island, is_dense: bool, count: int, error: float
) -> SolverMemory:
    """Return the memory of an island that Newton's method solved, for the next step.

    The method took `count` factorisations, from impulses with the error `error` [m/s].
    """
    if is_dense:
        return BY_NEWTON if count > 0 else BY_SWEEPS
    if error >= RESTS * tolerance:
        return longer_by_newton(island.memory)
    return AT_REST if error > STILL * tolerance else BY_SWEEPS
