# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The linear problem that the rows that hold make with the dynamics.

M dv' - F' dl = r and J dv' + S dl = b, for all columns of r and b at once. With J = C Z and
F = G Z in the few coordinates z = Z v, all that is redundant among the rows stays within products
of the size of z: u = Z dv' and w = G' dl, of rigid rows and of others.
"""

from __future__ import annotations

from hrpsim.dynamics.motion_derivatives import solve_negative
from hrpsim.jit.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.world.linearization.room import BY_Q, BY_VELOCITY, RIGID, SOFT

# Compliance that rigid rows are given, as a share of their own inverse mass: redundant rows then
# have a solution. Its effect is removed by solving again for the remaining error.
_SOFTNESS = 1e-7
_ROUNDS, _ENOUGH = 6, 1e-12  # the second: share of the solution that another round changes


@kernel
def solve(w, m, count, balance, columns_out):
    """Write dv', by q, by velocity and by momentum, for r of `balance`.

    Args:
        w: Room, with `count` rows in `held` and `target`.
        m: how many coordinates there are.
        count: how many rows.
        balance: (2 or more, nv, nv) derivatives of r, as that of Room.
        columns_out: (nv, 3 nv + m and to spare).
    """
    columns, nv = columns_out, columns_out.shape[0]
    for k in range(nv):
        for j in range(nv):
            columns[k, j], columns[k, nv + j] = -balance[BY_Q, k, j], -balance[BY_VELOCITY, k, j]
            columns[k, 2 * nv + j] = -1.0 if j == k else 0.0
    for j in range(m):
        for k in range(nv):
            columns[k, 3 * nv + j] = -w.Z[j, k]
    solve_negative(w.space.above, w.space.factor, columns)
    if count == 0:
        return
    _condense(w, m, columns)
    rigid, soft = _sum_rows(w, m, count)
    _invert(w, m)
    w.forces[:, :m, :] = 0.0
    for i in range(m):
        _copy(w.free[i], w.response_z[i])
    _find_errors(w, m, rigid, soft)
    for _ in range(_ROUNDS):
        _add_change(w, m, rigid, soft)
        largest, change = _find_errors(w, m, rigid, soft)
        if change <= _ENOUGH * largest:
            break
    _find_contradictions(w, m, count)
    for j in range(m):
        _add_scaled(w.forces[SOFT, j], 1.0, w.forces[RIGID, j])
    for k in range(nv):
        _add_product(columns[k, 3 * nv : 3 * nv + m], m, 1.0, w.forces[RIGID], columns[k, : 3 * nv])


@inner_kernel
def _condense(w, m, columns):
    """Write Z M^-1 r, and Z M^-1 Z'."""
    nv = columns.shape[0]
    for i in range(m):
        free, delassus = w.free[i], w.delassus[i]
        free[:] = 0.0
        delassus[:m] = 0.0
        for k in range(nv):
            share = w.Z[i, k]
            if share != 0.0:
                _add_scaled(columns[k, : 3 * nv], share, free)
                _add_scaled(columns[k, 3 * nv : 3 * nv + m], share, delassus)


@inlined_kernel
def _add_scaled(row, share, out):
    for j in range(row.shape[0]):
        out[j] += share * row[j]


