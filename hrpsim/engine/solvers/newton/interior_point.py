# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Interior-point method for the contacts of an island: about ten steps to near a solution.

l is the impulse of a contact, v its velocity and mu its friction coefficient, with normal part n
and tangential part t. m is the smallest mass that the contact moves. With De Saxce's velocity z =
(v_n / mu + |v_t|, v_t) and x = (mu l_n, l_t), Coulomb's law is: x and z are in the second-order
cone, and x o z = 0 (De Saxce & Feng 1998). o is the product of the cone's Jordan algebra. Steps
follow the central path x o z = (sigma m mu, 0, 0) to sigma = 0 (Mehrotra 1992), with the derivative
of |v_t| in the matrix. The result is not exact enough if contacts are about to change state.
`active_sets` or `multiplier_method` continue from this result. A pair is x and z of one contact.
"""

from __future__ import annotations

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import ConePair, Constraint
from hrpsim.engine.solvers.newton.block_lu import factorise_lu, solve_lu
from hrpsim.engine.solvers.newton.coulomb_law import STICKS, answer
from hrpsim.engine.solvers.newton.matrix import add_push, clear_motion, motion_along, write_matrix
from hrpsim.engine.solvers.newton.multipliers import (
    go_to_best,
    largest_error,
    note_if_better,
    push_by_multipliers,
    small_enough,
)
from hrpsim.engine.solvers.newton.newton_problem import NewtonSystem
from hrpsim.engine.solvers.newton.second_order_cone import (
    FAR,
    aim,
    longest_step,
    scale_pair,
    times_scaling,
    times_squared_scaling,
)

# Steps at most; it ends sooner after _SHORT_STEPS that go less than _SHORT of their way, or where
# sigma is this times the square of the tolerance.
_STEPS, _SHORT, _SHORT_STEPS, _NEAR = 45, 0.1, 4, 1e4

# How far a step goes towards the boundary; the least share of sigma that is aimed at, and the share
# after a short step.
_NEARLY, _LEAST_SHARE, _SHARE_AFTER_SHORT = 0.9, 1e-3, 0.8

# Share of z's distance inside its cone that the velocity must have for z to become the velocity.
_WELL_INSIDE = 0.5

# Coefficient of friction used for a contact without friction.
_LEAST_FRICTION = 1e-4

# Penalty of a single row, as a multiple of the mass that it feels.
_ROW_PENALTY = 1e4


@inlined_kernel
def _has_other_contacts(system: NewtonSystem) -> bool:
    """Return whether any contact has compliance or a force limit."""
    for k in range(system.capacity[0].constraints):
        constraint = system.constraints[k]
        if constraint.size == 3 and (constraint.compliance > 0.0 or constraint.upper < math.inf):
            return True
    return False


@inlined_kernel
def _aim_pairs(goal: float, system: NewtonSystem) -> None:
    """Set the goal of every pair to the point of the central path with the given sigma (`goal`)."""
    for k in range(system.capacity[0].constraints):
        pair, constraint = system.pairs[k], system.constraints[k]
        if _is_pair(constraint):
            aim(pair, goal * constraint.scale * pair.friction, True)


@inner_kernel
def follow_central_path(
    tolerance: float, limit: int, best: float, system: NewtonSystem
) -> tuple[int, float]:
    """Follow the central path, starting from the best multipliers, and store the best multipliers.

    The method does not support compliant or force-limited contacts. An island with one of these
    contacts is left unchanged.

    Args:
        tolerance: accepted error [m/s].
        limit: largest number of factorisations.
        best: error of the best multipliers so far [m/s].
        system: problem of the island.

    Returns:
        (number of factorisations, smallest error [m/s]).
    """
    capacity = system.capacity[0]
    if _has_other_contacts(system):
        return 0, best
    go_to_best(system)
    _enter(max(best, tolerance), system)
    count, short_steps, fraction = 0, 0, 1.0
    while count < min(limit, _STEPS) and short_steps < _SHORT_STEPS:
        if best <= small_enough(tolerance, system):
            break
        sigma = _sigma(0.0, system)
        for k in range(capacity.constraints):
            _linearise(system.pairs[k], system.constraints[k])
        write_matrix(system)
        count += 1
        if not factorise_lu(system.structure, system.upper, system.lower):
            break
        ratio = _sigma_ratio(sigma, fraction < _SHORT, system)
        _aim_pairs(ratio * sigma, system)
        _find_step(system)
        fraction = min(1.0, _NEARLY * _longest(system))
        _go(fraction, system)
        error = largest_error(system)
        if error == math.inf:
            break
        best = note_if_better(error, best, tolerance, system)
        short_steps = short_steps + 1 if fraction < _SHORT else 0
        if ratio * sigma < _NEAR * tolerance * tolerance:
            break
    return count, best


@inlined_kernel
def _is_pair(constraint: Constraint) -> bool:
    return constraint.size == 3 and constraint.scale > 0.0


@inlined_kernel
def _velocity_in_cone(constraint: Constraint, friction: float) -> tuple[float, float, float]:
    """Return De Saxce's velocity of a contact."""
    y, z = constraint.velocity[1], constraint.velocity[2]
    return constraint.velocity[0] / friction + math.sqrt(y * y + z * z), y, z


