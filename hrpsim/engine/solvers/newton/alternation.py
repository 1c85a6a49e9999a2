# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Alternate Newton steps with a moderate penalty, sweeps over violated contacts, and clusters.

The assumed states (open, stick, slip) of a few contacts are often wrong. Examples are contacts that
have just met or share a load with neighbours. With a large penalty, wrong states would disturb all
other contacts. With a moderate penalty their effect is small. Sweeps over the violated contacts
find better states. Near a solution, the same is done for small problems of a few trees
(clusters.py). The penalty grows after each step with progress.
"""

from __future__ import annotations

import math

from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.engine.solvers.newton.active_sets import hold_states, step_with_states_held
from hrpsim.engine.solvers.newton.block_lu import factorise_lu
from hrpsim.engine.solvers.newton.clusters import JAMMED, solve_clusters
from hrpsim.engine.solvers.newton.constraint_lists import list_constraints
from hrpsim.engine.solvers.newton.local_sweeps import sweep_what_is_off
from hrpsim.engine.solvers.newton.matrix import write_matrix
from hrpsim.engine.solvers.newton.multipliers import (
    go_to_best,
    is_better,
    largest_error,
    note_multipliers,
    small_enough,
)
from hrpsim.engine.solvers.newton.newton_problem import NewtonSystem

# Penalty on what sticks, as a multiple of the least mass that a contact feels: at most; by how much
# it grows after a step that helped and falls after one that did not.
_MOST_PENALTY, _GROWTH, _DECLINE = 1e6, 10.0, 10.0

# Factorisations of the island at most; consecutive steps without progress, after which it ends.
_STEPS, _MISSES = 20, 5

# Sweeps after a step; over constraint blocks with errors above this share of the least error.
_SWEEPS, _OFF = 10, 0.1

# Error from which on clusters are solved [m/s]; below _ENOUGH tolerances a block is not violated.
_NEAR, _ENOUGH = 1e-2, 0.3

# Factor to the least error so far, above which the best multipliers are restored.
_FAR = 2.0


@inner_kernel
def alternate(
    tolerance: float,
    penalty: float,
    limit: int,
    best: float,
    system: NewtonSystem,
    part: NewtonSystem,
) -> tuple[int, float]:
    """Search for a solution, starting from the best multipliers.

    The work on clusters is counted as factorisations of the island. The search ends when a cluster
    would contain most of the island.

    Args:
        tolerance: accepted error [m/s].
        penalty: first penalty on sticking contacts, a multiple of the smallest mass.
        limit: largest number of factorisations.
        best: error of the best multipliers so far [m/s].
        system: problem of the island.
        part: arrays for the problem of one cluster.

    Returns:
        (number of factorisations, smallest error [m/s]).
    """
    go_to_best(system)
    list_constraints(system)
    sweep_what_is_off(_SWEEPS, _OFF * best, system)
    error = largest_error(system)
    if is_better(error, best, tolerance):
        best = error
        note_multipliers(system)
    else:
        go_to_best(system)
    steps, misses, work, more = 0, 0, 0, 0
    island_work = max(system.capacity[0].work, 1)
    while best > small_enough(tolerance, system) and misses < _MISSES and more != JAMMED:
        if steps >= min(_STEPS, limit - work // island_work):
            break
        hold_states(penalty, system)
        write_matrix(system)
        steps += 1
        if not factorise_lu(system.structure, system.upper, system.lower):
            break
        step_with_states_held(system)
        error = largest_error(system)
        if error > tolerance:
            sweep_what_is_off(_SWEEPS, _OFF * min(best, error), system)
            error = largest_error(system)
        if tolerance < error < _NEAR:
            least = max(_OFF * min(best, error), _ENOUGH * tolerance)
            more = solve_clusters(least, tolerance, system, part)
            work += max(more, 0)
            error = largest_error(system)
        if is_better(error, best, tolerance):
            best, misses, penalty = error, 0, min(penalty * _GROWTH, _MOST_PENALTY)
            note_multipliers(system)
            continue
        misses, penalty = misses + 1, penalty / _DECLINE
        if error > _FAR * best or error == math.inf:
            go_to_best(system)
    return steps + work // island_work, best
