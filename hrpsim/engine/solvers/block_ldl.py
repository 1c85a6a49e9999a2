# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Block-sparse L D L^T without pivoting: the direct solver of the constraint rows.

A = J M^-1 J^T + Sigma is symmetric and positive semi-definite. A small multiple of A's diagonal
makes the matrix definite when contacts are redundant. Each block column is eliminated in turn, and
subtracted from all later columns that are coupled to it (right-looking). The factor holds U = D
L^T. The block of column k and later column i replaces the block of A, and is stored as U_ki (size
of k, size of i). The inner loops then run over consecutive memory.

A row is linearly dependent on earlier rows if its pivot is below `blur` or below rounding errors.
Its diagonal is then added to the pivot. The row is *released*: the solution leaves an error in this
row.
"""

import math
from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.fields import work
from hrpsim.engine.compile.kernel_types import Column, Entry, Index, Indices, Vector
from hrpsim.engine.solvers.elimination import Elimination
from hrpsim.engine.solvers.row_reduction import LARGEST, reduce_row

# Rounding as a share of the size of a row: ten times that of a plate on twelve cranks. The noise
# is at most the share that an open loop may leave.
ROUNDING, _MOST_NOISE = 3e-13, 1e-5
_SHARE = 1e-13  # of the size, added to pivots if no row may be released


class Factor(NamedTuple):
    """Factor of a symmetric matrix A = L D L^T. Stored are U = D L^T and the inverse of D."""

    blocks: np.ndarray = work("blocks", "U where the matrix has A")
    inverse_pivots: np.ndarray = work("rows", "1 / D by row number")
    live: np.ndarray = work("nodes", "active rows of the column; without any it is skipped", "i8")
    sizes: np.ndarray = work("rows", "diagonal of A; 0 for rows that are never released")
    blur: np.ndarray = work("1", "pivot below which a row with a size is released; 0: none is")
    rounding: np.ndarray = work("1", "share of a size; 0 if the matrix has shares of its diagonal")
    weakest: np.ndarray = work("1", "least pivot of a row with a size, as a share of that size")
    released: np.ndarray = work("rows", "whether an active row depends on rows before it", "i8")
    released_count: np.ndarray = work("1", dtype="i8")
    has_columns: np.ndarray = work("1", "whether the free impulses are those of this factor", "i8")


@inner_kernel
def factorise(elimination: Elimination, active: Indices, matrix: Vector, factor_out: Factor) -> int:
    """Factorise the active rows and columns of A.

    Args:
        elimination: structure of the factor.
        active: whether each row is active (row capacity,) i8, by row number.
        matrix: A (block space,): full diagonal blocks, then off-diagonal blocks. Fill-in is zero.
        factor_out: the factor, written.

    Returns:
        -1, or the number of the first row whose pivot is not positive and finite. The factor is
        then invalid.
    """
    count = elimination.counts[0].node_count
    factor_out.released_count[0] = factor_out.has_columns[0] = 0
    factor_out.weakest[0] = 1.0
    _count_active(elimination, active, factor_out)
    for k in range(count):
        if factor_out.live[k]:
            _copy_column(elimination, k, active, matrix, factor_out)
    for k in range(count):
        if factor_out.live[k]:
            failed = _eliminate_column(elimination, k, active, factor_out)
            if failed >= 0:
                return failed
            _update_later(elimination, k, factor_out)
    return -1


@inner_kernel
def factor_work(elimination: Elimination, active: Indices, factor_out: Factor) -> int:
    """Return an estimate of the multiplications that `factorise` takes for these active rows.

    A column of n active rows with m later active rows takes n (n + m)^2 / 2 multiplications.

    Args:
        elimination: structure of the factor.
        active: whether each row is active (row capacity,) i8, by row number.
        factor_out: the factor, whose counts of active rows are written.
    """
    _count_active(elimination, active, factor_out)
    work = 0
    for k in range(elimination.counts[0].node_count):
        if factor_out.live[k]:
            column = elimination.columns[k]
            height = column.size
            for e in range(column.start, column.end):
                later = elimination.entries[e].column
                if factor_out.live[later]:
                    height += elimination.columns[later].size
            work += column.size * height * height // 2
    return work


@inlined_kernel
def _count_active(elimination: Elimination, active: Indices, factor: Factor) -> None:
    """Write the number of active rows of each column."""
    for k in range(elimination.counts[0].node_count):
        column, count = elimination.columns[k], 0
        for row in range(column.first_row, column.first_row + column.size):
            count += active[row] != 0
        factor.live[k] = count


@inlined_kernel
def _copy_column(
    elimination: Elimination, k: Index, active: Indices, matrix: Vector, factor: Factor
) -> None:
    """Copy a block column of A, transposed. Inactive rows and columns become unit vectors."""
    column, blocks = elimination.columns[k], factor.blocks
    first, size = column.first_row, column.size
    own = factor.live[k] == size
    _copy_block(matrix, blocks, column.block, size, size)
    if not own:
        _drop_rows(blocks, column.block, active, first, size, first, size)
    for s in range(size):
        if not active[first + s]:
            blocks[column.block + s * (size + 1)] = 1.0
    for e in range(column.start, column.end):
        entry = elimination.entries[e]
        later, live = elimination.columns[entry.column], factor.live[entry.column]
        if live:
            _copy_block(matrix, blocks, entry.block, later.size, size)
            if not own or live < later.size:
                height = later.size
                _drop_rows(blocks, entry.block, active, first, size, later.first_row, height)


@inlined_kernel
def _copy_block(matrix: Vector, blocks: Vector, at: Index, height: int, width: int) -> None:
    """Write the transpose of the block (height, width) of A."""
    if height == 6 and width == 6:
        _transpose(matrix, blocks, at, 6, 6)
    else:
        _transpose(matrix, blocks, at, height, width)


@inlined_kernel
def _transpose(matrix: Vector, blocks: Vector, at: Index, height: int, width: int) -> None:
    if at < 0 or at > LARGEST:
        return
    for s in range(width):
        for r in range(height):
            blocks[at + s * height + r] = matrix[at + r * width + s]


@inner_kernel
def _drop_rows(
    blocks: Vector,
    at: Index,
    active: Indices,
    first: Index,
    height: int,
    other_first: Index,
    width: int,
) -> None:
    """Set the entries of inactive rows and columns of a block to zero."""
    for s in range(height):
        for r in range(width):
            if active[first + s] == 0 or active[other_first + r] == 0:
                blocks[at + s * width + r] = 0.0


@inlined_kernel
def _release(factor: Factor, number: Index, pivot: float) -> float:
    """Release a row that depends on the rows before it, and return the pivot for the factor.

    The elimination of a row with a small pivot multiplies rounding by the inverse of that pivot.

    Args:
        factor: `released`, `released_count` and `weakest` are written.
        number: row number.
        pivot: pivot of the row.
    """
    size = factor.sizes[number]
    if factor.blur[0] == 0.0 and factor.rounding[0] > 0.0:
        return pivot + _SHARE * size
    noise = min(factor.rounding[0] / factor.weakest[0], _MOST_NOISE)
    if pivot < max(factor.blur[0], noise * size):
        factor.released[number] = 1
        factor.released_count[0] += 1
        return pivot + size
    factor.weakest[0] = min(factor.weakest[0], pivot / size)
    return pivot


@inlined_kernel
def _eliminate_column(elimination: Elimination, k: Index, active: Indices, factor: Factor) -> int:
    """Write D^-1 of column k, and turn the column's blocks into U.

    Returns:
        -1, or the number of the first row with an invalid pivot.
    """
    column, blocks, inverse = elimination.columns[k], factor.blocks, factor.inverse_pivots
    size, first, own = column.size, column.first_row, column.block
    for p in range(size):
        reduce_row(blocks, own + p * size, own + p, size, own, size, inverse, first, p)
        pivot = blocks[own + p * size + p]
        factor.released[first + p] = 0
        if active[first + p] and factor.sizes[first + p] > 0.0:
            pivot = blocks[own + p * size + p] = _release(factor, first + p, pivot)
        if not (pivot > 0.0 and math.isfinite(pivot)):
            return first + p
        inverse[first + p] = 1.0 / pivot
    for e in range(column.start, column.end):
        entry = elimination.entries[e]
        if factor.live[entry.column]:
            width = elimination.columns[entry.column].size
            for p in range(1, size):
                row = entry.block + p * width
                reduce_row(blocks, row, own + p, size, entry.block, width, inverse, first, p)
    return -1


@inlined_kernel
def _update_later(elimination: Elimination, k: Index, factor: Factor) -> None:
    """Subtract the products of column k's blocks from the later blocks that column k couples."""
    column, entries = elimination.columns[k], elimination.entries
    for e in range(column.start, column.end):
        j = entries[e].column
        if not factor.live[j]:
            continue
        later = elimination.columns[j]
        _update_block(elimination, column, entries[e], entries[e], later.block, factor)
        target = later.start
        for f in range(e + 1, column.end):
            i = entries[f].column
            if not factor.live[i]:
                continue
            while entries[target].column < i:
                target += 1
            block = entries[target].block
            _update_block(elimination, column, entries[e], entries[f], block, factor)


