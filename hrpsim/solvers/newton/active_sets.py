# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Newton steps with the sides of contacts held: the end of a search, in one to three steps.

Each contact is open, sticks or slips as its multiplier and velocity say for a small penalty. What
sticks is to have velocity 0, but for a large penalty on the change of its impulse, so that contacts
that repeat each other do no harm; what slips has the impulse of friction mu l_n d, with d turning
as its velocity turns (a primal-dual active set, Hüeber & Wohlmuth 2005; Alart & Curnier 1991).
Steps are not shortened: from afar they may lead nowhere, and are given up.
"""

from __future__ import annotations

import math

from hrpsim.constraints.friction_laws import disk_scale
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.solvers.newton.block_lu import factorise_lu, solve_lu
from hrpsim.solvers.newton.coulomb_law import (
    OPEN,
    SLIPS,
    SLIPS_AT_LIMIT,
    STICKS,
    STICKS_AT_LIMIT,
    set_stiffness,
)
from hrpsim.solvers.newton.matrix import add_push, clear_motion, motion_along, write_matrix
from hrpsim.solvers.newton.multipliers import (
    CAUTION,
    is_better,
    largest_error,
    note_multipliers,
    push_by_multipliers,
)

# Penalties, as multiples of the least mass that a contact feels: by which its side is found, and by
# which the impulse of what sticks may change where the sides are to be right.
_SIDE_PENALTY, _PENALTY = 1.0, 1e5

_STEPS = 12  # factorisations at most

_ROUNDING = 1e-12  # by which less than its limit friction is taken to be, as it turns


@inner_kernel
def try_active_sets(tolerance, limit, patience, best, system):
    """Go on from the multipliers; return (factorisations, least error [m/s]).

    It ends after `patience` steps that bring nothing.
    """
    needs = system.needs[0]
    count, misses, fresh = 0, 0, False
    while misses < patience and best > CAUTION * tolerance:
        changed = False
        for k in range(needs.units):
            changed = hold_side(system.units[k], _PENALTY) or changed
        if changed or not fresh:
            if count >= min(limit, _STEPS):
                break
            write_matrix(system)
            count, fresh = count + 1, True
            if not factorise_lu(system.structure, system.upper, system.lower):
                break
        go_with_sides_held(system)
        error = largest_error(system)
        if is_better(error, best, tolerance):
            best, misses = error, 0
            note_multipliers(system)
        elif error == math.inf:
            break
        else:
            misses += 1
    return count, best


@inner_kernel
def go_with_sides_held(system):
    """Take the step that `hold_side` asks for and the factor was made for."""
    needs, step = system.needs[0], system.step
    clear_motion(system, step)
    for k in range(needs.units):
        unit = system.units[k]
        add_push(unit, system, unit.impulse, 1.0, step)
    solve_lu(system.structure, system.upper, system.lower, step)
    for k in range(needs.units):
        unit = system.units[k]
        motion_along(unit, system, step, unit.step)
        _change(unit)
    push_by_multipliers(system)


@inlined_kernel
def hold_side(unit, penalty):
    """Write the change of impulse that the laws ask for, into `impulse`, and its slope.

    `penalty`, a multiple of the least mass, is on what sticks. Returns whether the slope is another
    than the factor was made for.
    """
    multiplier, velocity, change = unit.multiplier, unit.velocity, unit.impulse
    for r in range(unit.size):
        change[r] = 0.0
    if unit.scale <= 0.0:
        set_stiffness(unit, OPEN, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        return False
    rho = _SIDE_PENALTY * unit.scale
    normal = (multiplier[0] - rho * velocity[0]) / (1.0 + rho * unit.compliance)
    at_limit = unit.size == 3 and normal >= unit.upper > unit.lower
    if not (at_limit or unit.lower < normal < unit.upper):
        bound = unit.lower if normal <= unit.lower else unit.upper
        change[0] = bound - multiplier[0]
        if unit.size == 3:
            _let_go(unit)
        set_stiffness(unit, OPEN, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        return unit.factor_side != OPEN
    large = penalty * unit.scale
    part = 1.0 / (1.0 + large * unit.compliance)
    slope = part * large
    if at_limit:
        normal, slope, change[0] = unit.upper, 0.0, unit.upper - multiplier[0]
    else:
        change[0] = part * (multiplier[0] - large * velocity[0]) - multiplier[0]
    if unit.size == 1:
        set_stiffness(unit, STICKS, slope, 0.0, 0.0, 0.0, 0.0, 0.0)
        return unit.factor_side != STICKS
    x, y = multiplier[1] - rho * velocity[1], multiplier[2] - rho * velocity[2]
    size = math.sqrt(x * x + y * y)
    if size <= unit.friction * normal:
        change[1], change[2] = -large * velocity[1], -large * velocity[2]
        side = STICKS_AT_LIMIT if at_limit else STICKS
        set_stiffness(unit, side, slope, 0.0, 0.0, large, 0.0, large)
        return unit.factor_side != side
    _slip(unit, slope, large, x / size, y / size, size)
    return True


@inlined_kernel
def _let_go(unit):
    """Ask a contact that opens for no friction."""
    unit.impulse[1], unit.impulse[2] = -unit.multiplier[1], -unit.multiplier[2]


@inlined_kernel
def _slip(unit, slope, large, dx, dy, size):
    """Ask for mu l_n along d, which turns by what the velocity across it is of the slip."""
    multiplier, velocity, change = unit.multiplier, unit.velocity, unit.impulse
    limit = unit.friction * max(multiplier[0], 0.0)
    share = min(limit / size, 1.0 - _ROUNDING)
    turn = min(_SIDE_PENALTY * unit.scale * share / (1.0 - share), large)
    across = dx * velocity[2] - dy * velocity[1]
    grip = unit.friction * (multiplier[0] + change[0])
    kept = dx * multiplier[2] - dy * multiplier[1] if turn == large else 0.0
    sideways = kept - turn * across
    change[1] = grip * dx - sideways * dy - multiplier[1]
    change[2] = grip * dy + sideways * dx - multiplier[2]
    xx, xy, yy = turn * dy * dy, -turn * dx * dy, turn * dx * dx
    pull = unit.friction * slope
    side = SLIPS if slope > 0.0 else SLIPS_AT_LIMIT
    set_stiffness(unit, side, slope, pull * dx, pull * dy, xx, xy, yy)


@inlined_kernel
def _change(unit):
    """Change the multipliers as asked for, less what the step brings; keep them within the laws."""
    multiplier, change, v, d = unit.multiplier, unit.impulse, unit.step, unit.stiffness
    if unit.size == 1:
        new = multiplier[0] + change[0] - d[0] * v[0]
        multiplier[0] = min(max(new, unit.lower), unit.upper)
        return
    normal = multiplier[0] + change[0] - d[0] * v[0]
    x = multiplier[1] + change[1] - (d[3] * v[0] + d[4] * v[1] + d[5] * v[2])
    y = multiplier[2] + change[2] - (d[6] * v[0] + d[7] * v[1] + d[8] * v[2])
    multiplier[0] = min(max(normal, unit.lower), unit.upper)
    part = disk_scale(unit.friction * multiplier[0], x, y)
    multiplier[1], multiplier[2] = part * x, part * y
