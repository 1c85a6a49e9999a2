# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Multipliers (impulses) of an island's problem: error, best values, resulting motion w."""

from __future__ import annotations

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Records, Row, Vector
from hrpsim.engine.constraints.rows import row_velocity
from hrpsim.engine.solvers.impulses import apply_impulse
from hrpsim.engine.solvers.newton.coulomb_law import law_error
from hrpsim.engine.solvers.newton.matrix import add_push, clear_motion, motion_along
from hrpsim.engine.solvers.newton.newton_problem import NewtonSystem

# Multipliers are better where their error is less than this share of the least before.
_BETTER = 0.9

# Beyond the iteration limit an error suffices that grows with this power of the work: 8 tolerances
# with twice the work; at most _ROUGH tolerances.
_YIELDING, _ROUGH = 3, 1e4

# As sweeps with momentum, a search continues to this part of the tolerance, as long as each try
# helps: the errors of one step differ from those of the next, and would show in bodies at rest.
CAUTION = 0.1


@inner_kernel
def largest_error(system: NewtonSystem) -> float:
    """Return the largest violation of Coulomb's law and bounds by the multipliers [m/s].

    The result is infinity if a multiplier is not finite.
    """
    error = 0.0
    for k in range(system.capacity[0].constraints):
        error = max(error, law_error(system.constraints[k]))
    return error


@inner_kernel
def small_enough(tolerance: float, system: NewtonSystem) -> float:
    """Return the error at which a search may end [m/s].

    The result is the tolerance until the number of factorisations reaches the iteration limit.
    After that, the result grows with the number of factorisations.
    """
    capacity = system.capacity[0]
    if capacity.factorisations <= capacity.iteration_limit:
        return tolerance
    return tolerance * min(
        (capacity.factorisations / capacity.iteration_limit) ** _YIELDING, _ROUGH
    )


@inlined_kernel
def is_better(error: float, best: float, tolerance: float) -> bool:
    """Return whether an error is significantly smaller than the smallest error so far."""
    return error < _BETTER * best or error <= tolerance < best


@inlined_kernel
def note_if_better(error: float, best: float, tolerance: float, system: NewtonSystem) -> float:
    """Store the multipliers if `error` is better than `best`. Return the smaller error [m/s]."""
    if not is_better(error, best, tolerance):
        return best
    note_multipliers(system)
    return error


@inner_kernel
def note_multipliers(system: NewtonSystem) -> None:
    """Save the multipliers as the best so far."""
    for k in range(system.capacity[0].constraints):
        constraint = system.constraints[k]
        for r in range(constraint.size):
            constraint.best[r] = constraint.multiplier[r]


@inner_kernel
def go_to_best(system: NewtonSystem) -> None:
    """Restore the best multipliers so far, and the resulting motion."""
    for k in range(system.capacity[0].constraints):
        constraint = system.constraints[k]
        for r in range(constraint.size):
            constraint.multiplier[r], constraint.step[r] = constraint.best[r], 0.0
    push_by_multipliers(system)


@inner_kernel
def start_from_impulses(rows: Records[Row], velocity: Vector, system: NewtonSystem) -> None:
    """Write w and the free velocities from the initial multipliers of the rows.

    `velocity` must include the motion caused by these multipliers.
    """
    find_motion(system)
    for k in range(system.capacity[0].constraints):
        constraint = system.constraints[k]
        motion_along(constraint, system, system.point, constraint.step)
        for r in range(constraint.size):
            row = rows[constraint.row + r]
            constraint.velocity[r] = row_velocity(row, velocity) - row.target
            constraint.free[r] = constraint.velocity[r] - constraint.step[r]


@inner_kernel
def push_by_multipliers(system: NewtonSystem) -> None:
    """Write the motion w and the constraint blocks' velocities that the multipliers cause."""
    find_motion(system)
    find_velocities(system)


@inlined_kernel
def find_motion(system: NewtonSystem) -> None:
    """Write the motion w = G^T multipliers of an island to system.point."""
    clear_motion(system, system.point)
    for k in range(system.capacity[0].constraints):
        constraint = system.constraints[k]
        add_push(constraint, system, constraint.multiplier, 1.0, system.point)


@inner_kernel
def find_velocities(system: NewtonSystem) -> None:
    """Write the velocities of all constraint blocks at the motion w."""
    for k in range(system.capacity[0].constraints):
        constraint = system.constraints[k]
        motion_along(constraint, system, system.point, constraint.velocity)
        for r in range(constraint.size):
            constraint.velocity[r] += constraint.free[r]


@inner_kernel
def write_best_impulses(
    rows: Records[Row], response: Vector, velocity: Vector, system: NewtonSystem
) -> None:
    """Write the best impulses to the rows, and the resulting velocities of constraint bodies."""
    for k in range(system.capacity[0].constraints):
        constraint = system.constraints[k]
        for r in range(constraint.size):
            row = rows[constraint.row + r]
            change = constraint.best[r] - row.impulse
            row.impulse = constraint.best[r]
            apply_impulse(row, change, response, velocity)