@inlined_kernel
def _update_block(
    elimination: Elimination,
    column: Column,
    at_j: Entry,
    at_i: Entry,
    target: Index,
    factor: Factor,
) -> None:
    """Subtract U_kj^T D^-1 U_ki from the block of j and i at `target`."""
    blocks, inverse, first = factor.blocks, factor.inverse_pivots, column.first_row
    n_j = elimination.columns[at_j.column].size
    n_i = elimination.columns[at_i.column].size
    if n_j == 6 and n_i == 6 and column.size == 6:
        for s in range(6):
            row = target + 6 * s
            reduce_row(blocks, row, at_j.block + s, 6, at_i.block, 6, inverse, first, 6)
    elif n_j == 5 and n_i == 5 and column.size == 5:  # hinges
        for s in range(5):
            row = target + 5 * s
            reduce_row(blocks, row, at_j.block + s, 5, at_i.block, 5, inverse, first, 5)
    else:
        for s in range(n_j):
            row, shares = target + s * n_i, at_j.block + s
            reduce_row(blocks, row, shares, n_j, at_i.block, n_i, inverse, first, column.size)


@inner_kernel
def solve(elimination: Elimination, active: Indices, factor: Factor, x: Vector) -> None:
    """Solve A x = b with the factor of A. Inactive rows get zero.

    Args:
        elimination: structure of the factor.
        active: whether each row is active (row capacity,) i8, by row number.
        factor: result of `factorise`.
        x: right side b, overwritten by the solution (row capacity,), by row number.
    """
    count = elimination.counts[0].node_count
    for k in range(count):
        column = elimination.columns[k]
        if factor.live[k] < column.size:
            for m in range(column.first_row, column.first_row + column.size):
                if active[m] == 0:
                    x[m] = 0.0
    for k in range(count):
        if factor.live[k]:
            _solve_forward(elimination, k, factor, x)
    for k in range(count - 1, -1, -1):
        if factor.live[k]:
            _solve_backward(elimination, k, factor, x)


