# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Block-sparse L U without pivoting, for a symmetric structure with unsymmetric values.

Block column k has a block for each later column i that is coupled to k. `upper` holds the block (k,
i) (size of k, size of i). `lower` holds the block (i, k), transposed, at the same index. Both
blocks have the same shape. Diagonal blocks are in `upper`. The structure is `system.Columns`.
Blocks of free bodies, 6 by 6, are computed row by row in registers of eight numbers. Arrays
therefore have spare entries behind the last block and behind a right side (`spatial.simd`).
Functions named ..._six treat 6 by 6 blocks. Integers such as `own`, `block` and `target` are
indices of the first number of a block or row.
"""

from __future__ import annotations

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Column, Index, Lanes, Vector
from hrpsim.engine.solvers.newton.newton_problem import Columns
from hrpsim.engine.solvers.newton.tree_coordinates import LARGEST, is_padded
from hrpsim.engine.spatial.simd import (
    LANES,
    broadcast,
    lanes_from,
    load,
    minus_times,
    plus_product,
    store,
    store_six,
    sum_six,
    times,
)


@inner_kernel
def factorise_lu(structure: Columns, upper: Vector, lower: Vector) -> bool:
    """Replace the blocks of a matrix by the blocks of its factors L and U.

    Returns:
        Whether all pivots are valid.
    """
    for k in range(structure.counts[0].node_count):
        if not _eliminate_column(structure, k, upper, lower):
            return False
        _update_later(structure, k, upper, lower)
    return True


@inlined_kernel
def _eliminate_column(structure: Columns, k: Index, upper: Vector, lower: Vector) -> bool:
    """Factorise the diagonal block of column k, and solve its other blocks for L and U."""
    column = structure.columns[k]
    size, own = column.size, column.block
    done = _factorise_padded(own, size, upper) if is_padded(size) else _factorise(own, size, upper)
    if not done:
        return False
    for e in range(column.start, column.end):
        block = structure.entries[e].block
        width = structure.columns[structure.entries[e].column].size
        if size == 6 and width == 6:
            _solve_upper_six(own, block, upper)
            _solve_lower_six(own, block, upper, lower)
        else:
            _solve_block(own, size, block, width, upper, lower)
    return True


@inlined_kernel
def _factorise(own: Index, size: int, upper: Vector) -> bool:
    """Replace a diagonal block by its factors, and return whether all pivots are valid."""
    for p in range(size):
        for q in range(p, size):
            total = upper[own + p * size + q]
            for m in range(p):
                total -= upper[own + p * size + m] * upper[own + m * size + q]
            upper[own + p * size + q] = total
        pivot = upper[own + p * size + p]
        if not (abs(pivot) > 1e-300 and math.isfinite(pivot)):
            return False
        inverse = 1.0 / pivot
        for q in range(p + 1, size):
            total = upper[own + q * size + p]
            for m in range(p):
                total -= upper[own + q * size + m] * upper[own + m * size + p]
            upper[own + q * size + p] = total * inverse
    return True


@inlined_kernel
def _factorise_padded(own: Index, size: int, upper: Vector) -> bool:
    """Factorise a diagonal block whose rows fill whole registers, as `_factorise` does.

    Each row is subtracted from all later rows. Rows beyond the rank have 1 on the diagonal, and
    change nothing.
    """
    if own < 0 or own > LARGEST:
        return False
    for p in range(size):
        row, first = own + p * size, p - p % LANES
        pivot = upper[row + p]
        if not (abs(pivot) > 1e-300 and math.isfinite(pivot)):
            return False
        inverse = 1.0 / pivot
        pivots = lanes_from(load(upper, row + first), p - first + 1)
        for q in range(p + 1, size):
            other = own + q * size
            factor = upper[other + p] * inverse
            if factor == 0.0:
                continue
            store(upper, other + first, minus_times(load(upper, other + first), pivots, factor))
            for c in range(first + LANES, size, LANES):
                pivot_lanes = load(upper, row + c)
                store(upper, other + c, minus_times(load(upper, other + c), pivot_lanes, factor))
            upper[other + p] = factor
    return True


@inlined_kernel
def _solve_block(
    own: Index, size: int, block: Index, width: int, upper: Vector, lower: Vector
) -> None:
    """Solve L U_ki = A_ki and U^T L_ik^T = A_ik^T for one pair of blocks, in place."""
    for p in range(size):
        row = block + p * width
        if p > 0:
            _take_rows(upper, own + p * size, 1, upper, block, p, width, upper, row)
            _take_rows(upper, own + p, size, lower, block, p, width, lower, row)
        inverse = 1.0 / upper[own + p * size + p]
        for r in range(width):
            lower[row + r] *= inverse


@inlined_kernel
def _solve_upper_six(own: Index, block: Index, upper: Vector) -> None:
    """Solve L U_ki = A_ki for a block of six rows and columns."""
    if own < 0 or block < 0 or max(own, block) > LARGEST:
        return
    a, b, c = load(upper, block), load(upper, block + 6), load(upper, block + 12)
    d, e, f = load(upper, block + 18), load(upper, block + 24), load(upper, block + 30)
    b = minus_times(b, a, upper[own + 6])
    c = _less_two(c, a, upper[own + 12], b, upper[own + 13])
    d = _less_two(d, a, upper[own + 18], b, upper[own + 19])
    d = minus_times(d, c, upper[own + 20])
    e = _less_two(e, a, upper[own + 24], b, upper[own + 25])
    e = _less_two(e, c, upper[own + 26], d, upper[own + 27])
    f = _less_two(f, a, upper[own + 30], b, upper[own + 31])
    f = _less_two(f, c, upper[own + 32], d, upper[own + 33])
    f = minus_times(f, e, upper[own + 34])
    _store_rows(upper, block, a, b, c, d, e, f)


@inlined_kernel
def _solve_lower_six(own: Index, block: Index, upper: Vector, lower: Vector) -> None:
    """Solve U^T L_ik^T = A_ik^T for a block of six rows and columns."""
    if own < 0 or block < 0 or max(own, block) > LARGEST:
        return
    a, b, c = load(lower, block), load(lower, block + 6), load(lower, block + 12)
    d, e, f = load(lower, block + 18), load(lower, block + 24), load(lower, block + 30)
    a = times(a, 1.0 / upper[own])
    b = times(minus_times(b, a, upper[own + 1]), 1.0 / upper[own + 7])
    c = _less_two(c, a, upper[own + 2], b, upper[own + 8])
    c = times(c, 1.0 / upper[own + 14])
    d = _less_two(d, a, upper[own + 3], b, upper[own + 9])
    d = times(minus_times(d, c, upper[own + 15]), 1.0 / upper[own + 21])
    e = _less_two(e, a, upper[own + 4], b, upper[own + 10])
    e = _less_two(e, c, upper[own + 16], d, upper[own + 22])
    e = times(e, 1.0 / upper[own + 28])
    f = _less_two(f, a, upper[own + 5], b, upper[own + 11])
    f = _less_two(f, c, upper[own + 17], d, upper[own + 23])
    f = times(minus_times(f, e, upper[own + 29]), 1.0 / upper[own + 35])
    _store_rows(lower, block, a, b, c, d, e, f)


@inlined_kernel
def _less_two(row: Lanes, a: Lanes, x: float, b: Lanes, y: float) -> Lanes:
    """Return a row minus multiples of two other rows."""
    return minus_times(minus_times(row, a, x), b, y)


@inlined_kernel
def _store_rows(
    matrix: Vector, block: Index, a: Lanes, b: Lanes, c: Lanes, d: Lanes, e: Lanes, f: Lanes
) -> None:
    """Write six rows of six numbers each into a matrix, from index `block` on."""
    store_six(matrix, block, a)
    store_six(matrix, block + 6, b)
    store_six(matrix, block + 12, c)
    store_six(matrix, block + 18, d)
    store_six(matrix, block + 24, e)
    store_six(matrix, block + 30, f)


@inlined_kernel  # many parameters: rows by places in flat arrays: no views in the inner loop
def _take_rows(
    shares: Vector, first_share: Index, stride: int, source: Vector, first: Index, terms: int,
    width: int, target: Vector, row: Index,
) -> None:  # fmt: skip
    """Subtract the first `terms` rows of the block at `first`, times multipliers, from a row.

    shares: array of the multipliers, from `first_share` on at intervals of `stride`. target: array
    of the row, from index `row` on (width,).
    """
    # Knowing that no index is negative, the compiler leaves out numpy's wrap-around.
    if min(first_share, first, row) < 0 or max(first_share, first, row) > LARGEST:
        return
    for r in range(width):
        total = target[row + r]
        for m in range(terms):
            total -= shares[first_share + m * stride] * source[first + m * width + r]
        target[row + r] = total


@inlined_kernel
def _update_later(structure: Columns, k: Index, upper: Vector, lower: Vector) -> None:
    """Subtract the products of column k's blocks from every later block that column k couples."""
    column, columns, entries = structure.columns[k], structure.columns, structure.entries
    size = column.size
    for e in range(column.start, column.end):
        i, at_i = entries[e].column, entries[e].block
        later = columns[i]
        _take_block(lower, at_i, upper, at_i, size, later.size, later.size, upper, later.block)
        target = later.start
        for f in range(e + 1, column.end):
            j, at_j = entries[f].column, entries[f].block
            while entries[target].column < j:
                target += 1
            block, width = entries[target].block, columns[j].size
            _take_block(lower, at_i, upper, at_j, size, later.size, width, upper, block)
            _take_block(upper, at_i, lower, at_j, size, later.size, width, lower, block)


