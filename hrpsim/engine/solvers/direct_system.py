# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The rows of the direct solver, as a block-sparse system J M^-1 J^T + Sigma.

A node of the system is a run of rows on the same constraint bodies. Examples are a connection, the
contacts of two bodies, the constraints of one joint. Two nodes are coupled when both push the same
tree.
"""

import math
from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.fields import allocate, part, work
from hrpsim.engine.compile.kernel_types import Column, GraphNode, Index, Records, Row, Vector
from hrpsim.engine.constraints.rows import CONTACT_ROW, Rows
from hrpsim.engine.constraints.solver_table import DIRECT, SPLIT
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.solvers.block_ldl import ROUNDING, Factor
from hrpsim.engine.solvers.contraction import NODE
from hrpsim.engine.solvers.elimination import Elimination, eliminate, new_elimination, same_graph

# Share of its diagonal that is added to the matrix, for redundant rows that are not released:
# contacts, which usually are redundant and then share the load, and rows next to contacts.
# Iterative refinement removes the error.
_OF_CONTACTS = 1e-10
_OF_OTHERS = 1e-13


# Released rows whose impulses that move nothing are stored (24: three times the lanes).
STORED = 24


class FreeImpulses(NamedTuple):
    """Impulses in the null space of A: one column for each released row (solvers.free_impulses)."""

    columns: np.ndarray = work("24 rows", "a column for each released row, by row number")
    gram: np.ndarray = work("24 24", "products of columns by inverse masses; then the factor")
    shares: np.ndarray = work("24", "work: of the columns")
    numbers: np.ndarray = work("24", "row number of each column", "i8")


class DirectSystem(NamedTuple):
    """The matrix of the direct solver, its factor, and the states of its rows."""

    nodes: np.ndarray = work("nodes", dtype=NODE)
    elimination: Elimination = part(Elimination)
    matrix: np.ndarray = work("blocks", "blocks of J M^-1 J^T + Sigma")
    factor: Factor = part(Factor)
    free: FreeImpulses = part(FreeImpulses)
    active: np.ndarray = work("rows", "whether the row is solved for, or stays at a bound", "i8")
    slides: np.ndarray = work("rows", "how often a normal row began to slide or to close", "i8")
    flips: np.ndarray = work("rows", "work: rows that change between the two", "i8")
    change: np.ndarray = work("rows", "work: right side and solution")
    before: np.ndarray = work("rows", "impulses before the search for sides")
    asked: np.ndarray = work("rows", "targets before redundant rows agreed on others")
    start: np.ndarray = work("rows", "impulses that the solution starts from")
    start_velocity: np.ndarray = work("columns", "the constraint bodies' velocity with them")
    lacking: np.ndarray = work("rows", "work: of released rows, what is still to be spread")
    along: np.ndarray = work("rows", "work: of released rows, direction of a search")
    moved: np.ndarray = work("rows", "work: impulses along `along` that move nothing")
    weighed: np.ndarray = work("rows", "work: what is projected on the free impulses")
    spread: np.ndarray = work("rows", "work: impulses that move nothing")
    blur: np.ndarray = work("1", "fraction of a response that may be an effect of errors")
    left: np.ndarray = work("1", "largest error that redundant rows were left [m/s, rad/s]")
    leeway: np.ndarray = work("1", "by how much redundant rows may disagree [m/s, rad/s]")
    stale: np.ndarray = work("1", "whether the factor was made for other active rows", "i8", fill=1)
    adjusted: np.ndarray = work("1", "whether any target is not the one asked for", "i8")


def new_direct_system(
    rows: int, columns: int, nodes: int, trees: int, entries: int, blocks: int
) -> DirectSystem:
    """Return an empty system with the given capacities.

    Args:
        rows: number of rows.
        columns: number of velocity entries.
        nodes: number of nodes.
        trees: number of trees.
        entries: number of off-diagonal blocks.
        blocks: number of numbers in all blocks.
    """
    sizes = {"rows": rows, "columns": columns, "nodes": nodes, "blocks": blocks}
    return allocate(DirectSystem, sizes, elimination=new_elimination(nodes, trees, entries))


@inner_kernel
def assemble_direct_system(
    forest: Forest,
    constrained: ConstraintBodies,
    rows_of_step: Rows,
    row_count: int,
    system: DirectSystem,
) -> bool:
    """Write nodes, order and matrix of the present rows.

    Returns:
        Whether the arrays have room.
    """
    count = _find_nodes(forest, constrained, rows_of_step.rows, row_count, system.nodes)
    elimination = system.elimination
    if count > len(system.nodes) or row_count > len(system.active):
        elimination.counts[0].node_count = count
        elimination.counts[0].entry_count = elimination.counts[0].block_space = -1
        return False
    if not same_graph(system.nodes, count, elimination):
        if not eliminate(system.nodes, count, elimination):
            return False
    if elimination.counts[0].block_space > len(system.matrix):
        return False
    write_direct_matrix(constrained, rows_of_step, system)
    return True


@inner_kernel
def write_direct_matrix(
    constrained: ConstraintBodies, rows_of_step: Rows, system: DirectSystem
) -> None:
    """Write the matrix of the present rows, in the order of the last assembly.

    Rows that were moved to the iterative solver since then stay in the matrix as inactive rows.
    """
    rows, response, elimination = rows_of_step.rows, rows_of_step.response, system.elimination
    system.stale[0] = 1
    sizes, shares = system.factor.sizes, _any_contact(elimination, rows)
    system.factor.rounding[0] = 0.0 if shares else ROUNDING
    for k in range(elimination.counts[0].node_count):
        column = elimination.columns[k]
        _write_diagonal(constrained, rows, column, response, shares, system.matrix, sizes)
        for e in range(column.start, column.end):
            entry = elimination.entries[e]
            later = elimination.columns[entry.column]
            _write_coupling(constrained, rows, later, column, response, entry.block, system.matrix)
    system.factor.blur[0] = system.blur[0] * _smallest_size(elimination, system.factor.sizes)


@inlined_kernel
def _any_contact(elimination: Elimination, rows: Records[Row]) -> bool:
    """Return whether any node has rows of contacts."""
    for k in range(elimination.counts[0].node_count):
        if rows[elimination.columns[k].first_row].kind == CONTACT_ROW:
            return True
    return False


@inlined_kernel
def _smallest_size(elimination: Elimination, sizes: Vector) -> float:
    """Return the smallest diagonal entry of the rows that may be released, 0 if there are none.

    Rows of heavy bodies have small entries.
    """
    smallest = math.inf
    for k in range(elimination.counts[0].node_count):
        column = elimination.columns[k]
        for number in range(column.first_row, column.first_row + column.size):
            if sizes[number] > 0.0:
                smallest = min(smallest, sizes[number])
    return smallest if smallest < math.inf else 0.0


@inner_kernel
def _find_nodes(
    forest: Forest,
    constrained: ConstraintBodies,
    rows: Records[Row],
    row_count: int,
    nodes_out: Records[GraphNode],
) -> int:
    """Group the direct solver's rows into nodes, and return the number of nodes."""
    count = 0
    constrained_a = constrained_b = -1
    for number in range(row_count):
        row = rows[number]
        if row.solver != DIRECT and row.solver != SPLIT:
            constrained_a = -1
            continue
        if row.constrained_a != constrained_a or row.constrained_b != constrained_b:
            constrained_a, constrained_b = row.constrained_a, row.constrained_b
            count += 1
            if count <= len(nodes_out):
                node = nodes_out[count - 1]
                node.first_row, node.size = number, 0
                node.tree_a = forest.bodies[constrained.bodies[constrained_a].body].root
                node.tree_b = -1
                if constrained_b >= 0:
                    root = forest.bodies[constrained.bodies[constrained_b].body].root
                    node.tree_b = root if root != node.tree_a else -1
        if count <= len(nodes_out):
            nodes_out[count - 1].size += 1
    return count


