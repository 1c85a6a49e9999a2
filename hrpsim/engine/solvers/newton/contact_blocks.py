# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contribution G^T D G of free bodies' contacts to the matrix, in 6 x 6 blocks in registers.

Contacts of the same two bodies are consecutive. The rows of each contact that is not open, and the
products of the rows with D, are stored together. Each row of a block is read once, changed by all
contacts, and written once.
"""

from __future__ import annotations

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Constraint, Index, NewtonSystem, Vector
from hrpsim.engine.solvers.newton.coulomb_law import OPEN
from hrpsim.engine.solvers.newton.tree_coordinates import LARGEST
from hrpsim.engine.spatial.simd import LANES, load, plus_times, store, store_six, times

# Stored of a contact: G_a, G_b, D G_a and D G_b, three rows of eight each, two to spare.
_A, _B, _DA, _DB, NOTES = 0, 3 * LANES, 6 * LANES, 9 * LANES, 12 * LANES


@inlined_kernel
def is_free_body(constraint: Constraint) -> bool:
    """Return whether a constraint block is a contact of trees with six coordinates."""
    return (
        constraint.size == 3
        and constraint.rank_a == 6
        and (constraint.node_b < 0 or constraint.rank_b == 6)
    )


@inner_kernel
def add_free_body_contacts(first: Index, system: NewtonSystem) -> int:
    """Add constraint block `first` and the following blocks with the same trees to the matrix.

    Returns:
        The next constraint block with other trees.
    """
    constraints, arms, notes = system.constraints, system.arms, system.notes
    a, b = constraints[first].node_a, constraints[first].node_b
    k, count = first, 0
    while k < system.capacity[0].constraints:
        constraint = constraints[k]
        if constraint.node_a != a or constraint.node_b != b or constraint.size != 3:
            break
        constraint.factor_state = constraint.state
        if constraint.state != OPEN:
            _note(constraint, arms, notes, NOTES * count)
            count += 1
        k += 1
    if count == 0:
        return k
    upper, lower, columns = system.upper, system.lower, system.structure.columns
    i = system.graph.position[a]
    _add_products(notes, count, _A, _DA, upper, columns[i].block)
    if b >= 0:
        j, block = system.graph.position[b], constraints[first].block
        _add_products(notes, count, _B, _DB, upper, columns[j].block)
        # Of the two off-diagonal blocks, that of the earlier column's rows is `upper`.
        if i < j:
            _add_products(notes, count, _A, _DB, upper, block)
            _add_products(notes, count, _DA, _B, lower, block)
        else:
            _add_products(notes, count, _B, _DA, upper, block)
            _add_products(notes, count, _DB, _A, lower, block)
    return k


@inlined_kernel
def _note(constraint: Constraint, arms: Vector, notes: Vector, at: Index) -> None:
    """Store the rows of a contact, and the products of the rows with the stiffness."""
    _note_tree(constraint.stiffness, arms, constraint.arm_a, notes, at + _A, at + _DA)
    if constraint.node_b >= 0:
        _note_tree(constraint.stiffness, arms, constraint.arm_b, notes, at + _B, at + _DB)


@inlined_kernel
def _note_tree(d: Vector, arms: Vector, arm: Index, notes: Vector, at: Index, product: int) -> None:
    """Store the rows of a contact that act on one tree, and the products of the rows with D."""
    if min(arm, at, product) < 0 or max(arm, at, product) > LARGEST:
        return
    n, x, y = load(arms, arm), load(arms, arm + 6), load(arms, arm + 12)
    store(notes, at, n)
    store(notes, at + LANES, x)
    store(notes, at + 2 * LANES, y)
    for r in range(3):
        row = plus_times(times(n, d[3 * r]), x, d[3 * r + 1])
        store(notes, product + LANES * r, plus_times(row, y, d[3 * r + 2]))


@inlined_kernel
def _add_products(
    notes: Vector, count: int, left: int, right: int, matrix: Vector, block: Index
) -> None:
    """Add left^T right of all stored contacts to a block."""
    if block < 0 or block > LARGEST:
        return
    for p in range(6):
        row, at = load(matrix, block + 6 * p), 0
        for _ in range(count):
            entry, n = at + left + p, at + right
            row = plus_times(row, load(notes, n), notes[entry])
            row = plus_times(row, load(notes, n + LANES), notes[entry + LANES])
            row = plus_times(row, load(notes, n + 2 * LANES), notes[entry + 2 * LANES])
            at += NOTES
        store_six(matrix, block + 6 * p, row)
