# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Newton's method for an island of contacts and rows: the order of four methods.

All methods take steps in the same coordinates, with the same matrix. None needs a compliance.

- `active_sets`: steps with a fixed state of each contact, which converge near a solution.
- `alternation`: steps with a moderate penalty, sweeps and clusters. In dense islands these come
  near a solution from distant initial values.
- `interior_point`: follows a path inside the friction cones if `alternation` fails.
- `multiplier_method`: the augmented Lagrangian with a growing penalty, which converges to any
  existing solution. If no solution exists, the result is the nearest compromise.
"""

from __future__ import annotations

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Matrix, Records, Row, Vector
from hrpsim.engine.solvers.newton.active_sets import try_active_sets
from hrpsim.engine.solvers.newton.alternation import alternate
from hrpsim.engine.solvers.newton.interior_point import follow_central_path
from hrpsim.engine.solvers.newton.multiplier_method import grow_multipliers
from hrpsim.engine.solvers.newton.multipliers import (
    go_to_best,
    largest_error,
    note_multipliers,
    small_enough,
    start_from_impulses,
    write_best_impulses,
)
from hrpsim.engine.solvers.newton.newton_problem import NewtonSystem

# Steps without progress, after which fixed states are abandoned: at first, and after the path.
_ITERATION_LIMIT, _ITERATION_LIMIT_AFTER_PATH = 2, 1

# Sweeps over a lone robot that moves, after steps without progress.
_SWEEPS = 4

# Where more than _MANY trees have errors above _STRUCK [m/s] in a dense island, an impact occurred,
# and the active-set states of contacts change in many places: the last ones are useless.
_STRUCK, _MANY = 1e-2, 20

# Errors in tolerances: below RESTS, the impulses of a lone robot's last step are those of one that
# rests. They are then solved to STILL: a remaining error moves the robot by as much in the
# next step, so that errors up to the tolerance would persist.
RESTS, STILL = 100.0, 1e-4

# First penalties: far from a solution, and nearer than _NEAR [m/s].
_PENALTY, _PENALTY_NEARBY, _NEAR = 1e2, 1e3, 1e-5

# Factorisations of the multipliers over a lone robot, after which the path is tried. Seven searches
# of eight take fewer, and those that missed the tolerance had taken more.
_FIRST = 60

# Error of the multipliers [m/s] above which they are tried again from no impulses, where only
# contacts and limits push: large impulses would nearly obey what contradicts itself.
_FAILED = 1e-6


@inner_kernel
def solve_by_newton(
    rows: Records[Row],
    response: Vector,
    tolerance: float,
    limit: int,
    from_afar: bool,
    velocity: Vector,
    system: NewtonSystem,
    part: NewtonSystem,
) -> tuple[int, float, float]:
    """Solve the problem in `system`, and write the impulses with the smallest error that was found.

    If rows contradict each other, the resulting velocities are as near to the targets as possible.
    After many factorisations a larger error is accepted (`small_enough`).

    Args:
        rows: ROW records (row capacity,).
        response: responses of all rows.
        tolerance: accepted error [m/s].
        limit: largest number of factorisations.
        from_afar: whether the last impulses are probably far from a solution, as in a dense island.
            If False, methods that keep the distribution of load among redundant contacts come
            first.
        velocity: velocities of the constraint bodies (columns,) [m/s, rad/s], changed to the
            velocities with the new impulses.
        system: problem of the island.
        part: arrays for the problem of a cluster.

    Returns:
        (number of factorisations, error of the initial impulses [m/s], remaining error [m/s]).
    """
    start_from_impulses(rows, velocity, system)
    first = best = largest_error(system)
    note_multipliers(system)
    rests = not from_afar and first < RESTS * tolerance
    accuracy = STILL * tolerance if rests else tolerance
    count = 0
    if not from_afar or first <= _STRUCK or system.capacity[0].nodes <= _MANY:
        sweeps = 0 if from_afar or rests else _SWEEPS
        count, best = try_active_sets(accuracy, limit, _ITERATION_LIMIT, sweeps, best, system)
    if best > small_enough(tolerance, system) and count < limit:
        if from_afar:
            more, best = alternate(tolerance, _PENALTY, limit - count, best, system, part)
        else:
            few = min(_FIRST, limit - count)
            more, best = grow_multipliers(tolerance, _PENALTY, few, best, system)
        count += more
        if best > small_enough(tolerance, system) and count < limit:
            more, best = _start_again(tolerance, limit - count, first, best, rows, system)
            count += more
    write_best_impulses(rows, response, velocity, system)
    return count, first, best


@inlined_kernel
def _start_again(
    tolerance: float,
    limit: int,
    first: float,
    kept: float,
    rows: Records[Row],
    system: NewtonSystem,
) -> tuple[int, float]:
    """Solve again by `interior_point` from the impulses in the rows, then by the other methods.

    The best impulses so far are restored if the result is not better.

    Args:
        tolerance: error at which the path ends [m/s].
        limit: largest number of factorisations.
        first: error of the present impulses [m/s].
        kept: error of the best impulses so far [m/s].
        rows: rows of the step.
        system: problem of the island.

    Returns:
        (number of factorisations, smallest error [m/s]).
    """
    for k in range(system.capacity[0].constraints):
        constraint = system.constraints[k]
        for r in range(constraint.size):
            constraint.kept[r], constraint.best[r] = (
                constraint.best[r],
                rows[constraint.row + r].impulse,
            )
    count, best = follow_central_path(tolerance, limit, first, system)
    go_to_best(system)
    penalty = _PENALTY if best > _NEAR else _PENALTY_NEARBY
    more, best = try_active_sets(
        tolerance, limit - count, _ITERATION_LIMIT_AFTER_PATH, 0, best, system
    )
    count += more
    if best > small_enough(tolerance, system) and count < limit:
        more, best = grow_multipliers(tolerance, penalty, limit - count, best, system)
        count += more
    failed = best > max(small_enough(tolerance, system), _FAILED)
    if failed and count < limit and not _holds_both_ways(system):
        more, best = _grow_from_nothing(tolerance, limit - count, best, system)
        count += more
    if kept < best:
        best = kept
        _let_be_best(system.constraints.kept, system)
    return count, best


@inlined_kernel
def _grow_from_nothing(
    tolerance: float, limit: int, grown: float, system: NewtonSystem
) -> tuple[int, float]:
    """Try `multiplier_method` from zero impulses, and keep the better of both results.

    From other impulses, the method may stop at impulses that nearly obey the law, although no
    solution is near.

    grown: error of the best impulses so far [m/s].

    Returns:
        (number of factorisations, smallest error [m/s]).
    """
    _let_nothing_be_best(system)
    count, best = grow_multipliers(tolerance, _PENALTY, limit, largest_error(system), system)
    if grown < best:
        best = grown
        _let_be_best(system.constraints.led, system)
    return count, best


@inlined_kernel
def _holds_both_ways(system: NewtonSystem) -> bool:
    """Return whether any single row can push and pull, like the rows of connections."""
    result = False
    for k in range(system.capacity[0].constraints):
        constraint = system.constraints[k]
        result = result or (constraint.size == 1 and constraint.lower < 0.0 < constraint.upper)
    return result


@inlined_kernel
def _let_nothing_be_best(system: NewtonSystem) -> None:
    """Set the best impulses to zero, and store the former best impulses in `led`."""
    for k in range(system.capacity[0].constraints):
        constraint = system.constraints[k]
        for r in range(constraint.size):
            constraint.led[r], constraint.best[r] = constraint.best[r], 0.0
    go_to_best(system)


@inlined_kernel
def _let_be_best(impulses: Matrix, system: NewtonSystem) -> None:
    """Copy `impulses` (constraint blocks, 3) to the best impulses."""
    for k in range(system.capacity[0].constraints):
        constraint = system.constraints[k]
        for r in range(constraint.size):
            constraint.best[r] = impulses[k, r]
