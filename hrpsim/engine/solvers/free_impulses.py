# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Null-space impulses of redundant rows, which distribute the load among these rows.

The columns of N are impulses that cause no motion: A N = 0 with A = J M^-1 J^T + Sigma. Each
released row has one column. The factor gives the column as the solution for a right side with only
one entry, the diagonal entry of this row. The gram matrix is N^T D N with the inverse masses D.
Eight columns are solved for at once, one in each SIMD lane. A system with more released rows than
STORED does not store N and uses conjugate gradients. Each product with N or N^T is then a solution
by the factor. Equations: docs/explanation/derivations/direct_rows.md, section 11.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Column, Index, Records, Row, Vector
from hrpsim.engine.solvers.block_ldl import Factor, solve
from hrpsim.engine.solvers.direct_system import STORED, DirectSystem
from hrpsim.engine.solvers.elimination import Elimination
from hrpsim.engine.spatial.simd import (
    LANES,
    broadcast,
    load,
    minus_times,
    plus_product,
    plus_times,
    store,
    sum_eight,
    times,
)

_SPREAD, _SEARCHES = 1e-10, 60  # of a search: share of an error that remains, directions


@inlined_kernel
def _lanes_used(system: DirectSystem) -> int:
    """Return the number of columns of N, rounded up to whole SIMD vectors."""
    return (system.factor.released_count[0] + LANES - 1) // LANES * LANES


@inner_kernel
def _make_columns(rows: Records[Row], row_count: int, system: DirectSystem) -> None:
    """Write N and the factor of N^T D N, unless they exist already for the present factor."""
    if system.factor.has_columns[0]:
        return
    system.factor.has_columns[0] = 1
    _find_columns(row_count, system)
    _write_gram(rows, row_count, system)
    _factorise_gram(system.factor.released_count[0], system.free.gram)


@inlined_kernel
def _find_columns(row_count: int, system: DirectSystem) -> None:
    """Write the matrix N of null-space impulses."""
    factor, free, used, count = system.factor, system.free, _lanes_used(system), 0
    for number in range(row_count):
        for k in range(0, used, LANES):
            store(free.columns, number * STORED + k, broadcast(0.0))
        if system.active[number] and factor.released[number]:
            free.columns[number * STORED + count] = factor.sizes[number]
            free.numbers[count] = number
            count += 1
    for k in range(0, used, LANES):
        _solve_lanes(system.elimination, factor, k, free.columns)


@inner_kernel
def _solve_lanes(elimination: Elimination, factor: Factor, at: Index, columns: Vector) -> None:
    """Replace eight right sides, in the lanes from column `at` on, by the solutions.

    A right side is zero before its released row, so the first block columns change nothing.
    """
    count = elimination.counts[0].node_count
    begun = False
    for k in range(count):
        if factor.live[k]:
            begun = begun or _releases(elimination.columns[k], factor)
            if begun:
                _solve_lanes_forward(elimination, k, factor, at, columns)
    for k in range(count - 1, -1, -1):
        if factor.live[k]:
            _solve_lanes_backward(elimination, k, factor, at, columns)


@inlined_kernel
def _releases(column: Column, factor: Factor) -> bool:
    """Return whether any row of a block column is released."""
    for number in range(column.first_row, column.first_row + column.size):
        if factor.released[number]:
            return True
    return False


@inlined_kernel
def _solve_lanes_forward(
    elimination: Elimination, k: Index, factor: Factor, at: Index, x: Vector
) -> None:
    """Solve L y = x and D z = y for block column k, and subtract its part from later rows."""
    column, blocks, inverse = elimination.columns[k], factor.blocks, factor.inverse_pivots
    first, size, own = column.first_row, column.size, column.block
    for m in range(size):
        place = (first + m) * STORED + at
        z = times(load(x, place), inverse[first + m])
        store(x, place, z)
        for p in range(m + 1, size):
            other = (first + p) * STORED + at
            store(x, other, minus_times(load(x, other), z, blocks[own + m * size + p]))
    for e in range(column.start, column.end):
        entry = elimination.entries[e]
        if factor.live[entry.column]:
            later = elimination.columns[entry.column]
            for r in range(later.size):
                place = (later.first_row + r) * STORED + at
                total = load(x, place)
                for m in range(size):
                    z = load(x, (first + m) * STORED + at)
                    total = minus_times(total, z, blocks[entry.block + m * later.size + r])
                store(x, place, total)