@inlined_kernel  # many parameters: rows by places in flat arrays: no views in the inner loop
def _take_block(
    left: Vector, at_left: Index, right: Vector, at_right: Index, size: int, height: int,
    width: int, target: Vector, block: Index,
) -> None:  # fmt: skip
    """Subtract left^T right from a block (height, width). left is (size, height)."""
    if size == 6 and height == 6 and width == 6:
        _take_six(left, at_left, right, at_right, target, block)
        return
    for p in range(height):
        row = block + p * width
        _take_rows(left, at_left + p, height, right, at_right, size, width, target, row)


@inlined_kernel
def _take_six(
    left: Vector, at_left: Index, right: Vector, at_right: Index, target: Vector, block: Index
) -> None:
    """Subtract left^T right from a block. All three blocks have six rows and columns."""
    if min(at_left, at_right, block) < 0 or max(at_left, at_right, block) > LARGEST:
        return
    a, b, c = load(right, at_right), load(right, at_right + 6), load(right, at_right + 12)
    d, e, f = load(right, at_right + 18), load(right, at_right + 24), load(right, at_right + 30)
    for p in range(6):
        entry = at_left + p
        row = load(target, block + 6 * p)
        row = _less_two(row, a, left[entry], b, left[entry + 6])
        row = _less_two(row, c, left[entry + 12], d, left[entry + 18])
        row = _less_two(row, e, left[entry + 24], f, left[entry + 30])
        store_six(target, block + 6 * p, row)


