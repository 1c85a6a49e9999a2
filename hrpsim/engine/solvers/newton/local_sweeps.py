# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Gauss-Seidel sweeps over the few violated constraint blocks of an island.

After a Newton step with fixed states, most contacts nearly obey Coulomb's law. The contacts that
violate the law are solved one by one, as in projected Gauss-Seidel, in the coordinates w of the
trees. These sweeps find states that are consistent among neighbours.
"""

from __future__ import annotations

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Constraint
from hrpsim.engine.constraints.friction_laws import disk_scale
from hrpsim.engine.solvers.newton.constraint_lists import (
    WORD,
    add_constraints_at,
    bit_of,
    clear_set,
    words_of,
)
from hrpsim.engine.solvers.newton.coulomb_law import law_error
from hrpsim.engine.solvers.newton.matrix import add_push, motion_along
from hrpsim.engine.solvers.newton.minimum_degree import highest_bit, lowest_bit
from hrpsim.engine.solvers.newton.multipliers import push_by_multipliers
from hrpsim.engine.solvers.newton.newton_problem import NewtonSystem


@inlined_kernel
def _suspect_all(system: NewtonSystem) -> None:
    """Put all constraint blocks into the set to be checked, and mark all trees as unchanged."""
    count, suspects = system.capacity[0].constraints, system.found[0]
    clear_set(system.found[1], count)
    for word in range(words_of(count)):
        suspects[word] = ~np.uint64(0)
    if count % WORD != 0:
        suspects[words_of(count) - 1] = bit_of(count % WORD) - np.uint64(1)
    for node in range(system.capacity[0].nodes):
        system.trees[node].moved = 0


@inner_kernel
def sweep_what_is_off(sweeps: int, least: float, system: NewtonSystem) -> None:
    """Solve the violated constraint blocks one by one, forward and backward, several times.

    The velocities of the constraint blocks must match the motion w. After the sweeps, they match
    the new motion. A block is not checked again if it was not violated and its trees have not
    changed since. Call `list_constraints` before.

    Args:
        sweeps: number of sweeps.
        least: error above which a block is violated [m/s].
        system: problem of the island.
    """
    suspects, next_suspects = system.found[0], system.found[1]
    words = words_of(system.capacity[0].constraints)
    _suspect_all(system)
    for turn in range(sweeps):
        any_violated, back = False, turn % 2 == 1
        for step in range(words):
            word = words - 1 - step if back else step
            left = suspects[word]
            while left != 0:
                bit = highest_bit(left) if back else lowest_bit(left)
                if _look(system.constraints[WORD * word + bit], least, system):
                    any_violated = True
                # Blocks just pushed are checked in this sweep, too, if they come later.
                earlier = bit_of(bit) - np.uint64(1)
                left = suspects[word] & (earlier if back else ~(earlier | bit_of(bit)))
        if not any_violated:
            break
        for word in range(words):
            suspects[word], next_suspects[word] = next_suspects[word], np.uint64(0)
    push_by_multipliers(system)


@inner_kernel
def sweep_all(sweeps: int, system: NewtonSystem) -> None:
    """Solve all constraint blocks one by one, `sweeps` times."""
    for _ in range(sweeps):
        for k in range(system.capacity[0].constraints):
            constraint = system.constraints[k]
            if constraint.scale > 0.0:
                _find_velocity(constraint, system)
                _solve(constraint, system)
    push_by_multipliers(system)


@inlined_kernel
def _look(constraint: Constraint, least: float, system: NewtonSystem) -> bool:
    """Solve a constraint block if its error exceeds `least`. Return whether the block was solved.

    The blocks at the same trees are then checked as well.
    """
    trees, first, second = system.trees, constraint.node_a, constraint.node_b
    if trees[first].moved != 0 or (second >= 0 and trees[second].moved != 0):
        _find_velocity(constraint, system)
    if constraint.scale <= 0.0 or law_error(constraint) <= least:
        return False
    _solve(constraint, system)
    for node in (first, second):
        if node >= 0:
            trees[node].moved = 1
            add_constraints_at(trees[node], system.at_trees, system.found[0])
            add_constraints_at(trees[node], system.at_trees, system.found[1])
    return True


@inlined_kernel
def _solve(constraint: Constraint, system: NewtonSystem) -> None:
    """Write the impulses that solve a constraint block for fixed impulses of all other blocks."""
    multiplier, velocity, change = constraint.multiplier, constraint.velocity, constraint.impulse
    change[0] = change[1] = change[2] = 0.0
    if constraint.inverse_mass[0] > 0.0:
        short = -velocity[0] - constraint.compliance * multiplier[0]
        unbounded = multiplier[0] + short / constraint.inverse_mass[0]
        change[0] = min(max(unbounded, constraint.lower), constraint.upper) - multiplier[0]
        if change[0] != 0.0:
            multiplier[0] += change[0]
            add_push(constraint, system, change, 1.0, system.point)
            _find_velocity(constraint, system)
    inverse_mass = max(constraint.inverse_mass[1], constraint.inverse_mass[2])
    if constraint.size == 3 and inverse_mass > 0.0:
        x = multiplier[1] - velocity[1] / inverse_mass
        y = multiplier[2] - velocity[2] / inverse_mass
        part = disk_scale(constraint.friction * multiplier[0], x, y)
        change[0], change[1], change[2] = 0.0, part * x - multiplier[1], part * y - multiplier[2]
        multiplier[1], multiplier[2] = part * x, part * y
        add_push(constraint, system, change, 1.0, system.point)


@inlined_kernel
def _find_velocity(constraint: Constraint, system: NewtonSystem) -> None:
    """Write the velocity of a constraint block at the motion w."""
    motion_along(constraint, system, system.point, constraint.step)
    for r in range(constraint.size):
        constraint.velocity[r] = constraint.free[r] + constraint.step[r]