@inlined_kernel
def _solve_lanes_backward(
    elimination: Elimination, k: Index, factor: Factor, at: Index, x: Vector
) -> None:
    """Solve L^T x = z for block column k. The solution of all later columns must be known."""
    column, blocks, inverse = elimination.columns[k], factor.blocks, factor.inverse_pivots
    first, size, own = column.first_row, column.size, column.block
    for m in range(size - 1, -1, -1):
        total = broadcast(0.0)
        for e in range(column.start, column.end):
            entry = elimination.entries[e]
            if factor.live[entry.column]:
                later = elimination.columns[entry.column]
                row = entry.block + m * later.size
                for r in range(later.size):
                    other = load(x, (later.first_row + r) * STORED + at)
                    total = plus_times(total, other, blocks[row + r])
        for p in range(m + 1, size):
            other = load(x, (first + p) * STORED + at)
            total = plus_times(total, other, blocks[own + m * size + p])
        place = (first + m) * STORED + at
        store(x, place, minus_times(load(x, place), total, inverse[first + m]))


@inlined_kernel
def _write_gram(rows: Records[Row], row_count: int, system: DirectSystem) -> None:
    """Write the gram matrix N^T D N."""
    free, used, count = system.free, _lanes_used(system), system.factor.released_count[0]
    columns, gram = free.columns, free.gram
    for i in range(count):
        for k in range(0, used, LANES):
            store(gram, i * STORED + k, broadcast(0.0))
    for number in range(row_count):
        if not system.active[number]:
            continue
        first, weight = number * STORED, rows[number].inverse_mass
        for i in range(count):
            weighted = weight * columns[first + i]
            if weighted != 0.0:
                for k in range(0, used, LANES):
                    place = i * STORED + k
                    total = plus_times(load(gram, place), load(columns, first + k), weighted)
                    store(gram, place, total)


@inlined_kernel
def _factorise_gram(count: int, gram: Vector) -> None:
    """Replace the lower triangle of a positive definite matrix by L, and the diagonal by 1 / D."""
    for i in range(count):
        pivot = gram[i * STORED + i]
        for j in range(i):
            total = gram[i * STORED + j]
            for k in range(j):
                total -= gram[i * STORED + k] * gram[j * STORED + k]
            gram[i * STORED + j] = total  # times D, until the row is complete
        for j in range(i):
            factor = gram[i * STORED + j] * gram[j * STORED + j]
            pivot -= factor * gram[i * STORED + j]
            gram[i * STORED + j] = factor
        gram[i * STORED + i] = 1.0 / pivot


@inner_kernel
def project(rows: Records[Row], row_count: int, system: DirectSystem) -> float:
    """Write the product N^T w to `system.lacking`, with w = `system.weighed`.

    An entry is stored at the released row of its column. w is overwritten. If N is not stored yet
    and has many columns, one solution by the factor replaces the product. Often the result is zero,
    and N is not needed.

    Returns:
        The largest entry.
    """
    factor, free, largest = system.factor, system.free, 0.0
    if factor.released_count[0] > LANES and not factor.has_columns[0]:
        return _project_by_factor(row_count, system)
    _make_columns(rows, row_count, system)
    for k in range(0, _lanes_used(system), LANES):
        total = broadcast(0.0)
        for number in range(row_count):
            if system.active[number]:
                column = load(free.columns, number * STORED + k)
                total = plus_times(total, column, system.weighed[number])
        store(free.shares, k, total)
    for j in range(factor.released_count[0]):
        system.lacking[free.numbers[j]] = free.shares[j]
        largest = max(largest, abs(free.shares[j]))
    return largest


