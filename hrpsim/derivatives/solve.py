# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Solve for the derivatives of velocity and impulses: dynamics and active constraint rows.

    M dv' - F' dl = r,   J dv' + S dl = b,   for all columns of r and b at once.

M is the mass matrix and S the compliance. J and F are as in hrpsim.derivatives.room. dv' and dl are
the derivatives of velocity and impulses. J = C Z and F = G Z, with the coordinates Z v. The
unknowns are y = A R dv', with M = R' R. The rows of A ("axes") are orthonormal and span the
coordinates. In terms of y, the mass matrix is the unit matrix.
docs/explanation/linearization_solution.md, "One linear problem", has the equations.
"""

import math

from hrpsim.derivatives.balance import count_bodies
from hrpsim.derivatives.motion_derivatives import solve_negative
from hrpsim.derivatives.room import BY_Q, BY_VELOCITY, DerivativeArrays
from hrpsim.derivatives.sides import NOTICED
from hrpsim.derivatives.small_matrices import (
    add_product,
    add_scaled,
    inner_product,
    invert,
    orthonormalise,
    set_unit,
)
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import Indices, Matrix, Tensor, Vector
from hrpsim.engine.spatial.vector import copy_vector

_RIGID = 1e-7  # share of its own inverse mass up to which a compliance is none
# Share of the response that a coordinate or a row would have if nothing in it cancelled, up to
# which it depends on others. Rounding of coordinates is 1e-15. Rows of loops agree up to the errors
# of their positions.
_ROUNDING = 1e-12
_DEPENDENT = 1e-6
_WEAK = 3e-5  # the same, up to which the step may not resolve that a row does not depend on others


@kernel
def solve(
    w: DerivativeArrays, m: int, count: int, balance: Tensor, given: Matrix, columns_out: Matrix
) -> None:
    """Write the derivatives of v' with respect to q, velocity and given impulses.

    Args:
        w: DerivativeArrays, with `count` rows in `held` and `target`.
        m: number of coordinates.
        count: number of rows.
        balance: derivatives of r, laid out as in DerivativeArrays (2 or more, nv, nv).
        given: impulses (p, nv) [Nms, Ns].
        columns_out: derivatives of v' (nv, 2 nv + p or more), written.
    """
    columns, width = columns_out, 2 * columns_out.shape[0] + given.shape[0]
    _write_sides(balance, given, columns)
    axes = 0 if count == 0 else _find_axes(w, m)
    for k in range(axes):
        free = w.free[k, :width]
        free[:] = 0.0
        add_product(w.moving[k], columns.shape[0], -1.0, columns, free)
    solve_negative(w.space.above, w.space.factor, columns)
    if axes == 0:
        return
    soft, slides = _project_rows(w, axes, count)
    sizes = count, axes, 0
    rank = orthonormalise(w.along, w.row_sizes, sizes, _DEPENDENT, w.remains, w.basis, w.chosen)
    _find_required(w, axes, rank, width)
    by_forces = soft or slides
    if by_forces:
        _sum_soft_rows(w, m, axes, count)
    _solve_rows(w, by_forces, axes, rank, width)
    _find_contradictions(w, m, axes, count)
    if _connections_disagree(w, count):
        _reconcile(w, axes, rank, count, width)
        _solve_rows(w, by_forces, axes, rank, width)
        _find_contradictions(w, m, axes, count)
        _leave_connections(w, count)
    _mark_weak(w, axes, rank)
    for k in range(axes):
        for j in range(width):
            w.bound[k, j] -= w.free[k, j]
    for i in range(columns.shape[0]):
        add_product(w.dofs_moving[i], axes, 1.0, w.bound, columns[i, :width])


@inner_kernel
def _write_sides(balance: Tensor, given: Matrix, columns_out: Matrix) -> None:
    """Write the right-hand sides -r of all columns to columns_out."""
    nv, p = columns_out.shape[0], given.shape[0]
    for k in range(nv):
        row, by_q, by_velocity = columns_out[k], balance[BY_Q, k], balance[BY_VELOCITY, k]
        for j in range(nv):
            row[j] = -by_q[j]
        for j in range(nv):
            row[nv + j] = -by_velocity[j]
        for j in range(p):
            row[2 * nv + j] = -given[j, k]
        for j in range(2 * nv + p, row.shape[0]):
            row[j] = 0.0


@inlined_kernel
def _leave_connections(w: DerivativeArrays, count: int) -> None:
    """Write how much rows of connections contradict other rows, after `_reconcile`.

    The value is infinite if closed loops are open, otherwise zero.
    """
    for r in range(count):
        if w.held[r].number >= w.findings[0].contact_rows:
            w.left[r] = math.inf if w.findings[0].open else 0.0


@inlined_kernel
def _mark_weak(w: DerivativeArrays, axes: int, rank: int) -> None:
    """Mark chosen rows that are nearly linearly dependent on the rows chosen before them."""
    for k in range(rank):
        r = w.chosen[k]
        if inner_product(w.along[r], w.basis[k], axes) < _WEAK * w.row_sizes[r]:
            w.left[r] = math.inf


@inlined_kernel
def _whiten(above: Indices, factor: Matrix, x: Vector) -> None:
    """Multiply a row x (nv,) by L^-1 D^-1/2, from the factors of M = L^T D L."""
    for k in range(x.shape[0] - 1, -1, -1):
        if x[k] != 0.0:
            j = above[k]
            while j >= 0:
                x[j] -= factor[k, j] * x[k]
                j = above[j]
    for k in range(x.shape[0]):
        x[k] *= math.sqrt(factor[k, k])


@inner_kernel
def _find_axes(w: DerivativeArrays, m: int) -> int:
    """Write orthonormal axes that span the motion of the coordinates, and return their number.

    With M = L^T D L, `whitened` = Z L^-1 D^-1/2 = `shares` A and `moving` = A D^-1/2 L^-T. `sizes`
    are the largest responses of the coordinates. The three components of an angular or linear
    velocity have one common size, because rounding is relative to the whole vector.
    """
    above, factor, nv = w.space.above, w.space.factor, w.Z.shape[1]
    for i in range(m):
        x = w.whitened[i]
        for k in range(nv):
            x[k] = w.Z[i, k]
        _whiten(above, factor, x)
        w.sizes[i] = math.sqrt(inner_product(x, x, nv))
    for i in range(0, min(6 * count_bodies(w), m) - 2, 3):
        x, y, z = w.sizes[i], w.sizes[i + 1], w.sizes[i + 2]
        w.sizes[i : i + 3] = math.sqrt(x * x + y * y + z * z)
    sizes = m, nv, 0
    axes = orthonormalise(w.whitened, w.sizes, sizes, _ROUNDING, w.remains, w.axes, w.chosen)
    for i in range(m):
        for k in range(axes):
            w.shares[i, k] = inner_product(w.whitened[i], w.axes[k], nv)
    for number in range(axes):
        x = w.moving[number]
        for k in range(nv):
            x[k] = w.axes[number, k] * math.sqrt(factor[k, k])
            j = above[k]
            while j >= 0:
                x[k] -= factor[k, j] * x[j]
                j = above[j]
            w.dofs_moving[k, number] = x[k]
    return axes


@inner_kernel
def _project_rows(w: DerivativeArrays, axes: int, count: int) -> tuple[bool, bool]:
    """Write C and G of rigid rows in terms of y, and the sizes of the rows.

    Compliant rows and rows that the step's solver released get the size 0.

    Returns:
        (whether any row is compliant, whether F differs from J in any row).
    """
    soft, slides = False, False
    for r in range(count):
        row, along, pushing, size = w.held[r], w.along[r, :axes], w.pushing[r, :axes], 0.0
        along[:] = pushing[:] = 0.0
        w.row_sizes[r] = 0.0
        if row.compliance > _RIGID * row.inverse_mass:
            soft = True
            continue
        for e in range(12):
            i = row.at[e // 6] + e % 6
            if row.J[e] != 0.0:
                add_scaled(w.shares[i], row.J[e], along)
                size += (row.J[e] * w.sizes[i]) ** 2
            if row.F[e] != 0.0:
                add_scaled(w.shares[i], row.F[e], pushing)
            slides = slides or row.F[e] != row.J[e]
        w.row_sizes[r] = math.sqrt(size)
        if w.released[row.number]:
            w.row_sizes[r] = 0.0
    return soft, slides


@inner_kernel
def _find_required(w: DerivativeArrays, axes: int, rank: int, width: int) -> None:
    """Write the component of y that the chosen rows prescribe along each basis vector."""
    for k in range(rank):
        r, out = w.chosen[k], w.required[k, :width]
        out[:] = 0.0
        for j in range(w.target.shape[1]):
            out[j] = w.target[r, j]
        for j in range(k):
            add_scaled(w.required[j], -inner_product(w.along[r], w.basis[j], axes), out)
        scale = 1.0 / inner_product(w.along[r], w.basis[k], axes)
        for j in range(width):
            out[j] *= scale


@inlined_kernel
def _solve_rows(w: DerivativeArrays, by_forces: bool, axes: int, rank: int, width: int) -> None:
    """Write y, constrained by the chosen rows, to w.bound."""
    if by_forces:
        _solve_with_forces(w, axes, rank, width)
    else:
        _solve_as_projection(w, axes, rank, width)


@inlined_kernel
def _connections_disagree(w: DerivativeArrays, count: int) -> bool:
    """Return whether rows that the step's solver released contradict other rows."""
    for r in range(count):
        if w.released[w.held[r].number] and w.left[r] > NOTICED:
            return True
    return False


