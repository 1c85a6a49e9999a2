# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The constraint problem of an island in the coordinates of its trees: who pushes whom, and how.

With w the coordinates, v = v_free + G w are the velocities of the rows. What the rows answer to
them, and the matrix of Newton's method, are in `coulomb_law` and `matrix`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.solvers.elimination import COLUMN, COUNTS, ENTRY
from hrpsim.solvers.newton.contact_blocks import NOTES
from hrpsim.solvers.newton.coulomb_law import UNIT
from hrpsim.solvers.newton.minimum_degree import (
    NodeGraph,
    clear_graph,
    connect_nodes,
    lowest_bit,
    new_node_graph,
    order_by_degree,
    word_count,
)
from hrpsim.solvers.newton.second_order_cone import PAIR
from hrpsim.solvers.newton.tree_coordinates import NODE_TREE, add_arm, factorise_response
from hrpsim.solvers.newton.unit_lists import WORD
from hrpsim.spatial.simd import LANES

# Multiplications that a contact takes in a Newton step beside the factorisation, about.
_OF_UNIT = 1500

NEEDS = np.dtype(
    [
        ("nodes", "i8"),  # trees
        ("units", "i8"),  # contacts, and rows that stand by themselves
        ("coordinates", "i8"),
        ("basis", "i8"),  # floats
        ("arms", "i8"),  # floats
        ("entries", "i8"),
        ("blocks", "i8"),  # floats
        ("work", "i8"),  # multiplications that a Newton step takes, about
        ("factorisations", "i8"),  # in this step of the world
        ("patience", "i8"),  # factorisations after which less is asked for (multipliers)
    ]
)


class Columns(NamedTuple):
    """The structure of the factor, as `block_lu` wants it."""

    counts: np.ndarray  # (1,) COUNTS
    columns: np.ndarray  # (node capacity,) COLUMN
    entries: np.ndarray  # (entry capacity,) ENTRY


class NewtonSystem(NamedTuple):
    """Room for the problem of one island."""

    needs: np.ndarray  # (1,) NEEDS of the present problem; what is larger than its array lacks room
    trees: np.ndarray  # (node capacity,) NODE_TREE
    node_of: np.ndarray  # (body capacity,) node of a tree's root
    chosen: np.ndarray  # (unit capacity,) first row of every unit (near_contacts)
    units: np.ndarray  # (unit capacity,) UNIT
    pairs: np.ndarray  # (unit capacity,) PAIR
    errors: np.ndarray  # (unit capacity,) how far units are off [m/s] (clusters)
    at_trees: np.ndarray  # (2 unit capacity,) the units at each tree (unit_lists)
    found: np.ndarray  # (2, words) u8, sets of units (unit_lists)
    members: np.ndarray  # (node capacity,) the trees of a cluster, then those around it
    basis: np.ndarray  # B of every tree (tree_coordinates)
    arms: np.ndarray  # J B of every row
    notes: np.ndarray  # of the contacts of two trees (contact_blocks)
    graph: NodeGraph
    structure: Columns
    upper: np.ndarray  # (block space + LANES,) the matrix, then its factors (block_lu)
    lower: np.ndarray
    point: np.ndarray  # (coordinate capacity + LANES,) w
    start: np.ndarray  # (coordinate capacity,) w before a search
    gradient: np.ndarray  # (coordinate capacity + LANES,)
    step: np.ndarray  # (coordinate capacity + LANES,) change of w


