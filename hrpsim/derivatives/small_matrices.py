# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Products, orthonormal rows and inverses of small matrices with contiguous rows."""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import IndexTable, Indices, Matrix, Vector
from hrpsim.engine.spatial.vector import copy_vector

_EXACT = 1e-7  # share of a row below which a difference of squares is rounding
_SINGULAR = 1e-12  # share of the largest pivot from which on the others are rounding


@inner_kernel
def add_scaled(row: Vector, share: float, out: Vector) -> None:
    """Add a row times `share` to `out`.

    Args:
        row: (width or more,).
        share: factor of the row.
        out: sum (width,), changed.
    """
    for j in range(out.shape[0]):
        out[j] += share * row[j]


@inner_kernel
def add_product(factors: Vector, m: int, scale: float, rows: Matrix, out: Vector) -> None:
    """Add `scale` times the product of factors (m,) and rows (m, width) to `out`.

    Args:
        factors: factors of the rows (m or more,).
        m: number of rows.
        scale: common factor.
        rows: (m or more, width or more).
        out: sum (width,), changed.
    """
    width, k = out.shape[0], 0
    while k + 4 <= m:
        a, b = scale * factors[k], scale * factors[k + 1]
        c, d = scale * factors[k + 2], scale * factors[k + 3]
        if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
            p, q, r, s = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
            for j in range(width):
                out[j] += a * p[j] + b * q[j] + (c * r[j] + d * s[j])
        k += 4
    while k < m:
        add_scaled(rows[k], scale * factors[k], out)
        k += 1


@inlined_kernel
def inner_product(a: Vector, b: Vector, width: int) -> float:
    """Return the scalar product of the first `width` entries of two vectors.

    `a` (n,) and `b` (n,) have at least `width` entries.
    """
    total = 0.0
    for j in range(width):
        total += a[j] * b[j]
    return total


@inlined_kernel
def _measure_remains(
    rows: Matrix, sizes: Vector, counts: tuple[int, int, int], axes: Matrix, remains_out: Vector
) -> None:
    """Write the squared part of each row perpendicular to the axes, relative to the row's size.

    Rows of size 0 get -2.
    """
    n, width, first = counts
    for i in range(n):
        remains_out[i] = -2.0
        if sizes[i] > 0.0:
            remains_out[i] = inner_product(rows[i], rows[i], width) / sizes[i] ** 2
            for k in range(first):
                remains_out[i] -= (inner_product(rows[i], axes[k], width) / sizes[i]) ** 2


@inlined_kernel
def _largest_above(bound: float, n: int, values: Vector) -> int:
    """Return the index of the largest of `n` values, or -1 if none is above the bound."""
    best, largest = -1, bound
    for i in range(n):
        if values[i] > largest:
            best, largest = i, values[i]
    return best


@inner_kernel
def orthonormalise(
    rows: Matrix,
    sizes: Vector,
    counts: tuple[int, int, int],
    least: float,
    remains: Vector,
    axes_out: Matrix,
    chosen_out: Indices,
) -> int:
    """Write orthonormal rows (axes) that span given rows: pivoted Gram-Schmidt.

    Each row is orthogonalised twice (Giraud et al. 2005). The row with the largest remainder comes
    first. A row is linearly dependent if at most `least` times its size remains.

    Args:
        rows: given rows (n or more, width or more).
        sizes: sizes of the rows (n or more,). Rows of size 0 are left out.
        counts: n, width, and `first`, the number of axes before the call.
        least: fraction of the size of a row.
        remains: work (n or more,).
        axes_out: orthonormal rows (width or more, width or more). Rows from `first` on are written.
        chosen_out: the row of each axis, from axis `first` on (width,), written.

    Returns:
        The total number of axes.
    """
    n, width, first = counts
    count, enough = first, least * least if least > _EXACT else -1.0
    _measure_remains(rows, sizes, counts, axes_out, remains)
    while count < width:
        best = _largest_above(enough, n, remains)
        if best < 0:
            break
        axis, remains[best] = axes_out[count, :width], -2.0
        copy_vector(rows[best, :width], axis)
        for _ in range(2):
            for k in range(count):
                add_scaled(axes_out[k], -inner_product(axis, axes_out[k], width), axis)
        size = math.sqrt(inner_product(axis, axis, width))
        if size <= least * sizes[best]:
            continue
        for j in range(width):
            axis[j] /= size
        chosen_out[count - first] = best
        count += 1
        for i in range(n):
            if remains[i] >= enough:
                component = inner_product(rows[i], axis, width) / sizes[i]
                remains[i] = max(remains[i] - component * component, 0.0)
    return count


@inner_kernel
def set_unit(m: int, out: Matrix) -> None:
    """Write the unit matrix to the first `m` rows and columns of `out` (m or more, m or more)."""
    for i in range(m):
        out[i, :m] = 0.0
        out[i, i] = 1.0


@inner_kernel
def _copy(m: int, matrix: Matrix, out: Matrix) -> None:
    for i in range(m):
        for j in range(m):
            out[i, j] = matrix[i, j]


@inlined_kernel
def _find_pivot(m: int, A: Matrix, column: Indices, taken: Indices) -> tuple[float, int, int]:
    """Return the entry with the largest magnitude in rows and columns without a pivot.

    Returns:
        (magnitude, row, column).
    """
    largest, k, c = 0.0, -1, -1
    for i in range(m):
        if column[i] < 0:
            for j in range(m):
                if abs(A[i, j]) > largest and not taken[j]:
                    largest, k, c = abs(A[i, j]), i, j
    return largest, k, c


@inner_kernel
def invert(m: int, A: Matrix, order: IndexTable, inverse_out: Matrix) -> None:
    """Write the inverse of a matrix, or of its largest regular submatrix.

    The method is Gauss-Jordan elimination with complete pivots. Rows and columns of the inverse
    without a pivot are zero.

    Args:
        m: number of rows.
        A: matrix (m or more, m or more), overwritten.
        order: work (2, m or more), the columns of the pivots.
        inverse_out: inverse (m or more, m or more), written.
    """
    column, taken, first = order[0], order[1], 0.0
    column[:m] = -1
    taken[:m] = 0
    set_unit(m, inverse_out)
    for _ in range(m):
        largest, k, c = _find_pivot(m, A, column, taken)
        first = max(first, largest)
        if largest <= _SINGULAR * first:
            break
        column[k], taken[c], scale = c, 1, 1.0 / A[k, c]
        for j in range(m):
            A[k, j] *= scale
            inverse_out[k, j] *= scale
        for i in range(m):
            factor = A[i, c]
            if i != k and factor != 0.0:
                add_scaled(A[k], -factor, A[i, :m])
                add_scaled(inverse_out[k], -factor, inverse_out[i, :m])
    A[:m, :m] = 0.0
    for i in range(m):
        if column[i] >= 0:
            for j in range(m):
                A[column[i], j] = inverse_out[i, j]
    _copy(m, A, inverse_out)
