# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The constraint problem of an island in the coordinates of its trees.

With the coordinates w, the velocities of the rows are v = v_free + G w. coulomb_law.py computes the
rows' impulses at these velocities. matrix.py has the matrix of Newton's method.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.fields import allocate, part, work
from hrpsim.engine.compile.kernel_types import Constraint, Entry, Index, Records, Row
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.solvers.elimination import COLUMN, COUNTS, ENTRY
from hrpsim.engine.solvers.newton.constraint_lists import WORD
from hrpsim.engine.solvers.newton.contact_blocks import NOTES
from hrpsim.engine.solvers.newton.coulomb_law import CONSTRAINT
from hrpsim.engine.solvers.newton.minimum_degree import (
    NodeGraph,
    clear_graph,
    connect_nodes,
    lowest_bit,
    new_node_graph,
    order_by_degree,
    word_count,
)
from hrpsim.engine.solvers.newton.second_order_cone import PAIR
from hrpsim.engine.solvers.newton.tree_coordinates import (
    NODE_TREE,
    add_arm,
    factorise_response,
    padded,
)
from hrpsim.engine.spatial.simd import LANES

# Multiplications of a contact in a Newton step apart from the factorisation, about.
_OF_CONSTRAINT = 1500

CAPACITY = np.dtype(
    [
        ("nodes", "i8"),  # trees
        ("constraints", "i8"),  # contacts, and single rows
        ("coordinates", "i8"),
        ("basis", "i8"),  # floats
        ("arms", "i8"),  # floats
        ("entries", "i8"),
        ("blocks", "i8"),  # floats
        ("work", "i8"),  # multiplications that a Newton step takes, about
        ("factorisations", "i8"),  # in this step of the world
        ("iteration_limit", "i8"),  # factorisations before a larger error suffices (multipliers)
    ]
)


class Columns(NamedTuple):
    """The block structure of the factor, in the form that block_lu.py requires."""

    counts: np.ndarray = work("1", dtype=COUNTS)
    columns: np.ndarray = work("nodes", dtype=COLUMN)
    entries: np.ndarray = work("entries", dtype=ENTRY)


class NewtonSystem(NamedTuple):
    """The arrays for the problem of one island.

    Vectors that kernels read in SIMD registers have spare entries at the end.
    """

    graph: NodeGraph
    capacity: np.ndarray = work(
        "1", "that the problem needs; where larger than its array, room is short", CAPACITY
    )
    trees: np.ndarray = work("nodes", dtype=NODE_TREE)
    node_of: np.ndarray = work("bodies", "node of a tree's root", "i8", fill=-1)
    chosen: np.ndarray = work("constraints", "first row of each block (near_contacts)", "i8")
    constraints: np.ndarray = work("constraints", "constraint blocks", CONSTRAINT)
    pairs: np.ndarray = work("constraints", dtype=PAIR)
    errors: np.ndarray = work("constraints", "of constraint blocks [m/s] (clusters)")
    at_trees: np.ndarray = work("2 constraints", "blocks at each tree (constraint_lists)", "i8")
    found: np.ndarray = work("2, words", "sets of constraint blocks (constraint_lists)", "u8")
    members: np.ndarray = work("nodes", "the trees of a cluster, then those around it", "i8")
    basis: np.ndarray = work("basis", "B of every tree (tree_coordinates)")
    arms: np.ndarray = work("arms + lanes", "J B of every row")
    notes: np.ndarray = work("notes constraints", "of contacts of two trees (contact_blocks)")
    structure: Columns = part(Columns)
    upper: np.ndarray = work("blocks + lanes", "the matrix, then its factors (block_lu)")
    lower: np.ndarray = work("blocks + lanes")
    point: np.ndarray = work("coordinates + lanes", "w")
    start: np.ndarray = work("coordinates", "w before a search")
    gradient: np.ndarray = work("coordinates + lanes")
    step: np.ndarray = work("coordinates + lanes", "change of w")


