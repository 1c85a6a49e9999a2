# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The matrix I + G^T D G of Newton's method, and products with G.

Newton's method solves w = G^T l(v_free + G w) for the motion w, with D = -dl/dv. l are the impulses
of the rows. The matrix has one block for each tree, and one for every two trees that push each
other (`system`). If nothing slips, D is symmetric and positive semi-definite, and the matrix is
positive definite. An arm is the part of G for one row and one tree. In `arms`, an index `arm`
points to the first number of an arm.
"""

from __future__ import annotations

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Constraint, Index, Vec3, Vector
from hrpsim.engine.solvers.newton.contact_blocks import add_free_body_contacts, is_free_body
from hrpsim.engine.solvers.newton.coulomb_law import OPEN
from hrpsim.engine.solvers.newton.newton_problem import NewtonSystem
from hrpsim.engine.solvers.newton.tree_coordinates import LARGEST, is_padded
from hrpsim.engine.spatial.simd import (
    LANES,
    load,
    plus_product,
    plus_times,
    product,
    store,
    store_six,
    sum_eight,
    sum_six,
    times,
)


@inner_kernel
def write_matrix(system: NewtonSystem) -> None:
    """Write I + G^T D G for the present stiffness D of the constraint blocks."""
    capacity, upper, lower = system.capacity[0], system.upper, system.lower
    capacity.factorisations += 1
    for at in range(capacity.blocks):
        upper[at] = lower[at] = 0.0
    for k in range(capacity.nodes):
        column = system.structure.columns[k]
        for c in range(column.size):
            upper[column.block + c * (column.size + 1)] = 1.0
    k = 0
    while k < capacity.constraints:
        constraint, end = system.constraints[k], k + 1
        constraint.factor_state = constraint.state
        if is_free_body(constraint):
            end = add_free_body_contacts(k, system)
        elif constraint.state != OPEN:
            _add_constraint(constraint, system)
        k = end


@inlined_kernel
def _add_constraint(constraint: Constraint, system: NewtonSystem) -> None:
    """Add G^T D G of a constraint block to the blocks of its trees."""
    arms, upper, columns = system.arms, system.upper, system.structure.columns
    a, b, rank_a, rank_b = constraint.arm_a, constraint.arm_b, constraint.rank_a, constraint.rank_b
    i = system.graph.position[constraint.node_a]
    d = constraint.stiffness
    across = d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8]
    down = d[0], d[3], d[6], d[1], d[4], d[7], d[2], d[5], d[8]
    _add_block(constraint, down, arms, a, rank_a, a, rank_a, upper, columns[i].block)
    if constraint.node_b < 0:
        return
    j = system.graph.position[constraint.node_b]
    _add_block(constraint, down, arms, b, rank_b, b, rank_b, upper, columns[j].block)
    if i < j:
        _add_block(constraint, down, arms, a, rank_a, b, rank_b, upper, constraint.block)
        _add_block(constraint, across, arms, a, rank_a, b, rank_b, system.lower, constraint.block)
    else:
        _add_block(constraint, down, arms, b, rank_b, a, rank_a, upper, constraint.block)
        _add_block(constraint, across, arms, b, rank_b, a, rank_a, system.lower, constraint.block)


@inlined_kernel  # many parameters: rows by places in flat arrays: no views in the inner loop
def _add_block(
    constraint: Constraint, d: tuple[float, ...], arms: Vector, outer: int, height: int, inner: int,
    width: int, matrix: Vector, block: Index,
) -> None:  # fmt: skip
    """Add G_outer^T D G_inner to a block (height, width), or to its transpose.

    `d` holds D by columns. If `d` holds D by rows, the kernel adds G_inner^T D G_outer instead,
    column by column.
    """
    if constraint.size == 3 and is_padded(width):
        _add_padded(d, arms, outer, height, inner, width, matrix, block)
        return
    for k in range(height):
        n, at = arms[outer + k], block + k * width
        if constraint.size == 1:
            _add_multiple(arms, inner, d[0] * n, width, matrix, at)
            continue
        x, y = arms[outer + height + k], arms[outer + 2 * height + k]
        by_n = d[0] * n + d[1] * x + d[2] * y
        by_x = d[3] * n + d[4] * x + d[5] * y
        by_y = d[6] * n + d[7] * x + d[8] * y
        _add_three(arms, inner, by_n, by_x, by_y, width, matrix, at)


@inlined_kernel
def _add_padded(
    d: tuple[float, ...],
    arms: Vector,
    outer: int,
    height: int,
    inner: int,
    width: int,
    matrix: Vector,
    block: Index,
) -> None:
    """Add G_outer^T D G_inner to a block, as `_add_block`, for rows that fill whole registers."""
    if min(outer, inner, block) < 0 or max(outer, inner, block) > LARGEST:
        return
    for c in range(0, width, LANES):
        n, x = load(arms, inner + c), load(arms, inner + width + c)
        y = load(arms, inner + 2 * width + c)
        by_n = plus_times(plus_times(times(n, d[0]), x, d[3]), y, d[6])
        by_x = plus_times(plus_times(times(n, d[1]), x, d[4]), y, d[7])
        by_y = plus_times(plus_times(times(n, d[2]), x, d[5]), y, d[8])
        for k in range(height):
            at = block + k * width + c
            row = plus_times(load(matrix, at), by_n, arms[outer + k])
            row = plus_times(row, by_x, arms[outer + height + k])
            store(matrix, at, plus_times(row, by_y, arms[outer + 2 * height + k]))


@inlined_kernel
def _add_three(
    arms: Vector, arm: Index, n: float, x: float, y: float, width: int, matrix: Vector, at: Index
) -> None:
    """Add n, x and y times the three rows (width,) of an arm to the matrix, from index `at` on."""
    # Knowing that no index is negative, the compiler leaves out numpy's wrap-around.
    if arm < 0 or at < 0 or arm > LARGEST or at > LARGEST:
        return
    for c in range(width):
        total = n * arms[arm + c] + x * arms[arm + width + c]
        matrix[at + c] += total + y * arms[arm + 2 * width + c]


@inlined_kernel
def _add_multiple(row: Vector, first: Index, by: float, width: int, out: Vector, at: Index) -> None:
    """Add a multiple of `width` entries of a row to `out`, from entry `at` on."""
    if first < 0 or at < 0 or first > LARGEST or at > LARGEST:
        return
    if is_padded(width):
        for c in range(0, width, LANES):
            store(out, at + c, plus_times(load(out, at + c), load(row, first + c), by))
        return
    for c in range(width):
        out[at + c] += by * row[first + c]


@inlined_kernel
def _product(arms: Vector, arm: Index, w: Vector, first: Index, width: int) -> float:
    """Return the scalar product of an arm (width,) with `width` entries of `w`, from `first` on."""
    if arm < 0 or first < 0 or arm > LARGEST or first > LARGEST:
        return 0.0
    if is_padded(width):
        sums = product(load(arms, arm), load(w, first))
        for c in range(LANES, width, LANES):
            sums = plus_product(sums, load(arms, arm + c), load(w, first + c))
        return sum_eight(sums)
    total = 0.0
    for c in range(width):
        total += arms[arm + c] * w[first + c]
    return total


@inlined_kernel
def _motion_of_free_body(constraint: Constraint, arms: Vector, w: Vector, out: Vec3) -> None:
    """Write G w for a contact of free bodies. `w` needs LANES spare numbers at its end."""
    arm, first = constraint.arm_a, constraint.first_a
    if min(arm, first) < 0 or max(arm, first) > LARGEST:
        return
    along = load(w, first)
    n, x, y = (
        product(load(arms, arm), along),
        product(load(arms, arm + 6), along),
        product(load(arms, arm + 12), along),
    )
    if constraint.node_b >= 0:
        arm, first = constraint.arm_b, constraint.first_b
        if min(arm, first) < 0 or max(arm, first) > LARGEST:
            return
        along = load(w, first)
        n = plus_product(n, load(arms, arm), along)
        x = plus_product(x, load(arms, arm + 6), along)
        y = plus_product(y, load(arms, arm + 12), along)
    out[0], out[1], out[2] = sum_six(n), sum_six(x), sum_six(y)


@inlined_kernel
def _push_free_body(
    arms: Vector, arm: Index, impulse: Vec3, share: float, w: Vector, first: Index
) -> None:
    """Add `share` times the motion caused by an impulse (3,) on a free body to its part of `w`."""
    if min(arm, first) < 0 or max(arm, first) > LARGEST:
        return
    row = plus_times(load(w, first), load(arms, arm), share * impulse[0])
    row = plus_times(row, load(arms, arm + 6), share * impulse[1])
    store_six(w, first, plus_times(row, load(arms, arm + 12), share * impulse[2]))


@inlined_kernel
def _push_padded(
    constraint: Constraint, arms: Vector, impulse: Vec3, share: float, w: Vector
) -> None:
    """Add the motion of an impulse on one tree to `w`, as `_push_free_body`, for padded rows."""
    arm, first, width = constraint.arm_a, constraint.first_a, constraint.rank_a
    n, x, y = share * impulse[0], share * impulse[1], share * impulse[2]
    if (n == 0.0 and x == 0.0 and y == 0.0) or min(arm, first) < 0 or max(arm, first) > LARGEST:
        return
    for c in range(0, width, LANES):
        row = plus_times(load(w, first + c), load(arms, arm + c), n)
        row = plus_times(row, load(arms, arm + width + c), x)
        store(w, first + c, plus_times(row, load(arms, arm + 2 * width + c), y))


@inner_kernel
def motion_along(constraint: Constraint, system: NewtonSystem, w: Vector, out: Vec3) -> None:
    """Write the velocities G w of one constraint block into `out` (3,)."""
    arms = system.arms
    if is_free_body(constraint):
        _motion_of_free_body(constraint, arms, w, out)
        return
    for r in range(constraint.size):
        arm, rank = constraint.arm_a + r * constraint.rank_a, constraint.rank_a
        total = _product(arms, arm, w, constraint.first_a, rank)
        if constraint.node_b >= 0:
            arm, rank = constraint.arm_b + r * constraint.rank_b, constraint.rank_b
            total += _product(arms, arm, w, constraint.first_b, rank)
        out[r] = total


@inlined_kernel
def clear_motion(system: NewtonSystem, w: Vector) -> None:
    """Set a motion `w` (coordinates,) to zero."""
    for c in range(system.capacity[0].coordinates):
        w[c] = 0.0


@inner_kernel
def add_push(
    constraint: Constraint, system: NewtonSystem, impulse: Vec3, share: float, w: Vector
) -> None:
    """Add the motion `share` G^T impulse to `w`, for the impulse (3,) of a constraint block."""
    arms = system.arms
    if is_free_body(constraint):
        _push_free_body(arms, constraint.arm_a, impulse, share, w, constraint.first_a)
        if constraint.node_b >= 0:
            _push_free_body(arms, constraint.arm_b, impulse, share, w, constraint.first_b)
        return
    if constraint.size == 3 and constraint.node_b < 0 and is_padded(constraint.rank_a):
        _push_padded(constraint, arms, impulse, share, w)
        return
    for r in range(constraint.size):
        by = share * impulse[r]
        if by == 0.0:
            continue
        arm, rank = constraint.arm_a + r * constraint.rank_a, constraint.rank_a
        _add_multiple(arms, arm, by, rank, w, constraint.first_a)
        if constraint.node_b >= 0:
            arm, rank = constraint.arm_b + r * constraint.rank_b, constraint.rank_b
            _add_multiple(arms, arm, by, rank, w, constraint.first_b)