@inlined_kernel
def _solve_forward(elimination: Elimination, k: Index, factor: Factor, x: Vector) -> None:
    """Solve L y = x and D z = y for column k, and subtract its part from the later rows."""
    column, blocks, inverse = elimination.columns[k], factor.blocks, factor.inverse_pivots
    first, size, own = column.first_row, column.size, column.block
    if min(first, own) < 0 or max(first, own) > LARGEST:
        return
    for m in range(size):
        z = x[first + m] * inverse[first + m]
        x[first + m] = z
        for p in range(m + 1, size):
            x[first + p] -= blocks[own + m * size + p] * z
    for e in range(column.start, column.end):
        entry = elimination.entries[e]
        if factor.live[entry.column]:
            later = elimination.columns[entry.column]
            if size == 6 and later.size == 6:
                _forward_block(blocks, entry.block, first, 6, later.first_row, 6, x)
            elif size == 5 and later.size == 5:
                _forward_block(blocks, entry.block, first, 5, later.first_row, 5, x)
            else:
                _forward_block(blocks, entry.block, first, size, later.first_row, later.size, x)


@inlined_kernel
def _forward_block(
    blocks: Vector, at: Index, first: Index, size: int, later: Index, width: int, x: Vector
) -> None:
    """Subtract U^T z from the later rows."""
    if min(at, first, later) < 0 or max(at, first, later) > LARGEST:
        return
    for r in range(width):
        total = x[later + r]
        for m in range(size):
            total -= blocks[at + m * width + r] * x[first + m]
        x[later + r] = total


@inlined_kernel
def _solve_backward(elimination: Elimination, k: Index, factor: Factor, x: Vector) -> None:
    """Solve L^T x = z for column k. The solution of all later columns must be known."""
    column, blocks, inverse = elimination.columns[k], factor.blocks, factor.inverse_pivots
    first, size, own = column.first_row, column.size, column.block
    if min(first, own) < 0 or max(first, own) > LARGEST:
        return
    for e in range(column.start, column.end):
        entry = elimination.entries[e]
        if factor.live[entry.column]:
            later = elimination.columns[entry.column]
            at, start, width = entry.block, later.first_row, later.size
            if size == 6 and width == 6:
                _backward_block(blocks, at, first, 6, start, 6, inverse, x)
            elif size == 5 and width == 5:
                _backward_block(blocks, at, first, 5, start, 5, inverse, x)
            else:
                _backward_block(blocks, at, first, size, start, width, inverse, x)
    for m in range(size - 1, -1, -1):
        total = 0.0
        for p in range(m + 1, size):
            total += blocks[own + m * size + p] * x[first + p]
        x[first + m] -= total * inverse[first + m]


@inlined_kernel
def _backward_block(
    blocks: Vector,
    at: Index,
    first: Index,
    size: int,
    later: Index,
    width: int,
    inverse: Vector,
    x: Vector,
) -> None:
    """Subtract D^-1 U x of the later rows from the solution of a column."""
    if min(at, first, later) < 0 or max(at, first, later) > LARGEST:
        return
    for m in range(size):
        total = 0.0
        for r in range(width):
            total += blocks[at + m * width + r] * x[later + r]
        x[first + m] -= total * inverse[first + m]
