"""Block-sparse L D L^T without pivoting: the direct solver of the constraint rows.

A = J M^-1 J^T + Sigma is symmetric and positive semi-definite; a small multiple of its diagonal
makes it definite when rows are redundant. Each block column is eliminated in turn and taken from
all later ones that it couples (right-looking). The factor holds U = D L^T: the block of column k
and later column i lies where A's lies, but as U_ki (size of k, size of i), so that the inner loops
run over neighbours in memory.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hrpsim.compiled import inlined_kernel, inner_kernel


class Factor(NamedTuple):
    """U = D L^T, and D^-1."""

    blocks: np.ndarray  # (block space,) U where the matrix has A
    inverse_pivots: np.ndarray  # (row capacity,) 1 / D by row number
    is_live: np.ndarray  # (node capacity,) i8, whether any row of the column is active


def new_factor(block_space: int, row_capacity: int, node_capacity: int) -> Factor:
    """Return room for a factor: `block_space` and `row_end` of the tally, and its nodes."""
    return Factor(
        np.zeros(block_space), np.zeros(row_capacity), np.zeros(node_capacity, dtype=np.int64)
    )


@inner_kernel
def factorise(elimination, active, regularisation, matrix, factor_out):
    """Factorise the active rows and columns of A + regularisation diag(A).

    `matrix` (block space,) holds A's diagonal blocks in full and those of the entries, fill being
    zero; it is kept. `active` (row capacity,) i8 by row number. Returns -1, or the number of the
    first row whose pivot is not positive and finite; the factor is then of no use.
    """
    count = elimination.tally[0].node_count
    for k in range(count):
        _copy_column(elimination, k, active, regularisation, matrix, factor_out)
    for k in range(count):
        if factor_out.is_live[k]:
            failed = _eliminate_column(elimination, k, factor_out)
            if failed >= 0:
                return failed
            _update_later(elimination, k, factor_out)
    return -1


@inner_kernel
def _copy_column(elimination, k, active, regularisation, matrix, factor):
    """Copy a block column of A, transposed; dropped rows and columns are those of the identity."""
    column, blocks = elimination.columns[k], factor.blocks
    first, size = column.first_row, column.size
    live = 0
    for r in range(size):
        live += active[first + r] != 0
    factor.is_live[k] = live
    if live == 0:
        return
    for s in range(size):
        at = column.block + s * size
        for r in range(size):
            both = active[first + s] != 0 and active[first + r] != 0
            blocks[at + r] = matrix[at + r] if both else 0.0
        if active[first + s] != 0:
            blocks[at + s] += regularisation * matrix[at + s]
        else:
            blocks[at + s] = 1.0
    for e in range(column.start, column.end):
        entry = elimination.entries[e]
        later = elimination.columns[entry.column]
        for r in range(later.size):
            for s in range(size):
                both = active[first + s] != 0 and active[later.first_row + r] != 0
                value = matrix[entry.block + r * size + s]
                blocks[entry.block + s * later.size + r] = value if both else 0.0


@inner_kernel
def _eliminate_column(elimination, k, factor):
    """Write D^-1 of column k and turn its blocks into U; return the row that fails or -1."""
    column, blocks = elimination.columns[k], factor.blocks
    size, first = column.size, column.first_row
    for m in range(size):
        row_m = column.block + m * size
        pivot = blocks[row_m + m]
        if not (pivot > 0.0 and math.isfinite(pivot)):
            return first + m
        inverse = 1.0 / pivot
        factor.inverse_pivots[first + m] = inverse
        for p in range(m + 1, size):
            share = blocks[row_m + p] * inverse
            if share != 0.0:
                _subtract_row(blocks, column.block, p, m, size, share)
                for e in range(column.start, column.end):
                    entry = elimination.entries[e]
                    width = elimination.columns[entry.column].size
                    _subtract_row(blocks, entry.block, p, m, width, share)
    return -1


@inlined_kernel
def _subtract_row(blocks, block, p, m, width, share):
    """Take `share` times row m of a block from its row p."""
    row_p, row_m = block + p * width, block + m * width
    for r in range(width):
        blocks[row_p + r] -= share * blocks[row_m + r]


@inner_kernel
def _update_later(elimination, k, factor):
    """Take column k's part from every later block that it couples."""
    column, entries = elimination.columns[k], elimination.entries
    for e in range(column.start, column.end):
        j = entries[e].column
        if not factor.is_live[j]:
            continue
        block = elimination.columns[j].block
        _update_block(elimination, column, entries[e], entries[e], block, factor)
        target = elimination.columns[j].start
        for f in range(e + 1, column.end):
            i = entries[f].column
            if not factor.is_live[i]:
                continue
            while entries[target].column < i:
                target += 1
            _update_block(
                elimination, column, entries[e], entries[f], entries[target].block, factor
            )
    return


@inlined_kernel
def _update_block(elimination, column, at_j, at_i, target, factor):
    """Take U_kj^T D^-1 U_ki from the block of j and i at `target`."""
    blocks, inverse = factor.blocks, factor.inverse_pivots
    n_j = elimination.columns[at_j.column].size
    n_i = elimination.columns[at_i.column].size
    for s in range(n_j):
        for m in range(column.size):
            share = blocks[at_j.block + m * n_j + s] * inverse[column.first_row + m]
            for r in range(n_i):
                blocks[target + s * n_i + r] -= share * blocks[at_i.block + m * n_i + r]


@inner_kernel
def solve(elimination, active, factor, x):
    """Replace the right side `x`, by row number, by the solution; zero at rows not active."""
    count = elimination.tally[0].node_count
    for k in range(count):
        column = elimination.columns[k]
        for m in range(column.first_row, column.first_row + column.size):
            if active[m] == 0:
                x[m] = 0.0
    for k in range(count):
        if factor.is_live[k]:
            _solve_forward(elimination, k, factor, x)
    for k in range(count - 1, -1, -1):
        if factor.is_live[k]:
            _solve_backward(elimination, k, factor, x)


@inlined_kernel
def _solve_forward(elimination, k, factor, x):
    """Solve L y = x and D z = y for column k; take its part from the later rows."""
    column, blocks = elimination.columns[k], factor.blocks
    first, size = column.first_row, column.size
    for m in range(size):
        x[first + m] *= factor.inverse_pivots[first + m]
        row_m = column.block + m * size
        for p in range(m + 1, size):
            x[first + p] -= blocks[row_m + p] * x[first + m]
    for e in range(column.start, column.end):
        entry = elimination.entries[e]
        if not factor.is_live[entry.column]:
            continue
        later = elimination.columns[entry.column]
        for m in range(size):
            row_m = entry.block + m * later.size
            for r in range(later.size):
                x[later.first_row + r] -= blocks[row_m + r] * x[first + m]


@inlined_kernel
def _solve_backward(elimination, k, factor, x):
    """Solve L^T x = z for column k, all later rows being done."""
    column, blocks = elimination.columns[k], factor.blocks
    first, size = column.first_row, column.size
    for m in range(size - 1, -1, -1):
        total = 0.0
        row_m = column.block + m * size
        for p in range(m + 1, size):
            total += blocks[row_m + p] * x[first + p]
        for e in range(column.start, column.end):
            entry = elimination.entries[e]
            if factor.is_live[entry.column]:
                later = elimination.columns[entry.column]
                row = entry.block + m * later.size
                for r in range(later.size):
                    total += blocks[row + r] * x[later.first_row + r]
        x[first + m] -= total * factor.inverse_pivots[first + m]