@inlined_kernel
def _enter(off: float, system: NewtonSystem) -> None:
    """Write initial x and z inside the cones, with a margin by the error `off` [m/s]."""
    capacity = system.capacity[0]
    for k in range(capacity.constraints):
        constraint, pair = system.constraints[k], system.pairs[k]
        if not _is_pair(constraint):
            continue
        pair.friction = max(constraint.friction, _LEAST_FRICTION)
        x, z = pair.x, pair.z
        x[1], x[2] = constraint.multiplier[1], constraint.multiplier[2]
        least = math.sqrt(x[1] * x[1] + x[2] * x[2])
        x[0] = (
            max(pair.friction * constraint.multiplier[0], least)
            + constraint.scale * off * pair.friction
        )
        z[0], z[1], z[2] = _velocity_in_cone(constraint, pair.friction)
        z[0] = max(z[0], math.sqrt(z[1] * z[1] + z[2] * z[2])) + off
        constraint.multiplier[0] = x[0] / pair.friction
        for r in range(3):
            pair.dx[r] = pair.dz[r] = 0.0
    push_by_multipliers(system)


@inlined_kernel
def _sigma(share: float, system: NewtonSystem) -> float:
    """Return the mean of x.z / (m mu) after a fraction `share` of the step [m^2/s^2]."""
    total, count = 0.0, 0
    for k in range(system.capacity[0].constraints):
        constraint, pair = system.constraints[k], system.pairs[k]
        if _is_pair(constraint):
            product = 0.0
            for r in range(3):
                product += (pair.x[r] + share * pair.dx[r]) * (pair.z[r] + share * pair.dz[r])
            total += product / (constraint.scale * pair.friction)
            count += 1
    return total / max(count, 1)


@inlined_kernel
def _linearise(pair: ConePair, constraint: Constraint) -> None:
    """Write the scaling, the residual of z, and -d impulse / d velocity of a constraint block."""
    if not _is_pair(constraint):
        answer(constraint, _ROW_PENALTY, 0.0, True)
        return
    scale_pair(pair)
    a, b, c = _velocity_in_cone(constraint, pair.friction)
    pair.short[0], pair.short[1], pair.short[2] = a - pair.z[0], b - pair.z[1], c - pair.z[2]
    slip = math.sqrt(b * b + c * c)
    along, part, stiffness = pair.along, 1.0 / pair.friction, constraint.stiffness
    along[0] = b / slip if slip > 0.0 else 0.0
    along[1] = c / slip if slip > 0.0 else 0.0
    constraint.state = STICKS
    for column in range(3):
        if column == 0:
            a, b, c = times_squared_scaling(pair, part, 0.0, 0.0)
        elif column == 1:
            a, b, c = times_squared_scaling(pair, along[0], 1.0, 0.0)
        else:
            a, b, c = times_squared_scaling(pair, along[1], 0.0, 1.0)
        stiffness[column], stiffness[3 + column], stiffness[6 + column] = part * a, b, c