def new_newton_system(body_capacity: int, **room: int) -> NewtonSystem:
    """Return room for trees of so many bodies; `room` are fields of NEEDS, otherwise 0."""
    needs = {name: room.get(name, 0) for name in NEEDS.names}
    nodes, coordinates, blocks = needs["nodes"], needs["coordinates"], needs["blocks"]
    counts = np.zeros(1, dtype=COUNTS)
    return NewtonSystem(
        needs=np.zeros(1, dtype=NEEDS),
        trees=np.zeros(nodes, dtype=NODE_TREE),
        node_of=np.full(body_capacity, -1, dtype=np.int64),
        chosen=np.zeros(needs["units"], dtype=np.int64),
        units=np.zeros(needs["units"], dtype=UNIT),
        pairs=np.zeros(needs["units"], dtype=PAIR),
        errors=np.zeros(needs["units"]),
        at_trees=np.zeros(2 * needs["units"], dtype=np.int64),
        found=np.zeros((2, -(-needs["units"] // WORD)), dtype=np.uint64),
        members=np.zeros(nodes, dtype=np.int64),
        basis=np.zeros(needs["basis"]),
        arms=np.zeros(needs["arms"] + LANES),
        notes=np.zeros(needs["units"] * NOTES),
        graph=new_node_graph(nodes),
        structure=Columns(
            counts, np.zeros(nodes, dtype=COLUMN), np.zeros(needs["entries"], dtype=ENTRY)
        ),
        upper=np.zeros(blocks + LANES),
        lower=np.zeros(blocks + LANES),
        point=np.zeros(coordinates + LANES),
        start=np.zeros(coordinates),
        gradient=np.zeros(coordinates + LANES),
        step=np.zeros(coordinates + LANES),
    )


def roomier_newton_system(system: NewtonSystem) -> NewtonSystem:
    """Return a system with twice the room that the needs of this one ask for."""
    room = _room(system)
    for name, size in room.items():
        if system.needs[name][0] > size:
            room[name] = 2 * int(system.needs[name][0])
    return new_newton_system(len(system.node_of), **room)


def as_roomy_newton_system(system: NewtonSystem) -> NewtonSystem:
    """Return a system with as much room as this one, for what is part of its problem."""
    return new_newton_system(len(system.node_of), **_room(system))


def _room(system: NewtonSystem) -> dict[str, int]:
    """Return the room of a system by fields of NEEDS."""
    return {
        "nodes": len(system.trees),
        "units": len(system.units),
        "coordinates": len(system.start),
        "basis": len(system.basis),
        "arms": len(system.arms) - LANES,
        "entries": len(system.structure.entries),
        "blocks": len(system.upper) - LANES,
    }


@inner_kernel
def write_problem(forest, sites, site_count, rows, contacts, system):
    """Write the problem of the chosen rows, of which the first `contacts` are of contacts.

    Returns whether there was room for it (see `needs`).
    """
    _number_trees(forest, sites, rows, system)
    if not _has_room_for_units(forest, sites, site_count, rows, contacts, system):
        return False
    _write_trees(sites, system)
    for k in range(system.needs[0].units):
        number, unit = system.chosen[k], system.units[k]
        if k < contacts:
            _write_contact(rows[number], rows[number + 1], rows[number + 2], number, unit)
        else:
            _write_row(rows[number], number, unit)
    _write_arms(forest, sites, rows, system)
    return write_structure(system)


@inlined_kernel
def _root(forest, sites, site):
    """Return the root of the tree of a site, -1 for none."""
    return forest.bodies[sites.sites[site].body].root if site >= 0 else -1


@inlined_kernel
def _number_trees(forest, sites, rows, system):
    """Number the trees that the chosen rows push."""
    node_of, count = system.node_of, 0
    for i in range(node_of.shape[0]):
        node_of[i] = -1
    for k in range(system.needs[0].units):
        row = rows[system.chosen[k]]
        for site in (row.site_a, row.site_b):
            root = _root(forest, sites, site)
            if root >= 0 and node_of[root] < 0:
                node_of[root] = count
                count += 1
    system.needs[0].nodes = count


@inlined_kernel
def _has_room_for_units(forest, sites, site_count, rows, contacts, system):
    """Count what trees and units need, ranks taken to be whole; return whether there is room."""
    needs, trees, node_of = system.needs[0], system.trees, system.node_of
    needs.coordinates = needs.basis = needs.arms = needs.entries = needs.blocks = 0
    if needs.nodes > trees.shape[0]:
        return False
    for i in range(node_of.shape[0]):
        if node_of[i] >= 0:
            tree, support = trees[node_of[i]], sites.supports[i]
            tree.root, tree.start, tree.columns = i, support.tree_start, 0
    for k in range(site_count):
        site = sites.sites[k]
        node = node_of[_root(forest, sites, k)]
        if node >= 0:
            end = site.offset + (6 if site.dof < 0 else 1)
            trees[node].columns = max(trees[node].columns, end - trees[node].start)
    for node in range(needs.nodes):
        needs.coordinates += trees[node].columns
        needs.basis += trees[node].columns * trees[node].columns
    for k in range(needs.units):
        row, height = rows[system.chosen[k]], 3 if k < contacts else 1
        needs.arms += height * trees[node_of[_root(forest, sites, row.site_a)]].columns
        if row.width_b > 0:
            needs.arms += height * trees[node_of[_root(forest, sites, row.site_b)]].columns
    return (
        needs.coordinates <= system.start.shape[0]
        and needs.basis <= system.basis.shape[0]
        and needs.arms <= system.arms.shape[0] - LANES
    )


@inlined_kernel
def _write_trees(sites, system):
    """Factorise the response of every tree."""
    coordinates = basis = 0
    for node in range(system.needs[0].nodes):
        tree = system.trees[node]
        support = sites.supports[tree.root]
        tree.basis, tree.first = basis, coordinates
        tree.rank = factorise_response(
            sites.inverse_inertia,
            support.tree_block,
            support.tree_width,
            tree.columns,
            system.basis,
            basis,
            system.gradient,
        )
        coordinates += tree.rank
        basis += tree.rank * tree.columns
    system.needs[0].coordinates = coordinates


@inlined_kernel
def _write_contact(normal, x, y, number, unit):
    """Write what the law needs to know of a contact."""
    unit.row, unit.size, unit.friction = number, 3, normal.friction
    unit.lower, unit.upper, unit.compliance = 0.0, normal.upper, normal.compliance
    unit.inverse_mass[0], unit.inverse_mass[1] = normal.inverse_mass, x.inverse_mass
    unit.inverse_mass[2] = y.inverse_mass
    largest = max(normal.inverse_mass, x.inverse_mass, y.inverse_mass)
    unit.scale = 1.0 / largest if largest > 0.0 else 0.0
    unit.multiplier[0], unit.multiplier[1] = normal.impulse, x.impulse
    unit.multiplier[2] = y.impulse


@inlined_kernel
def _write_row(row, number, unit):
    """Write what the law needs to know of a row that stands by itself."""
    unit.row, unit.size, unit.friction = number, 1, 0.0
    unit.lower, unit.upper, unit.compliance = row.lower, row.upper, row.compliance
    unit.inverse_mass[0] = row.inverse_mass
    moves = row.inverse_mass > 0.0 and row.lower < row.upper
    unit.scale = 1.0 / row.inverse_mass if moves else 0.0
    unit.multiplier[0] = row.impulse


@inlined_kernel
def _write_arms(forest, sites, rows, system):
    """Write J B of every row, and which trees it pushes."""
    used = 0
    for k in range(system.needs[0].units):
        unit = system.units[k]
        row = rows[unit.row]
        unit.node_a = system.node_of[_root(forest, sites, row.site_a)]
        unit.node_b = system.node_of[_root(forest, sites, row.site_b)] if row.width_b > 0 else -1
        tree = system.trees[unit.node_a]
        unit.first_a, unit.rank_a = tree.first, tree.rank
        unit.arm_a, unit.arm_b, unit.block = used, used + unit.size * tree.rank, -1
        used = unit.arm_b
        if unit.node_b >= 0:
            other = system.trees[unit.node_b]
            unit.first_b, unit.rank_b = other.first, other.rank
            used += unit.size * other.rank
        for at in range(unit.arm_a, used):
            system.arms[at] = 0.0
        for r in range(unit.size):
            row = rows[unit.row + r]
            arm = unit.arm_a + r * tree.rank
            add_arm(row.J_a, row.at_a, tree, system.basis, system.arms, arm)
            if unit.node_b >= 0:
                arm = unit.arm_b + r * unit.rank_b
                add_arm(row.J_b, row.at_b, other, system.basis, system.arms, arm)
            elif row.at_b >= 0:
                add_arm(row.J_b, row.at_b, tree, system.basis, system.arms, arm)


@inner_kernel
def write_structure(system):
    """Order the trees, write the structure of the factor and where the blocks of units are.

    Returns whether there was room.
    """
    needs, graph = system.needs[0], system.graph
    clear_graph(graph, needs.nodes)
    for k in range(needs.units):
        unit = system.units[k]
        if unit.node_b >= 0:
            connect_nodes(graph, unit.node_a, unit.node_b)
    order_by_degree(graph, needs.nodes)
    columns, entries = system.structure.columns, system.structure.entries
    system.structure.counts[0].node_count = needs.nodes
    used, space, work = 0, 0, _OF_UNIT * needs.units
    for k in range(needs.nodes):
        node = graph.order[k]
        tree, column = system.trees[node], columns[k]
        column.node, column.first_row, column.size = node, tree.first, tree.rank
        column.block, column.start = space, used
        space += tree.rank * tree.rank
        for word in range(word_count(needs.nodes)):
            bits = graph.neighbours[node, word]
            while bits != 0:
                later = 64 * word + lowest_bit(bits)
                bits &= bits - np.uint64(1)
                if used < entries.shape[0]:
                    _insert(entries, column.start, used, graph.place[later])
                used += 1
        column.end = min(used, entries.shape[0])
        width = 0
        for e in range(column.start, column.end):
            entries[e].block = space
            rank = system.trees[graph.order[entries[e].column]].rank
            space += tree.rank * rank
            width += rank
        work += tree.rank * (tree.rank + width) * (tree.rank + width)
    needs.entries, needs.blocks, needs.work = used, space, work
    if used > entries.shape[0] or space > system.upper.shape[0] - LANES:
        return False
    _find_blocks(system)
    return True


@inlined_kernel
def _insert(entries, start, end, place):
    """Put a column into the entries from `start` to `end`, which ascend."""
    at = end
    while at > start and entries[at - 1].column > place:
        entries[at].column = entries[at - 1].column
        at -= 1
    entries[at].column = place


@inlined_kernel
def _find_blocks(system):
    """Write where the block of the two trees of every unit is."""
    place, before_a, before_b, block = system.graph.place, -1, -1, -1
    for k in range(system.needs[0].units):
        unit = system.units[k]
        if unit.node_b < 0:
            continue
        if unit.node_a != before_a or unit.node_b != before_b:
            before_a, before_b = unit.node_a, unit.node_b
            i, j = place[unit.node_a], place[unit.node_b]
            column = system.structure.columns[min(i, j)]
            e = column.start
            while system.structure.entries[e].column < max(i, j):
                e += 1
            block = system.structure.entries[e].block
        unit.block = block