def new_newton_system(body_capacity: int, **room: int) -> NewtonSystem:
    """Return the arrays for problems with the trees of a number of bodies.

    Args:
        body_capacity: number of bodies.
        room: sizes of the arrays, by the field names of CAPACITY. Fields not given are 0.
    """
    sizes = {name: room.get(name, 0) for name in CAPACITY.names}
    sizes |= {"bodies": body_capacity, "lanes": LANES, "notes": NOTES}
    sizes["words"] = -(-sizes["constraints"] // WORD)
    return allocate(NewtonSystem, sizes, graph=new_node_graph(sizes["nodes"]))


def roomier_newton_system(system: NewtonSystem) -> NewtonSystem:
    """Return a system with twice the capacity that `system` requires."""
    room = _room(system)
    for name, size in room.items():
        if system.capacity[name][0] > size:
            room[name] = 2 * int(system.capacity[name][0])
    return new_newton_system(len(system.node_of), **room)


def as_roomy_newton_system(system: NewtonSystem, bodies: int | None = None) -> NewtonSystem:
    """Return a new system with the capacity of `system`, for a cluster or for more bodies.

    bodies: number of bodies. None: the number of `system`.
    """
    return new_newton_system(bodies or len(system.node_of), **_room(system))


def _room(system: NewtonSystem) -> dict[str, int]:
    """Return the capacity of a system's arrays, by the field names of CAPACITY."""
    return {
        "nodes": len(system.trees),
        "constraints": len(system.constraints),
        "coordinates": len(system.start),
        "basis": len(system.basis),
        "arms": len(system.arms) - LANES,
        "entries": len(system.structure.entries),
        "blocks": len(system.upper) - LANES,
    }


@inner_kernel
def write_problem(
    forest: Forest,
    constrained: ConstraintBodies,
    constrained_count: int,
    rows: Records[Row],
    contacts: int,
    system: NewtonSystem,
) -> bool:
    """Write the problem of the chosen rows. Return whether the arrays have room (`capacity`).

    The first `contacts` of the chosen rows belong to contacts.
    """
    _number_trees(forest, constrained, rows, system)
    if not _has_room_for_constraints(
        forest, constrained, constrained_count, rows, contacts, system
    ):
        return False
    _write_trees(constrained, system)
    for k in range(system.capacity[0].constraints):
        number, constraint = system.chosen[k], system.constraints[k]
        if k < contacts:
            _write_contact(rows[number], rows[number + 1], rows[number + 2], number, constraint)
        else:
            _write_row(rows[number], number, constraint)
    _write_arms(forest, constrained, rows, system)
    return write_structure(system)


@inlined_kernel
def _root(forest: Forest, constrained: ConstraintBodies, constraint_body: Index) -> int:
    """Return the root of the tree of a constraint body, -1 for none."""
    return (
        forest.bodies[constrained.bodies[constraint_body].body].root if constraint_body >= 0 else -1
    )


@inlined_kernel
def _number_trees(
    forest: Forest, constrained: ConstraintBodies, rows: Records[Row], system: NewtonSystem
) -> None:
    """Number the trees on which the chosen rows act."""
    node_of, count = system.node_of, 0
    for i in range(node_of.shape[0]):
        node_of[i] = -1
    for k in range(system.capacity[0].constraints):
        row = rows[system.chosen[k]]
        for constraint_body in (row.constrained_a, row.constrained_b):
            root = _root(forest, constrained, constraint_body)
            if root >= 0 and node_of[root] < 0:
                node_of[root] = count
                count += 1
    system.capacity[0].nodes = count


@inlined_kernel
def _has_room_for_constraints(
    forest: Forest,
    constrained: ConstraintBodies,
    constrained_count: int,
    rows: Records[Row],
    contacts: int,
    system: NewtonSystem,
) -> bool:
    """Write the capacity that trees and constraint blocks need at full rank.

    Returns:
        Whether the arrays suffice.
    """
    capacity, trees, node_of = system.capacity[0], system.trees, system.node_of
    capacity.coordinates = capacity.basis = capacity.arms = capacity.entries = capacity.blocks = 0
    if capacity.nodes > trees.shape[0]:
        return False
    _find_columns(forest, constrained, constrained_count, system)
    for node in range(capacity.nodes):
        capacity.coordinates += padded(trees[node].columns)
        capacity.basis += 2 * padded(trees[node].columns) ** 2
    for k in range(capacity.constraints):
        row, height = rows[system.chosen[k]], 3 if k < contacts else 1
        for constraint_body in (row.constrained_a, row.constrained_b if row.width_b > 0 else -1):
            if constraint_body >= 0:
                tree = trees[node_of[_root(forest, constrained, constraint_body)]]
                capacity.arms += height * padded(tree.columns)
    return (
        capacity.coordinates <= system.start.shape[0]
        and capacity.basis <= system.basis.shape[0]
        and capacity.arms <= system.arms.shape[0] - LANES
    )


@inlined_kernel
def _find_columns(
    forest: Forest, constrained: ConstraintBodies, constrained_count: int, system: NewtonSystem
) -> None:
    """Write the root of every tree, and the range of columns of its constraint bodies."""
    trees, node_of = system.trees, system.node_of
    for i in range(node_of.shape[0]):
        if node_of[i] >= 0:
            tree, support = trees[node_of[i]], constrained.supports[i]
            tree.root, tree.start, tree.columns = i, support.tree_start, 0
    for k in range(constrained_count):
        constraint_body = constrained.bodies[k]
        node = node_of[_root(forest, constrained, k)]
        if node >= 0:
            end = constraint_body.offset + (6 if constraint_body.dof < 0 else 1)
            trees[node].columns = max(trees[node].columns, end - trees[node].start)


@inlined_kernel
def _write_trees(constrained: ConstraintBodies, system: NewtonSystem) -> None:
    """Factorise the response of every tree."""
    coordinates = basis = 0
    for node in range(system.capacity[0].nodes):
        tree = system.trees[node]
        support = constrained.supports[tree.root]
        tree.basis, tree.first = basis, coordinates
        tree.rank = factorise_response(
            constrained.inverse_inertia,
            support.tree_block,
            support.tree_width,
            tree,
            system.basis,
            system.gradient,
        )
        coordinates += tree.rank
        basis += 2 * padded(tree.columns) ** 2
    system.capacity[0].coordinates = coordinates


@inlined_kernel
def _write_contact(normal: Row, x: Row, y: Row, number: Index, constraint: Constraint) -> None:
    """Write the friction coefficient, the bounds and the initial multipliers of a contact."""
    constraint.row, constraint.size, constraint.friction = number, 3, normal.friction
    constraint.lower, constraint.upper, constraint.compliance = 0.0, normal.upper, normal.compliance
    constraint.inverse_mass[0], constraint.inverse_mass[1] = normal.inverse_mass, x.inverse_mass
    constraint.inverse_mass[2] = y.inverse_mass
    largest = max(normal.inverse_mass, x.inverse_mass, y.inverse_mass)
    constraint.scale = 1.0 / largest if largest > 0.0 else 0.0
    constraint.multiplier[0], constraint.multiplier[1] = normal.impulse, x.impulse
    constraint.multiplier[2] = y.impulse


@inlined_kernel
def _write_row(row: Row, number: Index, constraint: Constraint) -> None:
    """Write the bounds, the compliance and the initial multiplier of a single row."""
    constraint.row, constraint.size, constraint.friction = number, 1, 0.0
    constraint.lower, constraint.upper, constraint.compliance = row.lower, row.upper, row.compliance
    constraint.inverse_mass[0] = row.inverse_mass
    moves = row.inverse_mass > 0.0 and row.lower < row.upper
    constraint.scale = 1.0 / row.inverse_mass if moves else 0.0
    constraint.multiplier[0] = row.impulse


@inlined_kernel
def _write_arms(
    forest: Forest, constrained: ConstraintBodies, rows: Records[Row], system: NewtonSystem
) -> None:
    """Write the arm J B of every row, and the trees on which the row acts."""
    used = 0
    for k in range(system.capacity[0].constraints):
        constraint = system.constraints[k]
        row = rows[constraint.row]
        constraint.node_a = system.node_of[_root(forest, constrained, row.constrained_a)]
        constraint.node_b = (
            system.node_of[_root(forest, constrained, row.constrained_b)] if row.width_b > 0 else -1
        )
        tree = system.trees[constraint.node_a]
        constraint.first_a, constraint.rank_a = tree.first, tree.rank
        constraint.arm_a, constraint.arm_b, constraint.block = (
            used,
            used + constraint.size * tree.rank,
            -1,
        )
        used = constraint.arm_b
        if constraint.node_b >= 0:
            other = system.trees[constraint.node_b]
            constraint.first_b, constraint.rank_b = other.first, other.rank
            used += constraint.size * other.rank
        for at in range(constraint.arm_a, used):
            system.arms[at] = 0.0
        for r in range(constraint.size):
            row = rows[constraint.row + r]
            arm = constraint.arm_a + r * tree.rank
            add_arm(row.J_a, row.at_a, tree, system.basis, system.arms, arm)
            if constraint.node_b >= 0:
                arm = constraint.arm_b + r * constraint.rank_b
                add_arm(row.J_b, row.at_b, other, system.basis, system.arms, arm)
            elif row.at_b >= 0:
                add_arm(row.J_b, row.at_b, tree, system.basis, system.arms, arm)


@inner_kernel
def write_structure(system: NewtonSystem) -> bool:
    """Order the trees, and write the structure of the factor and the start of each block.

    Returns:
        Whether the arrays have room.
    """
    capacity, graph = system.capacity[0], system.graph
    clear_graph(graph, capacity.nodes)
    for k in range(capacity.constraints):
        constraint = system.constraints[k]
        if constraint.node_b >= 0:
            connect_nodes(graph, constraint.node_a, constraint.node_b)
    order_by_degree(graph, capacity.nodes)
    columns, entries = system.structure.columns, system.structure.entries
    system.structure.counts[0].node_count = capacity.nodes
    used, space, work = 0, 0, _OF_CONSTRAINT * capacity.constraints
    for k in range(capacity.nodes):
        node = graph.order[k]
        tree, column = system.trees[node], columns[k]
        column.node, column.first_row, column.size = node, tree.first, tree.rank
        column.block, column.start = space, used
        space += tree.rank * tree.rank
        for word in range(word_count(capacity.nodes)):
            bits = graph.neighbours[node, word]
            while bits != 0:
                later = 64 * word + lowest_bit(bits)
                bits &= bits - np.uint64(1)
                if used < entries.shape[0]:
                    _insert(entries, column.start, used, graph.position[later])
                used += 1
        column.end = min(used, entries.shape[0])
        width = 0
        for e in range(column.start, column.end):
            entries[e].block = space
            rank = system.trees[graph.order[entries[e].column]].rank
            space += tree.rank * rank
            width += rank
        work += tree.rank * (tree.rank + width) * (tree.rank + width)
    capacity.entries, capacity.blocks, capacity.work = used, space, work
    if used > entries.shape[0] or space > system.upper.shape[0] - LANES:
        return False
    _find_blocks(system)
    return True


@inlined_kernel
def _insert(entries: Records[Entry], start: Index, end: Index, position: int) -> None:
    """Insert a column into the entries from `start` to before `end`, in ascending order.

    The entry at `end` must be free.
    """
    at = end
    while at > start and entries[at - 1].column > position:
        entries[at].column = entries[at - 1].column
        at -= 1
    entries[at].column = position


@inlined_kernel
def _find_blocks(system: NewtonSystem) -> None:
    """Write the index of the block that couples the two trees of every constraint block."""
    position, before_a, before_b, block = system.graph.position, -1, -1, -1
    for k in range(system.capacity[0].constraints):
        constraint = system.constraints[k]
        if constraint.node_b < 0:
            continue
        if constraint.node_a != before_a or constraint.node_b != before_b:
            before_a, before_b = constraint.node_a, constraint.node_b
            i, j = position[constraint.node_a], position[constraint.node_b]
            column = system.structure.columns[min(i, j)]
            e = column.start
            while system.structure.entries[e].column < max(i, j):
                e += 1
            block = system.structure.entries[e].block
        constraint.block = block