@inner_kernel
def _reconcile(w: DerivativeArrays, axes: int, rank: int, count: int, width: int) -> None:
    """Replace the targets of contradicting rigid rows by the least-squares compromise.

    The step makes the same compromise. The weight of a row's squared error is the reciprocal of its
    inverse mass.
    """
    gram, sides = w.system, w.bound
    for k in range(rank):
        gram[k, :rank] = 0.0
        sides[k, :width] = 0.0
    for r in range(count):
        row = w.held[r]
        if row.compliance > _RIGID * row.inverse_mass:
            continue
        for k in range(rank):
            weight = inner_product(w.along[r], w.basis[k], axes) / row.inverse_mass
            for j in range(rank):
                gram[k, j] += weight * inner_product(w.along[r], w.basis[j], axes)
            for j in range(w.target.shape[1]):
                sides[k, j] += weight * w.target[r, j]
    invert(rank, gram, w.order, w.inverse)
    for k in range(rank):
        w.required[k, :width] = 0.0
        add_product(w.inverse[k], rank, 1.0, sides, w.required[k, :width])


@inner_kernel
def _solve_as_projection(w: DerivativeArrays, axes: int, rank: int, width: int) -> None:
    """Solve for y by projection, for rigid rows that push along their own direction (F = J)."""
    for k in range(axes):
        copy_vector(w.free[k, :width], w.bound[k, :width])
    for j in range(rank):
        change = w.change[:width]
        copy_vector(w.required[j, :width], change)
        add_product(w.basis[j], axes, -1.0, w.free, change)
        for k in range(axes):
            add_scaled(change, w.basis[j, k], w.bound[k, :width])