@inlined_kernel
def _place_in_response(row: Row, start: Index, at: Index) -> int:
    """Return the position in a row's response of column `at`, or -1 if the row lacks this tree.

    start: first column of the tree.
    """
    if row.start_a == start:
        return at - start
    if row.width_b > 0 and row.start_b == start:
        return row.width_a + at - start
    return -1


@inlined_kernel
def _port_columns(constrained: ConstraintBodies, constraint_body: Index) -> int:
    return 1 if constrained.bodies[constraint_body].dof >= 0 else 6


@inner_kernel
def _write_diagonal(
    constrained: ConstraintBodies,
    rows: Records[Row],
    column: Column,
    response: Vector,
    shares: bool,
    matrix_out: Vector,
    sizes_out: Vector,
) -> None:
    """Write the diagonal block of a node, and the diagonal entries of rows that may be released.

    shares: whether a fraction is added to the diagonal of these rows, as for contacts.
    """
    size, first = column.size, column.first_row
    any_row = rows[first]
    place_a = any_row.at_a - any_row.start_a
    columns_a = _port_columns(constrained, any_row.constrained_a)
    place_b, columns_b = -1, 0
    if any_row.constrained_b >= 0:
        start_b = any_row.start_b if any_row.width_b > 0 else any_row.start_a
        place_b = _place_in_response(any_row, start_b, any_row.at_b)
        columns_b = _port_columns(constrained, any_row.constrained_b)
    for s in range(size):
        at = rows[first + s].response_at
        for r in range(s, size):
            J_a, J_b = rows[first + r].J_a, rows[first + r].J_b
            total = 0.0
            for k in range(columns_a):
                total += J_a[k] * response[at + place_a + k]
            for k in range(columns_b):
                total += J_b[k] * response[at + place_b + k]
            matrix_out[column.block + r * size + s] = total
            matrix_out[column.block + s * size + r] = total
        diagonal, row = column.block + s * size + s, rows[first + s]
        sizes_out[first + s] = matrix_out[diagonal] if _may_release(row) else 0.0
        matrix_out[diagonal] += _share_of(row, shares) * matrix_out[diagonal] + row.compliance