@inner_kernel
def solve_lu(structure: Columns, upper: Vector, lower: Vector, x: Vector) -> None:
    """Solve a linear system by its factors. `x` (coordinates + lanes,) is input and output."""
    count = structure.counts[0].node_count
    for k in range(count):
        _solve_forward(structure, structure.columns[k], upper, lower, x)
    for k in range(count - 1, -1, -1):
        _solve_backward(structure, structure.columns[k], upper, x)


@inlined_kernel
def _solve_forward(
    structure: Columns, column: Column, upper: Vector, lower: Vector, x: Vector
) -> None:
    """Solve L y = x for a column, and subtract the column's contribution from the later rows."""
    size, first, own = column.size, column.first_row, column.block
    for p in range(size):
        total = x[first + p]
        for m in range(p):
            total -= upper[own + p * size + m] * x[first + m]
        x[first + p] = total
    for e in range(column.start, column.end):
        later = structure.columns[structure.entries[e].column]
        if size == 6 and later.size == 6:
            _take_product_six(lower, structure.entries[e].block, first, later.first_row, x)
        else:
            _take_product(lower, structure.entries[e].block, size, first, later, x)


@inlined_kernel
def _solve_backward(structure: Columns, column: Column, upper: Vector, x: Vector) -> None:
    """Solve U x = y for a column. The solution of all later columns must be known."""
    size, first, own = column.size, column.first_row, column.block
    if size == 6:
        _take_later_six(structure, column, upper, x)
    for e in range(column.start, column.end):
        later = structure.columns[structure.entries[e].column]
        if size == 6 and later.size == 6:
            continue
        for p in range(size):
            total, row = 0.0, structure.entries[e].block + p * later.size
            for r in range(later.size):
                total += upper[row + r] * x[later.first_row + r]
            x[first + p] -= total
    for p in range(size - 1, -1, -1):
        total = x[first + p]
        for m in range(p + 1, size):
            total -= upper[own + p * size + m] * x[first + m]
        x[first + p] = total / upper[own + p * size + p]


@inlined_kernel
def _take_product(
    lower: Vector, block: Index, size: int, first: Index, later: Column, x: Vector
) -> None:
    """Subtract L_ik times the solution of column k from the right side of later column i."""
    for p in range(size):
        solution, row = x[first + p], block + p * later.size
        for r in range(later.size):
            x[later.first_row + r] -= lower[row + r] * solution


@inlined_kernel
def _take_product_six(lower: Vector, block: Index, first: Index, later: Index, x: Vector) -> None:
    """Subtract L_ik, six by six, times the solution at `first` from the right side at `later`."""
    if min(block, first, later) < 0 or max(block, first, later) > LARGEST:
        return
    row = load(x, later)
    row = _less_two(row, load(lower, block), x[first], load(lower, block + 6), x[first + 1])
    row = _less_two(
        row, load(lower, block + 12), x[first + 2], load(lower, block + 18), x[first + 3]
    )
    row = _less_two(
        row, load(lower, block + 24), x[first + 4], load(lower, block + 30), x[first + 5]
    )
    store_six(x, later, row)


@inlined_kernel
def _take_later_six(structure: Columns, column: Column, upper: Vector, x: Vector) -> None:
    """Subtract U_ki times the solution of each later column i from column k. All have size six."""
    a = b = c = d = e = f = broadcast(0.0)
    for number in range(column.start, column.end):
        later = structure.columns[structure.entries[number].column]
        block, at = structure.entries[number].block, later.first_row
        if later.size != 6 or min(block, at) < 0 or max(block, at) > LARGEST:
            continue
        row = load(x, at)
        a = plus_product(a, load(upper, block), row)
        b = plus_product(b, load(upper, block + 6), row)
        c = plus_product(c, load(upper, block + 12), row)
        d = plus_product(d, load(upper, block + 18), row)
        e = plus_product(e, load(upper, block + 24), row)
        f = plus_product(f, load(upper, block + 30), row)
    first = column.first_row
    x[first] -= sum_six(a)
    x[first + 1] -= sum_six(b)
    x[first + 2] -= sum_six(c)
    x[first + 3] -= sum_six(d)
    x[first + 4] -= sum_six(e)
    x[first + 5] -= sum_six(f)
