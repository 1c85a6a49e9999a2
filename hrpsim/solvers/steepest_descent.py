# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Steepest descent with Armijo's rule on a penalty function (Kuroda, ch. 4).

The constraint force that a row adds to its lower bound is to be small and to leave no velocity
short of what the row asks for. With the impulses l beyond their bounds, r = max(0, target - v),
a = inverse mass of a row:

    P(l) = sum a l^2 / 2 + weight sum r^2 / (2 a)

is minimised over s = sqrt(a) l, so that all rows weigh alike. The thesis's example of a penalty
(eq. 4.3) is not squared; this one has the gradient that the method needs.
"""

from __future__ import annotations

import math

from hrpsim.constraints.rows import row_velocity
from hrpsim.constraints.solver_table import DESCENT
from hrpsim.jit.compiled import inlined_kernel, kernel
from hrpsim.solvers.impulses import apply_impulse

PENALTY_WEIGHT = 1e4  # leaves about a ten-thousandth of what was short
_ARMIJO = 0.25  # xi of eq. 4.6, between 0 and 1/2
_SHORTEST = 1e-12  # share of the first step at which a line search is given up
_FLAT = 1e-6  # share of the first gradient at which the minimum is reached


@kernel  # many parameters: names the parts of the scene that it reads, not the scene
def descend(rows, first, row_count, response, weight, step_limit, velocity, direction, slope):
    """Find the impulses of the rows for DESCENT from `first` on; hold all other rows.

    `velocity` are the sites' velocities with the impulses that the rows start from; it ends as
    those with what was found. `direction`, `slope` (rows,) are work. Returns (steps, furthest that
    a row is short of its target [m/s], whether the gradient fell to a millionth).
    """
    length = 1.0 / weight
    first_gradient = gradient = 0.0
    steps = 0
    flat = False
    while True:
        gradient = _find_direction(
            rows, first, row_count, response, weight, velocity, direction, slope
        )
        if steps == 0:
            first_gradient = gradient
        flat = gradient <= _FLAT * first_gradient
        if flat or steps >= step_limit:
            break
        _find_slope(rows, first, row_count, response, velocity, direction, slope)
        value = _value(rows, first, row_count, weight, 0.0, velocity, direction, slope)
        length *= 2.0
        shortest = _SHORTEST * length
        while length > shortest:
            new = _value(rows, first, row_count, weight, length, velocity, direction, slope)
            if new <= value - _ARMIJO * length * gradient * gradient:
                break
            length *= 0.5
        if length <= shortest:
            break
        for number in range(first, row_count):
            row = rows[number]
            if _takes_part(row):
                change = length * direction[number]
                row.impulse += change
                apply_impulse(row, change, response, velocity)
        steps += 1
    furthest = 0.0
    for number in range(first, row_count):
        row = rows[number]
        if _takes_part(row):
            furthest = max(furthest, row.target - row_velocity(row, velocity))
    return steps, furthest, flat


@inlined_kernel
def _takes_part(row):
    return row.solver == DESCENT and row.inverse_mass > 0.0


@inlined_kernel
def _short(row, velocity):
    return max(0.0, row.target - row_velocity(row, velocity))


@inlined_kernel
def _find_direction(rows, first, row_count, response, weight, velocity, direction, slope):
    """Write minus the gradient, as impulses; return its norm in s = sqrt(a) l."""
    for number in range(first, row_count):
        row = rows[number]
        slope[number] = direction[number] = 0.0
        if _takes_part(row):
            slope[number] = _short(row, velocity) / row.inverse_mass
            direction[number] = -row_velocity(row, velocity)
    for number in range(first, row_count):
        if slope[number] != 0.0:
            apply_impulse(rows[number], slope[number], response, velocity)
    for number in range(first, row_count):
        row = rows[number]
        if _takes_part(row):
            direction[number] += row_velocity(row, velocity)
    for number in range(first, row_count):
        if slope[number] != 0.0:
            apply_impulse(rows[number], -slope[number], response, velocity)
    square = 0.0
    for number in range(first, row_count):
        row = rows[number]
        if _takes_part(row):
            pull = weight * direction[number] / row.inverse_mass
            direction[number] = pull - (row.impulse - row.lower)
            square += row.inverse_mass * direction[number] * direction[number]
    return math.sqrt(square)


@inlined_kernel
def _find_slope(rows, first, row_count, response, velocity, direction, slope):
    """Write how fast each row's velocity changes along the direction."""
    for number in range(first, row_count):
        row = rows[number]
        slope[number] = -row_velocity(row, velocity) if _takes_part(row) else 0.0
    for sign in range(2):
        for number in range(first, row_count):
            row = rows[number]
            if _takes_part(row):
                by = direction[number] if sign == 0 else -direction[number]
                apply_impulse(row, by, response, velocity)
        if sign == 0:
            for number in range(first, row_count):
                row = rows[number]
                if _takes_part(row):
                    slope[number] += row_velocity(row, velocity)


@inlined_kernel
def _value(rows, first, row_count, weight, length, velocity, direction, slope):
    """Return P at `length` along the direction."""
    total = 0.0
    for number in range(first, row_count):
        row = rows[number]
        if _takes_part(row):
            more = row.impulse - row.lower + length * direction[number]
            short = row.target - row_velocity(row, velocity) - length * slope[number]
            total += 0.5 * row.inverse_mass * more * more
            if short > 0.0:
                total += 0.5 * weight * short * short / row.inverse_mass
    return total