@inner_kernel
def _sum_rows(w, m, count):
    """Sum the stiffness G' K C and the pushes G' K b of rows that are rigid, and of others.

    Returns 1 or 0 for both: whether there are any.
    """
    width, any_rigid, any_soft = w.target.shape[1], 0, 0
    w.stiffness[:, :m, :m] = 0.0
    w.pushes[:, :m, :] = 0.0
    for r in range(count):
        row = w.held[r]
        give, group = _SOFTNESS * row.inverse_mass, RIGID
        if row.compliance > give:
            give, group, any_soft = row.compliance, SOFT, 1
        else:
            any_rigid = 1
        for e in range(12):
            if row.F[e] == 0.0:
                continue
            i, share = row.at[e // 6] + e % 6, row.F[e] / give
            for g in range(12):
                if row.J[g] != 0.0:
                    w.stiffness[group, i, row.at[g // 6] + g % 6] += share * row.J[g]
            pushes, target = w.pushes[group, i], w.target[r]
            for j in range(width):
                pushes[j] += share * target[j]
    return any_rigid, any_soft


@inner_kernel
def _invert(w, m):
    """Write (1 + G' K C D)^-1 with D = Z M^-1 Z', by Gauss and Jordan with pivots of each column.

    Applied to errors of the size of K this leaves forces without cancellation, even where bodies
    are so joined that D is singular.
    """
    N, inverse, stiffness = w.turning[0], w.inverse, w.stiffness
    for i in range(m):
        N[i, :m] = 0.0
        inverse[i, :m] = 0.0
        N[i, i] = inverse[i, i] = 1.0
        for k in range(m):
            share = stiffness[RIGID, i, k] + stiffness[SOFT, i, k]
            for j in range(m):
                N[i, j] += share * w.delassus[k, j]
    for k in range(m):
        best = k
        for i in range(k + 1, m):
            if abs(N[i, k]) > abs(N[best, k]):
                best = i
        scale = 1.0 / N[best, k]
        for matrix in (N, inverse):
            for j in range(m):
                pivot = matrix[best, j]
                matrix[best, j] = matrix[k, j]
                matrix[k, j] = scale * pivot
        for i in range(m):
            share = N[i, k]
            if i != k and share != 0.0:
                for j in range(m):
                    N[i, j] -= share * N[k, j]
                    inverse[i, j] -= share * inverse[k, j]


@inner_kernel
def _find_errors(w, m, rigid, soft):
    """Write u for the forces found, and what is left of G' K (b - C u).

    Less the forces themselves where rows are not rigid: those of rigid rows take up what is left.
    Returns the largest entries of u and of its change.
    """
    largest, most = 0.0, 0.0
    for i in range(m):
        found, before = w.response_z[i], w.turned_z[0]
        _copy(found, before)
        _copy(w.free[i], found)
        for group in range(2):
            if (rigid if group == RIGID else soft) != 0:
                _add_product(w.delassus[i], m, 1.0, w.forces[group], found)
        for j in range(found.shape[0]):
            largest = max(largest, abs(found[j]))
            most = max(most, abs(found[j] - before[j]))
    for group in range(2):
        for i in range(m):
            error = w.errors[group, i]
            error[:] = 0.0
            if (rigid if group == RIGID else soft) != 0:
                _copy(w.pushes[group, i], error)
                _add_product(w.stiffness[group, i], m, -1.0, w.response_z, error)
                if group == SOFT:
                    _add_scaled(w.forces[SOFT, i], -1.0, error)
    return largest, most


@inner_kernel
def _add_change(w, m, rigid, soft):
    """Add what the errors e change to the forces: in all (1 + G' K C D)^-1 e."""
    summed, change = w.turned_z, w.change
    for i in range(m):
        _copy(w.errors[RIGID, i], summed[i])
        if soft != 0:
            _add_scaled(w.errors[SOFT, i], 1.0, summed[i])
    for i in range(m):
        change[i, :] = 0.0
        _add_product(w.inverse[i], m, 1.0, summed, change[i])
    if soft == 0 or rigid == 0:
        for i in range(m):
            _add_scaled(change[i], 1.0, w.forces[RIGID if soft == 0 else SOFT, i])
        return
    for i in range(m):
        summed[i, :] = 0.0
        _add_product(w.delassus[i], m, 1.0, change, summed[i])
    for i in range(m):
        of_soft = w.errors[SOFT, i]
        _add_product(w.stiffness[SOFT, i], m, -1.0, summed, of_soft)
        _add_scaled(of_soft, 1.0, w.forces[SOFT, i])
        _add_scaled(change[i], 1.0, w.forces[RIGID, i])
        _add_scaled(of_soft, -1.0, w.forces[RIGID, i])


@inlined_kernel
def _copy(row, out):
    for j in range(row.shape[0]):
        out[j] = row[j]


@inner_kernel
def _add_product(factors, m, scale, rows, out):
    """Add `scale` times the sum of `m` factors times rows, four of them at a time."""
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
        _add_scaled(rows[k], scale * factors[k], out)
        k += 1


@inner_kernel
def _find_contradictions(w, m, count):
    """Write by how much each rigid row is left unsolved, because others contradict it."""
    width = w.target.shape[1]
    for r in range(count):
        row, left, error = w.held[r], 0.0, w.change[0]
        w.left[r] = 0.0
        if row.compliance > _SOFTNESS * row.inverse_mass:
            continue
        for j in range(width):
            error[j] = w.target[r, j]
        for e in range(12):
            if row.J[e] != 0.0:
                _add_scaled(w.response_z[row.at[e // 6] + e % 6], -row.J[e], error)
        for j in range(width):
            left = max(left, abs(error[j]))
        w.left[r] = left