@inner_kernel
def project_solution(row_count: int, x: Vector, system: DirectSystem) -> float:
    """Write N^T b to `system.lacking`, given the factor's solution `x` for the right side b.

    Returns:
        The largest entry.
    """
    factor, largest = system.factor, 0.0
    for number in range(row_count):
        if system.active[number] and factor.released[number]:
            product = factor.sizes[number] * x[number]
            system.lacking[number] = product
            largest = max(largest, abs(product))
    return largest


@inlined_kernel
def _project_by_factor(row_count: int, system: DirectSystem) -> float:
    solve(system.elimination, system.active, system.factor, system.weighed)
    return project_solution(row_count, system.weighed, system)


@inner_kernel
def spread(rows: Records[Row], row_count: int, system: DirectSystem) -> None:
    """Write the impulses N c to `system.spread`, with N^T D N c = `system.lacking`."""
    count, free = system.factor.released_count[0], system.free
    if count > STORED:
        _search(rows, row_count, system)
        return
    _make_columns(rows, row_count, system)
    gram, shares, used = free.gram, free.shares, _lanes_used(system)
    for i in range(count):
        total = system.lacking[free.numbers[i]]
        for j in range(i):
            total -= gram[i * STORED + j] * shares[j]
        shares[i] = total
    for i in range(count - 1, -1, -1):
        total = shares[i] * gram[i * STORED + i]
        for j in range(i + 1, count):
            total -= gram[j * STORED + i] * shares[j]
        shares[i] = total
    for i in range(count, used):
        shares[i] = 0.0
    for number in range(row_count):
        total = broadcast(0.0)
        for k in range(0, used, LANES):
            total = plus_product(total, load(free.columns, number * STORED + k), load(shares, k))
        system.spread[number] = sum_eight(total)


@inlined_kernel
def _begin_along(row_count: int, system: DirectSystem) -> float:
    """Set the search direction to `lacking`, clear the solution, and return the squared norm."""
    size = 0.0
    for number in range(row_count):
        system.spread[number] = system.along[number] = 0.0
        if system.active[number] and system.factor.released[number]:
            system.along[number] = system.lacking[number]
            size += system.lacking[number] ** 2
    return size


@inlined_kernel
def _weigh(rows: Records[Row], row_count: int, system: DirectSystem) -> float:
    """Write `weighed` = D `moved`, and return the curvature `moved` . D `moved`."""
    curvature = 0.0
    for number in range(row_count):
        if system.active[number]:
            system.weighed[number] = rows[number].inverse_mass * system.moved[number]
            curvature += system.moved[number] * system.weighed[number]
    return curvature


@inlined_kernel
def _subtract_projection(row_count: int, length: float, system: DirectSystem) -> float:
    """Subtract `length` N^T `weighed` from `lacking`. Return the new squared norm of `lacking`."""
    lacking, moved, size = system.lacking, system.moved, 0.0
    for number in range(row_count):  # the projection takes the place of `weighed`
        moved[number] = lacking[number]
    _project_by_factor(row_count, system)
    for number in range(row_count):
        if system.active[number] and system.factor.released[number]:
            lacking[number] = moved[number] - length * lacking[number]
            size += lacking[number] ** 2
    return size


@inner_kernel
def _search(rows: Records[Row], row_count: int, system: DirectSystem) -> None:
    """Solve for `system.spread` by conjugate gradients (Hestenes and Stiefel 1952)."""
    factor, lacking, along, moved = system.factor, system.lacking, system.along, system.moved
    size = _begin_along(row_count, system)
    least = _SPREAD * _SPREAD * size
    for _ in range(min(factor.released_count[0], _SEARCHES)):
        if size <= least:
            return
        for number in range(row_count):
            moved[number] = factor.sizes[number] * along[number]
        solve(system.elimination, system.active, factor, moved)
        curvature = _weigh(rows, row_count, system)
        length, before = size / curvature, size
        for number in range(row_count):
            if system.active[number]:
                system.spread[number] += length * moved[number]
        size = _subtract_projection(row_count, length, system)
        for number in range(row_count):
            if system.active[number] and factor.released[number]:
                along[number] = lacking[number] + size / before * along[number]
