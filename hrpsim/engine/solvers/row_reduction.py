# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Inner loop of the direct solver's factorisation: subtract multiples of rows from a row.

Rows of six (fixed connections, driven hinges), five (hinges) and three numbers (contacts, balls)
stay in registers.
"""

from hrpsim.engine.compile.compiled import inlined_kernel
from hrpsim.engine.compile.kernel_types import Index, Vector

LARGEST = 1 << 40  # no pool has as many floats


@inlined_kernel  # many parameters: rows by places in flat arrays: no views in the inner loop
def reduce_row(
    blocks: Vector, row: Index, shares: Index, stride: int, source: Index, width: int,
    inverse: Vector, first: Index, terms: int,
) -> None:  # fmt: skip
    """Subtract multiples of the first rows of a block from a row.

    Args:
        blocks: numbers of all blocks. The row is written.
        row: index of the row's first number (width,).
        shares: index of the first multiplier. The multiplier of row m is D^-1 times the entry at
            `shares` + m `stride`.
        stride: interval between the multipliers.
        source: index of the block's first number.
        width: length of a row.
        inverse: D^-1 by row number.
        first: row number of the block's first row.
        terms: number of rows that are subtracted.
    """
    # Knowing that no index is negative, the compiler leaves out numpy's wrap-around and uses
    # vector instructions: half the time.
    if min(row, shares, source, first) < 0 or max(row, shares, source, first) > LARGEST:
        return
    r = 0
    while r + 6 <= width:
        at = row + r
        c0, c1, c2 = blocks[at], blocks[at + 1], blocks[at + 2]
        c3, c4, c5 = blocks[at + 3], blocks[at + 4], blocks[at + 5]
        for m in range(terms):
            factor = blocks[shares + m * stride] * inverse[first + m]
            u = source + m * width + r
            c0 -= factor * blocks[u]
            c1 -= factor * blocks[u + 1]
            c2 -= factor * blocks[u + 2]
            c3 -= factor * blocks[u + 3]
            c4 -= factor * blocks[u + 4]
            c5 -= factor * blocks[u + 5]
        blocks[at], blocks[at + 1], blocks[at + 2] = c0, c1, c2
        blocks[at + 3], blocks[at + 4], blocks[at + 5] = c3, c4, c5
        r += 6
    if r + 5 <= width:
        at = row + r
        c0, c1, c2 = blocks[at], blocks[at + 1], blocks[at + 2]
        c3, c4 = blocks[at + 3], blocks[at + 4]
        for m in range(terms):
            factor = blocks[shares + m * stride] * inverse[first + m]
            u = source + m * width + r
            c0 -= factor * blocks[u]
            c1 -= factor * blocks[u + 1]
            c2 -= factor * blocks[u + 2]
            c3 -= factor * blocks[u + 3]
            c4 -= factor * blocks[u + 4]
        blocks[at], blocks[at + 1], blocks[at + 2] = c0, c1, c2
        blocks[at + 3], blocks[at + 4] = c3, c4
        r += 5
    elif r + 3 <= width:
        at = row + r
        c0, c1, c2 = blocks[at], blocks[at + 1], blocks[at + 2]
        for m in range(terms):
            factor = blocks[shares + m * stride] * inverse[first + m]
            u = source + m * width + r
            c0 -= factor * blocks[u]
            c1 -= factor * blocks[u + 1]
            c2 -= factor * blocks[u + 2]
        blocks[at], blocks[at + 1], blocks[at + 2] = c0, c1, c2
        r += 3
    while r < width:
        c0 = blocks[row + r]
        for m in range(terms):
            factor = blocks[shares + m * stride] * inverse[first + m]
            c0 -= factor * blocks[source + m * width + r]
        blocks[row + r] = c0
        r += 1
