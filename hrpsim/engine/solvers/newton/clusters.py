# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Solve the few violated contacts of an island in clusters, with all other impulses fixed.

Near a solution of many hundred contacts, only the states of a few contacts and their neighbours are
wrong. A cluster is a set of trees that violated constraint blocks connect. All constraint blocks at
these trees are solved as a separate problem, which takes microseconds. A Newton step of the whole
island with the states found then adjusts all other contacts (a nonlinear Schwarz method, Cai &
Keyes 2002). Clusters do not help if violated blocks connect most of the island or a hundred trees,
as in a jammed pile.
"""

from __future__ import annotations

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Vector
from hrpsim.engine.solvers.newton.active_sets import try_active_sets
from hrpsim.engine.solvers.newton.constraint_lists import (
    add_constraints_at,
    clear_set,
    next_constraint,
)
from hrpsim.engine.solvers.newton.coulomb_law import law_error
from hrpsim.engine.solvers.newton.interior_point import follow_central_path
from hrpsim.engine.solvers.newton.matrix import add_push, motion_along
from hrpsim.engine.solvers.newton.multiplier_method import grow_multipliers
from hrpsim.engine.solvers.newton.multipliers import (
    find_motion,
    go_to_best,
    largest_error,
    note_multipliers,
    push_by_multipliers,
)
from hrpsim.engine.solvers.newton.newton_problem import NewtonSystem, write_structure

# Clusters that are solved at once, at most; factorisations of each.
_CLUSTERS, _LIMIT = 50, 60

# First penalty of the multipliers of a cluster.
_PENALTY = 1e3

# Share of the island's trees that a cluster may have, and how many.
_MOST, _MOST_TREES = 0.5, 100.0

JAMMED = -1  # work of a solution that was not tried


@inner_kernel
def solve_clusters(least: float, tolerance: float, system: NewtonSystem, part: NewtonSystem) -> int:
    """Solve the clusters of all constraint blocks with errors above `least`, worst first.

    Call `list_constraints` before.

    Args:
        least: error above which a constraint block counts as violated [m/s].
        tolerance: accepted error [m/s].
        system: problem of the island.
        part: arrays for the problem of one cluster.

    Returns:
        The approximate number of multiplications, or JAMMED if the worst cluster has too many
        trees.
    """
    trees, work = system.trees, JAMMED
    for node in range(system.capacity[0].nodes):
        trees[node].part, trees[node].is_core, trees[node].solved = -1, 0, 0
    for k in range(system.capacity[0].constraints):
        system.errors[k] = law_error(system.constraints[k])
    for _ in range(_CLUSTERS):
        worst = _worst(least, system)
        if worst < 0:
            break
        core = _mark_cluster(worst, least, system)
        count = _write_part(core, system, part) if core > 0 else 0
        if count == 0:
            break
        work = max(work, 0) + _solve_part(tolerance, part) * part.capacity[0].work
        _take_from_part(count, system, part)
    push_by_multipliers(system)
    return work


@inlined_kernel
def _worst(least: float, system: NewtonSystem) -> int:
    """Return the block with the largest error above `least`, or -1 for none.

    Blocks whose trees were all in a cluster already do not count.
    """
    worst, most = -1, least
    for k in range(system.capacity[0].constraints):
        if system.errors[k] > most:
            constraint = system.constraints[k]
            if not (
                system.trees[constraint.node_a].solved
                and (constraint.node_b < 0 or system.trees[constraint.node_b].solved)
            ):
                worst, most = k, system.errors[k]
    return worst


@inlined_kernel
def _mark_cluster(worst: int, least: float, system: NewtonSystem) -> int:
    """List the trees of the cluster around the constraint block `worst` in `members`.

    Returns:
        The number of trees, 0 if there are too many.
    """
    trees, members = system.trees, system.members
    most = max(2.0, min(_MOST * system.capacity[0].nodes, _MOST_TREES))
    count = _join(system.constraints[worst].node_a, 0, system)
    count = _join(system.constraints[worst].node_b, count, system)
    seen = 0
    while seen < count <= most:
        tree = trees[members[seen]]
        seen += 1
        for index in range(tree.constraints_start, tree.constraints_end):
            k = system.at_trees[index]
            if system.errors[k] > least:
                count = _join(system.constraints[k].node_a, count, system)
                count = _join(system.constraints[k].node_b, count, system)
    return count if count <= most else 0


@inlined_kernel
def _join(node: Index, count: int, system: NewtonSystem) -> int:
    """Add a tree to a cluster of `count` trees, and return the new number of trees."""
    if node < 0 or system.trees[node].is_core:
        return count
    system.trees[node].is_core = system.trees[node].solved = 1
    system.members[count] = node
    return count + 1


@inner_kernel
def _write_part(core: Index, system: NewtonSystem, part: NewtonSystem) -> int:
    """Write the problem of the blocks at the first `core` members, with all other impulses fixed.

    Trees around the cluster move too, and become members. The field `row` of a constraint block is
    the block's number in the island.

    Returns:
        The number of members, 0 if there was no room.
    """
    trees, members, bits = system.trees, system.members, system.found[0]
    clear_set(bits, system.capacity[0].constraints)
    for index in range(core):
        add_constraints_at(trees[members[index]], system.at_trees, bits)
    nodes = coordinates = arms = count = 0
    members_count = core
    constraints = system.capacity[0].constraints
    k = next_constraint(bits, 0, constraints)
    while k < constraints:
        constraint = system.constraints[k]
        part.constraints[count] = constraint
        copy = part.constraints[count]
        copy.row = k
        for node in (constraint.node_a, constraint.node_b):
            if node >= 0 and trees[node].part < 0:
                trees[node].part = nodes
                part.trees[nodes].rank, part.trees[nodes].first = trees[node].rank, coordinates
                coordinates += trees[node].rank
                nodes += 1
                if not trees[node].is_core:
                    members[members_count] = node
                    members_count += 1
        copy.node_a = trees[constraint.node_a].part
        copy.first_a = part.trees[copy.node_a].first
        copy.arm_a = arms
        arms = _copy_arm(
            system.arms, constraint.arm_a, constraint.size * constraint.rank_a, part.arms, arms
        )
        copy.arm_b = arms
        if constraint.node_b >= 0:
            copy.node_b = trees[constraint.node_b].part
            copy.first_b = part.trees[copy.node_b].first
            arms = _copy_arm(
                system.arms, constraint.arm_b, constraint.size * constraint.rank_b, part.arms, arms
            )
        count += 1
        k = next_constraint(bits, k + 1, constraints)
    capacity = part.capacity[0]
    capacity.nodes, capacity.constraints, capacity.coordinates, capacity.arms = (
        nodes,
        count,
        coordinates,
        arms,
    )
    capacity.factorisations, capacity.iteration_limit = 0, _LIMIT
    return members_count if write_structure(part) else 0


@inlined_kernel
def _copy_arm(arms: Vector, at: Index, size: int, out: Vector, index: Index) -> int:
    """Copy a constraint block's arm (J B of its rows), and return the index after the copy."""
    for k in range(size):
        out[index + k] = arms[at + k]
    return index + size