@inner_kernel
def _sum_soft_rows(w: DerivativeArrays, m: int, axes: int, count: int) -> None:
    """Write the sums over compliant rows, in terms of y.

    `stiffness` is G' K C and `pushes` is G' K b. K is the reciprocal of a row's compliance.
    """
    gram, pushes, half = w.gram[:m, :m], w.coordinate_pushes[:m], w.half[:axes, :m]
    gram[:] = 0.0
    pushes[:] = 0.0
    for r in range(count):
        row = w.held[r]
        if row.compliance <= _RIGID * row.inverse_mass:
            continue
        for e in range(12):
            if row.F[e] == 0.0:
                continue
            i, factor = row.at[e // 6] + e % 6, row.F[e] / row.compliance
            for g in range(12):
                if row.J[g] != 0.0:
                    gram[i, row.at[g // 6] + g % 6] += factor * row.J[g]
            add_scaled(w.target[r], factor, pushes[i])
    half[:] = 0.0
    for k in range(axes):
        w.pushes[k, :] = 0.0
        w.stiffness[k, :axes] = 0.0
        for i in range(m):
            add_scaled(gram[i], w.shares[i, k], half[k])
            add_scaled(pushes[i], w.shares[i, k], w.pushes[k])
        for i in range(m):
            add_scaled(w.shares[i], half[k, i], w.stiffness[k, :axes])


@inner_kernel
def _solve_with_forces(w: DerivativeArrays, axes: int, rank: int, width: int) -> None:
    """Solve for y with compliant rows or sliding contacts.

        B y = `required`,   N ((1 + K) y - P - y_0) = 0.

    B is the basis of the chosen rows. K is the stiffness and P are the pushes of compliant rows.
    y_0 is the motion without rows. N has the axes along which no chosen row pushes. If rows
    prescribe more directions than they push along, some equations of N are left out.
    """
    system, across, chosen = w.system, w.across, w.order[0]
    for k in range(rank):
        copy_vector(w.pushing[w.chosen[k], :axes], w.pushed[k, :axes])
        w.push_sizes[k] = w.row_sizes[w.chosen[k]]
    set_unit(axes, w.unit)
    w.unit_sizes[:axes] = 1.0
    sizes = rank, axes, 0
    pushed = orthonormalise(w.pushed, w.push_sizes, sizes, _DEPENDENT, w.remains, across, chosen)
    sizes = axes, axes, pushed
    orthonormalise(w.unit, w.unit_sizes, sizes, _DEPENDENT, w.remains, across, chosen)
    for k in range(axes):
        row = system[k, :axes]
        if k < rank:
            copy_vector(w.basis[k, :axes], row)
            copy_vector(w.required[k, :width], w.bound[k, :width])
            continue
        normal, sides = across[pushed + k - rank], w.bound[k, :width]
        copy_vector(normal[:axes], row)
        sides[:] = 0.0
        add_product(normal, axes, 1.0, w.stiffness, row)
        add_product(normal, axes, 1.0, w.free, sides)
        add_product(normal, axes, 1.0, w.pushes, sides[: w.pushes.shape[1]])
        largest = 0.0
        for j in range(axes):
            largest = max(largest, abs(row[j]))
        for j in range(axes):
            row[j] /= largest
        for j in range(width):
            sides[j] /= largest
    invert(axes, system, w.order, w.inverse)
    for k in range(axes):
        w.required[k, :width] = 0.0
        add_product(w.inverse[k], axes, 1.0, w.bound, w.required[k, :width])
    for k in range(axes):
        copy_vector(w.required[k, :width], w.bound[k, :width])


@inner_kernel
def _find_contradictions(w: DerivativeArrays, m: int, axes: int, count: int) -> None:
    """Write the largest residual of each rigid row to w.left.

    A large residual means that the row contradicts other rows.
    """
    width, error = w.target.shape[1], w.error
    for i in range(m):
        w.changes[i, :] = 0.0
        add_product(w.shares[i], axes, 1.0, w.bound, w.changes[i])
    for r in range(count):
        row, left = w.held[r], 0.0
        w.left[r] = 0.0
        if row.compliance > _RIGID * row.inverse_mass:
            continue
        for j in range(width):
            error[j] = w.target[r, j]
        for e in range(12):
            if row.J[e] != 0.0:
                add_scaled(w.changes[row.at[e // 6] + e % 6], -row.J[e], error)
        for j in range(width):
            if abs(error[j]) > left:
                left = abs(error[j])
        w.left[r] = left
