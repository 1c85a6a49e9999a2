# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sweeps over the few units of an island that are off, in the coordinates of its trees.

After a step that held the sides of contacts, most obey their laws nearly. Solving the others in
turn, as projected Gauss-Seidel does, finds sides that fit each other among neighbours.
"""

from __future__ import annotations

import math

from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.solvers.newton.coulomb_law import law_error
from hrpsim.solvers.newton.matrix import add_push, motion_along
from hrpsim.solvers.newton.multipliers import push_by_multipliers


@inner_kernel
def sweep_what_is_off(sweeps, least, system):
    """Solve units whose error is more than `least` [m/s], forth and back, as often as asked for.

    The units' velocities are those at w, before and after.
    """
    trees, units = system.trees, system.units
    for node in range(system.needs[0].nodes):
        trees[node].moved = -1
    count = system.needs[0].units
    for turn in range(sweeps):
        found = False
        for place in range(count):
            unit = units[count - 1 - place if turn % 2 == 1 else place]
            moved = trees[unit.node_a].moved
            if unit.node_b >= 0:
                moved = max(moved, trees[unit.node_b].moved)
            # What was not off, and has not been pushed since, is not off.
            if turn > 0 and moved < turn - 1:
                continue
            if moved >= 0:
                _find_velocity(unit, system)
            if unit.scale <= 0.0 or law_error(unit) <= least:
                continue
            _solve(unit, system)
            found = True
            trees[unit.node_a].moved = turn
            if unit.node_b >= 0:
                trees[unit.node_b].moved = turn
        if not found:
            break
    push_by_multipliers(system)


@inlined_kernel
def _solve(unit, system):
    """Give a unit the impulses that it alone would have."""
    multiplier, velocity, change = unit.multiplier, unit.velocity, unit.impulse
    change[0] = change[1] = change[2] = 0.0
    if unit.inverse_mass[0] > 0.0:
        short = -velocity[0] - unit.compliance * multiplier[0]
        wanted = multiplier[0] + short / unit.inverse_mass[0]
        change[0] = min(max(wanted, unit.lower), unit.upper) - multiplier[0]
        multiplier[0] += change[0]
        add_push(unit, system, change, 1.0, system.point)
    inverse_mass = max(unit.inverse_mass[1], unit.inverse_mass[2])
    if unit.size == 3 and inverse_mass > 0.0:
        _find_velocity(unit, system)
        x = multiplier[1] - velocity[1] / inverse_mass
        y = multiplier[2] - velocity[2] / inverse_mass
        size, limit = math.sqrt(x * x + y * y), unit.friction * multiplier[0]
        part = limit / size if size > limit else 1.0
        change[0], change[1], change[2] = 0.0, part * x - multiplier[1], part * y - multiplier[2]
        multiplier[1], multiplier[2] = part * x, part * y
        add_push(unit, system, change, 1.0, system.point)


@inlined_kernel
def _find_velocity(unit, system):
    """Write the velocity of a unit at w."""
    motion_along(unit, system, system.point, unit.step)
    for r in range(unit.size):
        unit.velocity[r] = unit.free[r] + unit.step[r]
