# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sweeps over the few units of an island that are off, in the coordinates of its trees.

After a step that held the sides of contacts, most obey their laws nearly. Solving the others in
turn, as projected Gauss-Seidel does, finds sides that fit each other among neighbours.
"""

from __future__ import annotations

import numpy as np

from hrpsim.constraints.friction_laws import disk_scale
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.solvers.newton.coulomb_law import law_error
from hrpsim.solvers.newton.matrix import add_push, motion_along
from hrpsim.solvers.newton.minimum_degree import highest_bit, lowest_bit
from hrpsim.solvers.newton.multipliers import push_by_multipliers
from hrpsim.solvers.newton.unit_lists import WORD, add_units_at, bit_of, clear_set, words_of


@inner_kernel
def sweep_what_is_off(sweeps, least, system):
    """Solve units whose error is more than `least` [m/s], forth and back, as often as asked for.

    The units' velocities are those at w, before and after. What was not off, and has not been
    pushed since, is not looked at again. `list_units` was called before.
    """
    count, trees, now, then = system.needs[0].units, system.trees, system.found[0], system.found[1]
    words = words_of(count)
    clear_set(then, count)
    for word in range(words):
        now[word] = ~np.uint64(0)
    if count % WORD != 0:
        now[words - 1] = bit_of(count % WORD) - np.uint64(1)
    for node in range(system.needs[0].nodes):
        trees[node].moved = 0
    for turn in range(sweeps):
        found, back = False, turn % 2 == 1
        for place in range(words):
            word = words - 1 - place if back else place
            left = now[word]
            while left != 0:
                bit = highest_bit(left) if back else lowest_bit(left)
                found = _look(system.units[WORD * word + bit], least, system) or found
                # What was just pushed is looked at in this sweep, too, if it comes later.
                earlier = bit_of(bit) - np.uint64(1)
                left = now[word] & (earlier if back else ~(earlier | bit_of(bit)))
        if not found:
            break
        for word in range(words):
            now[word], then[word] = then[word], np.uint64(0)
    push_by_multipliers(system)


@inlined_kernel
def _look(unit, least, system):
    """Solve a unit if it is off; let those at its trees be looked at. Return whether it was."""
    trees, first, second = system.trees, unit.node_a, unit.node_b
    if trees[first].moved != 0 or (second >= 0 and trees[second].moved != 0):
        _find_velocity(unit, system)
    if unit.scale <= 0.0 or law_error(unit) <= least:
        return False
    _solve(unit, system)
    for node in (first, second):
        if node >= 0:
            trees[node].moved = 1
            add_units_at(trees[node], system.at_trees, system.found[0])
            add_units_at(trees[node], system.at_trees, system.found[1])
    return True


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
        part = disk_scale(unit.friction * multiplier[0], x, y)
        change[0], change[1], change[2] = 0.0, part * x - multiplier[1], part * y - multiplier[2]
        multiplier[1], multiplier[2] = part * x, part * y
        add_push(unit, system, change, 1.0, system.point)


@inlined_kernel
def _find_velocity(unit, system):
    """Write the velocity of a unit at w."""
    motion_along(unit, system, system.point, unit.step)
    for r in range(unit.size):
        unit.velocity[r] = unit.free[r] + unit.step[r]