@inner_kernel
def _solve_part(tolerance: float, part: NewtonSystem) -> int:
    """Solve a cluster's problem as far as possible, and return the number of factorisations."""
    find_motion(part)
    for k in range(part.capacity[0].constraints):
        constraint = part.constraints[k]
        motion_along(constraint, part, part.point, constraint.step)
        for r in range(constraint.size):
            constraint.free[r] = constraint.velocity[r] - constraint.step[r]
    note_multipliers(part)
    best = largest_error(part)
    count, best = try_active_sets(tolerance, _LIMIT, 2, 0, best, part)
    if best > tolerance:
        more, best = follow_central_path(tolerance, _LIMIT - count, best, part)
        count += more
        if more > 0:
            go_to_best(part)
            more, best = try_active_sets(tolerance, _LIMIT - count, 1, 0, best, part)
            count += more
    if best > tolerance:
        more, best = grow_multipliers(tolerance, _PENALTY, _LIMIT - count, best, part)
        count += more
    return count


@inlined_kernel
def _take_from_part(count: int, system: NewtonSystem, part: NewtonSystem) -> None:
    """Copy the impulses of a solved cluster to the island, and dissolve the cluster.

    The errors of the constraint blocks at the cluster's members are updated.
    """
    for k in range(part.capacity[0].constraints):
        solved = part.constraints[k]
        constraint, change = system.constraints[solved.row], solved.step
        for r in range(constraint.size):
            change[r] = solved.best[r] - constraint.multiplier[r]
            constraint.multiplier[r] = solved.best[r]
        add_push(constraint, system, change, 1.0, system.point)
    bits = system.found[0]
    for index in range(count):
        tree = system.trees[system.members[index]]
        tree.part, tree.is_core = -1, 0
        add_constraints_at(tree, system.at_trees, bits)
    constraints = system.capacity[0].constraints
    k = next_constraint(bits, 0, constraints)
    while k < constraints:
        constraint = system.constraints[k]
        motion_along(constraint, system, system.point, constraint.velocity)
        for r in range(constraint.size):
            constraint.velocity[r] += constraint.free[r]
        system.errors[k] = law_error(constraint)
        k = next_constraint(bits, k + 1, constraints)
