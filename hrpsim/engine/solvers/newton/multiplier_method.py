# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The method of multipliers (augmented Lagrangian) for an island of contacts and rows.

For fixed multipliers m, Newton's method finds the motion w = G^T l(v) that the impulses l of
Coulomb's law (coulomb_law) cause. The impulses at this motion are the next multipliers (Rockafellar
1976, Alart & Curnier 1991). The line search looks for the point at which the work along the step is
zero. The factor is reused while the steps make progress. The penalty grows if the multipliers
converge too slowly, and falls if a search does not converge. The method therefore needs no
compliance, and redundant or contradictory rows are allowed.
"""

from __future__ import annotations

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.solvers.newton.block_lu import factorise_lu, solve_lu
from hrpsim.engine.solvers.newton.coulomb_law import answer
from hrpsim.engine.solvers.newton.matrix import add_push, motion_along, write_matrix
from hrpsim.engine.solvers.newton.multipliers import (
    CAUTION,
    find_velocities,
    go_to_best,
    is_better,
    largest_error,
    note_multipliers,
    push_by_multipliers,
    small_enough,
)
from hrpsim.engine.solvers.newton.newton_problem import NewtonSystem

_MOST_PENALTY, _LEAST_PENALTY = 1e9, 1e-2

# For contradictory rows the multipliers do not improve: it ends after a few tries without progress
# from this penalty on, and after many in any case. Small errors may take many tries.
_ENOUGH, _FEW_TRIES, _MANY_TRIES, _SMALL = 1e8, 3, 200, 1e4

# The penalty grows where multipliers come nearer by less than _SLOW: by much after a search of few
# steps, not after a long one; it falls after one that did not end.
_SLOW, _LARGE_GROWTH, _SMALL_GROWTH, _DECLINE = 0.1, 10.0, 4.0, 3.0
_QUICK, _LONG = 3, 6

# Newton steps of a search; more show that the penalty is too large.
_STEPS = 20

# A search ends when the error of the velocities is _SHARE of that of the laws; at _ROUGH of it, if
# a step has hardly reduced it, as rounding may cause.
_SHARE, _ROUGH = 0.03, 0.3

# Share of the gradient left by a step with an old factor, above which a new one is made.
_STALE = 0.3


@inner_kernel
def grow_multipliers(
    tolerance: float, penalty: float, limit: int, best: float, system: NewtonSystem
) -> tuple[int, float]:
    """Iterate from the best multipliers, and store the best multipliers that are found.

    Args:
        tolerance: accepted error [m/s].
        penalty: first penalty, a multiple of the smallest mass.
        limit: largest number of factorisations.
        best: error of the best multipliers so far [m/s].
        system: problem of the island.

    Returns:
        (number of factorisations, smallest error [m/s]).
    """
    go_to_best(system)
    error, factorisations, fresh, tries = best, 0, False, 0
    while factorisations < limit and penalty >= _LEAST_PENALTY:
        if _is_enough(best, tries, penalty, tolerance, system):
            break
        for c in range(system.capacity[0].coordinates):
            system.start[c] = system.point[c]
        goal, rough = max(_SHARE * error, 0.3 * CAUTION * tolerance), _ROUGH * error
        count, steps = _search(penalty, goal, rough, fresh, limit - factorisations, system)
        factorisations += count
        fresh = steps <= _STEPS
        if not fresh:
            penalty, tries = penalty / _DECLINE, tries + 1
            continue
        before = error
        _take_multipliers(penalty, system)
        error = largest_error(system)
        tries += 1
        if is_better(error, best, tolerance):
            best, tries = error, 0
            note_multipliers(system)
        if error > _SLOW * before and steps <= _LONG and penalty < _MOST_PENALTY:
            growth = _LARGE_GROWTH if steps <= _QUICK else _SMALL_GROWTH
            penalty, fresh = min(penalty * growth, _MOST_PENALTY), False
    return factorisations, best


@inlined_kernel
def _is_enough(
    best: float, tries: int, penalty: float, tolerance: float, system: NewtonSystem
) -> bool:
    """Return whether the search may end: the multipliers are good enough, or no longer improve.

    Args:
        best: smallest error [m/s].
        tries: number of searches since the last improvement.
        penalty: present penalty.
        tolerance: accepted error [m/s].
        system: problem of the island.
    """
    few = tries < _FEW_TRIES
    if best <= tolerance:
        return best <= CAUTION * tolerance or not few
    if best <= small_enough(tolerance, system) or tries >= _MANY_TRIES:
        return True
    return penalty >= _ENOUGH and best >= _SMALL * tolerance and not few


@inner_kernel
def _search(
    penalty: float, goal: float, rough: float, fresh: bool, limit: int, system: NewtonSystem
) -> tuple[int, int]:
    """Find the motion w for the present multipliers by Newton's method.

    Args:
        penalty: present penalty.
        goal: size of the gradient at which the search ends [m/s].
        rough: size of the gradient that suffices if a step hardly reduces it [m/s].
        fresh: whether the factor was made for the present penalty.
        limit: largest number of factorisations.
        system: problem of the island.

    Returns:
        (number of factorisations, number of steps). More than _STEPS steps mean that the search
        failed, and that w is restored.
    """
    factorisations, before = 0, math.inf
    for step in range(_STEPS + 1):
        left, changed = _look(penalty, system)
        if step > 0 and (left <= goal or (left <= rough and left > _STALE * before)):
            return factorisations, step
        if step == _STEPS:
            break
        if changed or not fresh or left > _STALE * before:
            if factorisations == limit:
                break
            write_matrix(system)
            factorisations, fresh = factorisations + 1, True
            if not factorise_lu(system.structure, system.upper, system.lower):
                break
        before = left
        _find_step(system)
        fraction = _line_search(penalty, system)
        if fraction <= 0.0:
            break
        _move(fraction, system)
    _go_back(system)
    return factorisations, _STEPS + 1


@inner_kernel
def _look(penalty: float, system: NewtonSystem) -> tuple[float, bool]:
    """Write the impulses and the gradient w - G^T l.

    Returns:
        (size of the gradient [m/s], whether states changed). The size is the largest velocity of a
        constraint block for a motion along the gradient.
    """
    capacity, gradient = system.capacity[0], system.gradient
    for c in range(capacity.coordinates):
        gradient[c] = system.point[c]
    changed = False
    for k in range(capacity.constraints):
        constraint = system.constraints[k]
        answer(constraint, penalty, 0.0, True)
        changed = changed or constraint.state != constraint.factor_state
        add_push(constraint, system, constraint.impulse, -1.0, gradient)
    largest = 0.0
    for k in range(capacity.constraints):
        constraint = system.constraints[k]
        motion_along(constraint, system, gradient, constraint.step)
        for r in range(constraint.size):
            largest = max(largest, abs(constraint.step[r]))
    return largest, changed


@inlined_kernel
def _find_step(system: NewtonSystem) -> None:
    """Write the Newton step of w and of every constraint block's velocity."""
    capacity = system.capacity[0]
    for c in range(capacity.coordinates):
        system.step[c] = -system.gradient[c]
    solve_lu(system.structure, system.upper, system.lower, system.step)
    for k in range(capacity.constraints):
        constraint = system.constraints[k]
        motion_along(constraint, system, system.step, constraint.step)


