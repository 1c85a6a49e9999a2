# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Coordinates of trees' motion in which the inertia is the identity.

The response Lambda^-1 of a tree's velocity entries is factorised as B B^T, by Cholesky's method
with the largest pivot first, up to the rank. Velocities that impulses can cause are B w, and their
energy is |w|^2 / 2. The product J B is called the arm of a row.
"""

from __future__ import annotations

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, NodeTree, Vec6, Vector
from hrpsim.engine.spatial.simd import LANES, load, minus_times, plus_times, store

NODE_TREE = np.dtype(
    [
        ("root", "i8"),
        ("start", "i8"),  # first column of the tree
        ("columns", "i8"),
        ("basis", "i8"),  # where B^T begins, then B (factorise_response)
        ("first", "i8"),  # first coordinate
        ("rank", "i8"),  # coordinates
        ("moved", "i8"),  # whether sweeps have pushed it (local_sweeps)
        ("part", "i8"),  # its node in the problem of a cluster, -1 for none (clusters)
        ("is_core", "i8"),  # whether it is in the cluster, not around it
        ("solved", "i8"),  # whether it was in a cluster of this round
        (
            "constraints_start",
            "i8",
        ),  # from here its constraint blocks in `at_trees` (constraint_lists)
        ("constraints_end", "i8"),
    ]
)

LARGEST = 1 << 40  # no pool has as many floats

# Share of its own diagonal entry below which the rest of a column is rounding.
_ROUNDING = 1e-12


@inlined_kernel
def padded(columns: int) -> int:
    """Return the row length of a tree's basis, rounded up to whole SIMD vectors if above 6.

    The number of a tree's coordinates is its rank, rounded up in the same way. Coordinates beyond
    the rank do not move, because the matrix has 1 on the diagonal there.
    """
    return columns if columns <= 6 else (columns + LANES - 1) & -LANES


@inlined_kernel
def is_padded(rank: int) -> bool:
    """Return whether the number of coordinates of a tree is rounded up to whole registers."""
    return rank > 0 and rank % LANES == 0


@inlined_kernel
def _find_pivot(
    inverse_inertia: Vector, block: Index, width: int, columns: int, left: Vector
) -> int:
    """Return the column whose diagonal entry has the largest remaining fraction.

    The result is -1 if the remaining fractions are rounding errors.
    """
    pivot, most = -1, _ROUNDING
    for c in range(columns):
        diagonal = inverse_inertia[block + c * width + c]
        if diagonal > 0.0 and left[c] > most * diagonal:
            pivot, most = c, left[c] / diagonal
    return pivot


@inner_kernel
def factorise_response(
    inverse_inertia: Vector, block: Index, width: int, tree: NodeTree, basis: Vector, work: Vector
) -> int:
    """Factorise the response of a tree as B B^T. Write B^T, then B, into `basis`.

    Args:
        inverse_inertia: responses. The tree's response is (tree.columns, width).
        block: start of the tree's response.
        width: row length of the tree's response.
        tree: record of the tree.
        basis: B^T and B with rows of `padded` entries, written.
        work: work space (columns,).
    """
    columns, stride = tree.columns, padded(tree.columns)
    for c in range(columns):
        work[c] = inverse_inertia[block + c * width + c]
    for at in range(tree.basis, tree.basis + 2 * stride * stride):
        basis[at] = 0.0
    rank, B = 0, tree.basis + stride * stride
    while rank < columns:
        pivot = _find_pivot(inverse_inertia, block, width, columns, work)
        if pivot < 0:
            break
        row, basis_row = block + pivot * width, tree.basis + rank * stride
        for c in range(columns):
            basis[basis_row + c] = inverse_inertia[row + c]
        _take_rows(basis, tree.basis, B + pivot * stride, rank, stride, basis_row)
        scale = 1.0 / math.sqrt(work[pivot])
        for c in range(columns):
            entry = basis[basis_row + c] * scale
            basis[basis_row + c] = basis[B + c * stride + rank] = entry
            work[c] -= entry * entry
        work[pivot] = 0.0
        rank += 1
    return (rank + LANES - 1) & -LANES if is_padded(stride) else rank


@inlined_kernel
def _take_rows(
    basis: Vector, rows: int, shares: Index, count: int, width: int, target: Index
) -> None:
    """Subtract the first `count` rows, times their multipliers, from another row."""
    if min(rows, shares, target) < 0 or max(rows, shares, target) > LARGEST:
        return
    if not is_padded(width):
        for k in range(count):
            for c in range(width):
                basis[target + c] -= basis[shares + k] * basis[rows + k * width + c]
        return
    for c in range(0, width, LANES):
        row = load(basis, target + c)
        for k in range(count):
            row = minus_times(row, load(basis, rows + k * width + c), basis[shares + k])
        store(basis, target + c, row)


@inlined_kernel
def add_arm(J: Vec6, at: Index, tree: NodeTree, basis: Vector, arms: Vector, arm: Index) -> None:
    """Add the product J B to the arm of a row.

    Args:
        J: row of the Jacobian (6,), for the six columns from `at` on.
        at: first of the six columns.
        tree: record of the tree.
        basis: B of every tree.
        arms: arms of all rows.
        arm: index of the arm's first number.
    """
    stride = padded(tree.columns)
    row = tree.basis + stride * (stride + at - tree.start)
    if min(row, arm) < 0 or max(row, arm) > LARGEST:
        return
    if is_padded(tree.rank):
        for c in range(0, tree.rank, LANES):
            total = load(arms, arm + c)
            for k in range(6):
                if J[k] != 0.0:
                    total = plus_times(total, load(basis, row + k * stride + c), J[k])
            store(arms, arm + c, total)
        return
    for c in range(tree.rank):
        total = 0.0
        for k in range(6):
            if J[k] != 0.0:
                total += J[k] * basis[row + k * stride + c]
        arms[arm + c] += total