@inlined_kernel
def _may_release(row: Row) -> bool:
    """Return whether a row is released if it depends on earlier rows."""
    return row.inverse_mass > 0.0 and row.kind != CONTACT_ROW


@inlined_kernel
def _share_of(row: Row, shares: bool) -> float:
    """Return the fraction of a row's diagonal entry that is added to the entry (regularisation)."""
    if row.kind == CONTACT_ROW:
        return _OF_CONTACTS
    return _OF_OTHERS if shares or not _may_release(row) else 0.0


@inner_kernel
def _write_coupling(
    constrained: ConstraintBodies,
    rows: Records[Row],
    later: Column,
    column: Column,
    response: Vector,
    block: Index,
    matrix_out: Vector,
) -> None:
    """Write the block of rows `later` and columns `column`, zero if they have no tree in common."""
    row, other = rows[later.first_row], rows[column.first_row]
    place_a = _place_in_response(other, row.start_a, row.at_a)
    columns_a = _port_columns(constrained, row.constrained_a) if place_a >= 0 else 0
    place_b, columns_b = -1, 0
    if row.constrained_b >= 0:
        start_b = row.start_b if row.width_b > 0 else row.start_a
        place_b = _place_in_response(other, start_b, row.at_b)
        columns_b = _port_columns(constrained, row.constrained_b) if place_b >= 0 else 0
    for r in range(later.size):
        J_a, J_b = rows[later.first_row + r].J_a, rows[later.first_row + r].J_b
        for s in range(column.size):
            at = rows[column.first_row + s].response_at
            total = 0.0
            for k in range(columns_a):
                total += J_a[k] * response[at + place_a + k]
            for k in range(columns_b):
                total += J_b[k] * response[at + place_b + k]
            matrix_out[block + r * column.size + s] = total