@inner_kernel
def _line_search(penalty: float, system: NewtonSystem) -> float:
    """Return the fraction of the step at which its work nearly vanishes, or 0 for a failure."""
    start = _work(penalty, 0.0, system)
    if not start < 0.0:
        return 0.0
    high, at_high, good = 1.0, _work(penalty, 1.0, system), -0.1 * start
    if at_high <= good:
        return 1.0
    low, at_low, fraction = 0.0, start, 1.0
    for k in range(20):
        fraction = low - (high - low) * at_low / (at_high - at_low)
        if k % 3 == 2:
            fraction = 0.5 * (low + high)
        at_fraction = _work(penalty, fraction, system)
        if abs(at_fraction) <= good:
            break
        if at_fraction > 0.0:
            high, at_high = fraction, at_fraction
        else:
            low, at_low = fraction, at_fraction
    return fraction


@inner_kernel
def _work(penalty: float, share: float, system: NewtonSystem) -> float:
    """Return the product of the step and the gradient after a fraction `share` of the step."""
    capacity, total = system.capacity[0], 0.0
    for c in range(capacity.coordinates):
        total += system.step[c] * (system.point[c] + share * system.step[c])
    for k in range(capacity.constraints):
        constraint = system.constraints[k]
        answer(constraint, penalty, share, False)
        for r in range(constraint.size):
            total -= constraint.step[r] * constraint.impulse[r]
    return total


@inlined_kernel
def _move(share: float, system: NewtonSystem) -> None:
    """Add a fraction of the step to w and to the velocities."""
    capacity = system.capacity[0]
    for c in range(capacity.coordinates):
        system.point[c] += share * system.step[c]
    for k in range(capacity.constraints):
        constraint = system.constraints[k]
        for r in range(constraint.size):
            constraint.velocity[r] += share * constraint.step[r]


@inlined_kernel
def _go_back(system: NewtonSystem) -> None:
    """Restore w and the velocities at the start of the search."""
    for c in range(system.capacity[0].coordinates):
        system.point[c] = system.start[c]
    find_velocities(system)


@inlined_kernel
def _take_multipliers(penalty: float, system: NewtonSystem) -> None:
    """Set the multipliers to the impulses of Coulomb's law, and w to the resulting motion."""
    for k in range(system.capacity[0].constraints):
        constraint = system.constraints[k]
        answer(constraint, penalty, 0.0, False)
        for r in range(constraint.size):
            constraint.multiplier[r] = constraint.impulse[r]
    push_by_multipliers(system)
