# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Newton steps with a fixed active-set state of each contact, which converge near a solution.

A contact is open, sticks or slips. The multiplier (impulse) minus a small penalty times the
velocity determines the state. A sticking contact gets velocity 0, up to a large penalty on the
change of its impulse, which regularises redundant contacts. A slipping contact has the friction
impulse mu l_n d, with the normal impulse l_n. The direction d turns with the contact's velocity (a
primal-dual active set, Hüeber & Wohlmuth 2005 and Alart & Curnier 1991). Steps have full length.
Far from a solution the steps may diverge. The method then stops.

A constraint block is a contact with three rows, or another row alone. Its scale is the smallest
mass that it moves. `system` is the problem of the island.
"""

from __future__ import annotations

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Constraint
from hrpsim.engine.constraints.friction_laws import disk_scale
from hrpsim.engine.solvers.newton.block_lu import factorise_lu, solve_lu
from hrpsim.engine.solvers.newton.coulomb_law import (
    OPEN,
    SLIPS,
    SLIPS_AT_LIMIT,
    STICKS,
    STICKS_AT_LIMIT,
    set_stiffness,
)
from hrpsim.engine.solvers.newton.local_sweeps import sweep_all
from hrpsim.engine.solvers.newton.matrix import add_push, clear_motion, motion_along, write_matrix
from hrpsim.engine.solvers.newton.multipliers import (
    CAUTION,
    is_better,
    largest_error,
    note_if_better,
    note_multipliers,
    push_by_multipliers,
)
from hrpsim.engine.solvers.newton.newton_problem import NewtonSystem

# Penalties, as multiples of the least mass that a contact feels: the one that decides its
# active-set state, and the one on changes of a sticking contact's impulse once the states are
# right.
_STATE_PENALTY, _PENALTY = 1.0, 1e5

_STEPS = 12  # factorisations at most

_ROUNDING = 1e-12  # by which less than its limit friction is taken to be, as it turns


@inlined_kernel
def _error_after_sweeps(sweeps: int, best: float, tolerance: float, system: NewtonSystem) -> float:
    """Return the largest error [m/s], after sweeps if the last step did not reduce the error."""
    error = largest_error(system)
    if sweeps > 0 and not is_better(error, best, tolerance):
        sweep_all(sweeps, system)
        error = largest_error(system)
    return error


@inner_kernel
def try_active_sets(
    tolerance: float,
    limit: int,
    iteration_limit: int,
    sweeps: int,
    best: float,
    system: NewtonSystem,
) -> tuple[int, float]:
    """Take Newton steps from the present multipliers, and store the best multipliers.

    If `sweeps` is not 0, Gauss-Seidel sweeps resolve contradictory states, to which the steps alone
    would return.

    Args:
        tolerance: accepted error [m/s].
        limit: largest number of factorisations.
        iteration_limit: number of steps without progress after which the search ends.
        sweeps: number of sweeps after a step without progress. If not 0, one sweep comes first.
        best: error of the best multipliers so far [m/s].
        system: problem of the island.

    Returns:
        (number of factorisations, smallest error [m/s]).
    """
    count, misses, fresh = 0, 0, False
    if sweeps > 0:
        sweep_all(1, system)
        best = note_if_better(largest_error(system), best, tolerance, system)
    while misses < iteration_limit and best > CAUTION * tolerance:
        if hold_states(_PENALTY, system) or not fresh:
            if count >= min(limit, _STEPS):
                break
            write_matrix(system)
            count, fresh = count + 1, True
            if not factorise_lu(system.structure, system.upper, system.lower):
                break
        step_with_states_held(system)
        error = _error_after_sweeps(sweeps, best, tolerance, system)
        if is_better(error, best, tolerance):
            best, misses = error, 0
            note_multipliers(system)
        elif error == math.inf:
            break
        else:
            misses += 1
    return count, best


@inner_kernel
def step_with_states_held(system: NewtonSystem) -> None:
    """Take a Newton step with the states that `hold_states` has set.

    The factor must be up to date.
    """
    capacity, step = system.capacity[0], system.step
    clear_motion(system, step)
    for k in range(capacity.constraints):
        constraint = system.constraints[k]
        add_push(constraint, system, constraint.impulse, 1.0, step)
    solve_lu(system.structure, system.upper, system.lower, step)
    for k in range(capacity.constraints):
        constraint = system.constraints[k]
        motion_along(constraint, system, step, constraint.step)
        _change(constraint)
    push_by_multipliers(system)


@inlined_kernel
def hold_states(penalty: float, system: NewtonSystem) -> bool:
    """Choose open, stick or slip for every constraint block.

    Args:
        penalty: penalty on sticking contacts, a multiple of the smallest mass.
        system: problem of the island.

    Returns:
        Whether the factor is out of date.
    """
    changed = False
    for k in range(system.capacity[0].constraints):
        changed = hold_state(system.constraints[k], penalty) or changed
    return changed


@inlined_kernel
def hold_state(constraint: Constraint, penalty: float) -> bool:
    """Choose open, stick or slip for a block. Write the required impulse change and its slope.

    Args:
        constraint: record of the constraint block.
        penalty: penalty on sticking contacts, a multiple of the smallest mass.

    Returns:
        Whether the slope differs from the slope that the factor contains.
    """
    multiplier, velocity, change = constraint.multiplier, constraint.velocity, constraint.impulse
    for r in range(constraint.size):
        change[r] = 0.0
    if constraint.scale <= 0.0:
        set_stiffness(constraint, OPEN, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        return False
    rho = _STATE_PENALTY * constraint.scale
    normal = (multiplier[0] - rho * velocity[0]) / (1.0 + rho * constraint.compliance)
    at_limit = constraint.size == 3 and normal >= constraint.upper > constraint.lower
    if not (at_limit or constraint.lower < normal < constraint.upper):
        bound = constraint.lower if normal <= constraint.lower else constraint.upper
        change[0] = bound - multiplier[0]
        if constraint.size == 3:
            _let_go(constraint)
        set_stiffness(constraint, OPEN, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        return constraint.factor_state != OPEN
    large = penalty * constraint.scale
    part = 1.0 / (1.0 + large * constraint.compliance)
    slope = part * large
    if at_limit:
        normal, slope, change[0] = constraint.upper, 0.0, constraint.upper - multiplier[0]
    else:
        change[0] = part * (multiplier[0] - large * velocity[0]) - multiplier[0]
    if constraint.size == 1:
        set_stiffness(constraint, STICKS, slope, 0.0, 0.0, 0.0, 0.0, 0.0)
        return constraint.factor_state != STICKS
    x, y = multiplier[1] - rho * velocity[1], multiplier[2] - rho * velocity[2]
    size = math.sqrt(x * x + y * y)
    if size <= constraint.friction * normal:
        change[1], change[2] = -large * velocity[1], -large * velocity[2]
        state = STICKS_AT_LIMIT if at_limit else STICKS
        set_stiffness(constraint, state, slope, 0.0, 0.0, large, 0.0, large)
        return constraint.factor_state != state
    _slip(constraint, slope, large, x / size, y / size, size)
    return True


@inlined_kernel
def _let_go(constraint: Constraint) -> None:
    """Write the change that makes the friction of an opening contact zero."""
    constraint.impulse[1], constraint.impulse[2] = (
        -constraint.multiplier[1],
        -constraint.multiplier[2],
    )


@inlined_kernel
def _slip(
    constraint: Constraint, slope: float, large: float, dx: float, dy: float, size: float
) -> None:
    """Write change and slope of a slipping contact, whose friction is mu l_n along a turning d.

    slope: slope of the normal impulse. large: penalty on sticking [kg]. dx, dy: direction d. size:
    magnitude of the predicted friction impulse [Ns].
    """
    multiplier, velocity, change = constraint.multiplier, constraint.velocity, constraint.impulse
    limit = constraint.friction * max(multiplier[0], 0.0)
    ratio = min(limit / size, 1.0 - _ROUNDING)
    turn = min(_STATE_PENALTY * constraint.scale * ratio / (1.0 - ratio), large)
    across = dx * velocity[2] - dy * velocity[1]
    friction_slope = constraint.friction * (multiplier[0] + change[0])
    impulse_across = dx * multiplier[2] - dy * multiplier[1] if turn == large else 0.0
    sideways = impulse_across - turn * across
    change[1] = friction_slope * dx - sideways * dy - multiplier[1]
    change[2] = friction_slope * dy + sideways * dx - multiplier[2]
    xx, xy, yy = turn * dy * dy, -turn * dx * dy, turn * dx * dx
    pull = constraint.friction * slope
    state = SLIPS if slope > 0.0 else SLIPS_AT_LIMIT
    set_stiffness(constraint, state, slope, pull * dx, pull * dy, xx, xy, yy)


@inlined_kernel
def _change(constraint: Constraint) -> None:
    """Add the required change and the effect of the step to the multipliers, within bounds."""
    multiplier, change, v, d = (
        constraint.multiplier,
        constraint.impulse,
        constraint.step,
        constraint.stiffness,
    )
    if constraint.size == 1:
        new = multiplier[0] + change[0] - d[0] * v[0]
        multiplier[0] = min(max(new, constraint.lower), constraint.upper)
        return
    normal = multiplier[0] + change[0] - d[0] * v[0]
    x = multiplier[1] + change[1] - (d[3] * v[0] + d[4] * v[1] + d[5] * v[2])
    y = multiplier[2] + change[2] - (d[6] * v[0] + d[7] * v[1] + d[8] * v[2])
    multiplier[0] = min(max(normal, constraint.lower), constraint.upper)
    part = disk_scale(constraint.friction * multiplier[0], x, y)
    multiplier[1], multiplier[2] = part * x, part * y