@inlined_kernel
def _sigma_ratio(sigma: float, was_short: bool, system: NewtonSystem) -> float:
    """Return the next sigma, divided by the present sigma.

    The result is the cube of the fraction of sigma that a step towards sigma = 0 would leave.
    was_short: whether the last step was short, which requires a larger result.
    """
    capacity = system.capacity[0]
    for k in range(capacity.constraints):
        pair = system.pairs[k]
        if _is_pair(system.constraints[k]):
            for r in range(3):
                pair.goal[r] = -pair.scaled[r]
    _find_step(system)
    left = _sigma(min(1.0, _longest(system)), system) / sigma if sigma > 0.0 else 0.0
    ratio = min(max(left * left * left, _LEAST_SHARE), 1.0)
    return max(ratio, _SHARE_AFTER_SHORT) if was_short else ratio


@inner_kernel
def _find_step(system: NewtonSystem) -> None:
    """Write the step towards the goals: dx and dz of all pairs, and the change of other rows."""
    capacity, step = system.capacity[0], system.step
    clear_motion(system, step)
    for k in range(capacity.constraints):
        constraint, pair = system.constraints[k], system.pairs[k]
        if _is_pair(constraint):
            short, goal, dx = pair.short, pair.goal, pair.dx
            a, b, c = times_scaling(pair, goal[0], goal[1], goal[2])
            d, e, f = times_squared_scaling(pair, short[0], short[1], short[2])
            dx[0], dx[1], dx[2] = a - d, b - e, c - f
            constraint.impulse[0], constraint.impulse[1], constraint.impulse[2] = (
                dx[0] / pair.friction,
                dx[1],
                dx[2],
            )
            add_push(constraint, system, constraint.impulse, 1.0, step)
        else:
            for r in range(constraint.size):
                pair.dx[r] = constraint.impulse[r] - constraint.multiplier[r]
            add_push(constraint, system, pair.dx, 1.0, step)
    solve_lu(system.structure, system.upper, system.lower, step)
    for k in range(capacity.constraints):
        constraint, pair = system.constraints[k], system.pairs[k]
        motion_along(constraint, system, step, constraint.step)
        if _is_pair(constraint):
            v, along = constraint.step, pair.along
            z0 = v[0] / pair.friction + along[0] * v[1] + along[1] * v[2]
            a, b, c = times_squared_scaling(pair, z0, v[1], v[2])
            pair.dx[0], pair.dx[1], pair.dx[2] = pair.dx[0] - a, pair.dx[1] - b, pair.dx[2] - c
            pair.dz[0], pair.dz[1] = pair.short[0] + z0, pair.short[1] + v[1]
            pair.dz[2] = pair.short[2] + v[2]
        elif constraint.size == 1:
            pair.dx[0] -= constraint.stiffness[0] * constraint.step[0]


@inlined_kernel
def _longest(system: NewtonSystem) -> float:
    """Return the multiple of the step at which the first x or z reaches the limit of its cone."""
    multiple = FAR
    for k in range(system.capacity[0].constraints):
        pair = system.pairs[k]
        if _is_pair(system.constraints[k]):
            multiple = min(multiple, longest_step(pair.x, pair.dx), longest_step(pair.z, pair.dz))
    return multiple


@inlined_kernel
def _go(share: float, system: NewtonSystem) -> None:
    """Add a fraction `share` of the step to all pairs and multipliers."""
    for k in range(system.capacity[0].constraints):
        constraint, pair = system.constraints[k], system.pairs[k]
        if _is_pair(constraint):
            for r in range(3):
                pair.x[r] += share * pair.dx[r]
                pair.z[r] += share * pair.dz[r]
            constraint.multiplier[0] = pair.x[0] / pair.friction
            constraint.multiplier[1], constraint.multiplier[2] = pair.x[1], pair.x[2]
        else:
            for r in range(constraint.size):
                constraint.multiplier[r] += share * pair.dx[r]
    push_by_multipliers(system)
    for k in range(system.capacity[0].constraints):
        if _is_pair(system.constraints[k]):
            _take_velocity(system.pairs[k], system.constraints[k])


@inlined_kernel
def _take_velocity(pair: ConePair, constraint: Constraint) -> None:
    """Set z to the velocity caused by the impulses, if this velocity is well inside the cone."""
    z = pair.z
    inside = z[0] - math.sqrt(z[1] * z[1] + z[2] * z[2])
    if constraint.velocity[0] / pair.friction > _WELL_INSIDE * inside:
        z[0], z[1], z[2] = _velocity_in_cone(constraint, pair.friction)
