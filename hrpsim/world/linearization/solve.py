# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The linear problem that the rows that hold make with the dynamics.

M dv' - F' dl = r and J dv' + S dl = b, for all columns of r and b at once. With J = C Z and
F = G Z in the few coordinates z = Z v, all that is redundant among the rows stays within products
of the size of z: u = Z dv' and w = G' dl, of rigid rows and of others.
"""

from hrpsim.dynamics.motion_derivatives import solve_negative
from hrpsim.jit.compiled import inner_kernel, kernel
from hrpsim.world.linearization.room import BY_Q, BY_VELOCITY, RIGID, SOFT

_RIGID = 1e-7  # share of its own inverse mass up to which a compliance is none
_DEPENDENT = 1e-12  # share of its square that is left of a row that depends on others
_SINGULAR = 1e-10  # share of the largest pivot from which on the others are rounding


@kernel
def solve(w, m, count, balance, given, columns_out):
    """Write dv', by q, by velocity and by given impulses, for r of `balance`.

    Args:
        w: Room, with `count` rows in `held` and `target`.
        m: how many coordinates there are.
        count: how many rows.
        balance: (2 or more, nv, nv) derivatives of r, as that of Room.
        given: (p, nv) impulses.
        columns_out: (nv, 2 nv + p + m and to spare).
    """
    columns, nv = columns_out, columns_out.shape[0]
    width = 2 * nv + given.shape[0]
    _write_sides(w, m, balance, given, columns)
    solve_negative(w.space.above, w.space.factor, columns)
    if count == 0:
        return
    _condense(w, m, width, columns)
    rigid, soft = _sum_rows(w, m, count)
    _find_responses(w, m, rigid, soft)
    _write_forces(w, m, width, rigid, soft)
    _find_contradictions(w, m, count)
    for k in range(nv):
        add_product(columns[k, width : width + m], m, 1.0, w.forces, columns[k, :width])


@inner_kernel
def _write_sides(w, m, balance, given, columns_out):
    """Write the right-hand sides, and -Z'."""
    nv, p = columns_out.shape[0], given.shape[0]
    for k in range(nv):
        row, by_q, by_velocity = columns_out[k], balance[BY_Q, k], balance[BY_VELOCITY, k]
        for j in range(nv):
            row[j] = -by_q[j]
        for j in range(nv):
            row[nv + j] = -by_velocity[j]
        for j in range(p):
            row[2 * nv + j] = -given[j, k]
        for j in range(m):
            row[2 * nv + p + j] = -w.Z[j, k]
        for j in range(2 * nv + p + m, row.shape[0]):
            row[j] = 0.0


@inner_kernel
def add_scaled(row, share, out):
    """Add `share` times a row."""
    for j in range(out.shape[0]):
        out[j] += share * row[j]


@inner_kernel
def _condense(w, m, width, columns):
    """Write Z M^-1 r, and Z M^-1 Z'."""
    for i in range(m):
        u, delassus, Z = w.changes[i, :width], w.delassus[i, :m], w.Z[i]
        u[:] = 0.0
        delassus[:] = 0.0
        for k in range(columns.shape[0]):
            if Z[k] != 0.0:
                add_scaled(columns[k], Z[k], u)
                add_scaled(columns[k, width:], Z[k], delassus)


@inner_kernel
def _write_forces(w, m, width, rigid, soft):
    """Write the forces of rows along coordinates, for all columns."""
    sides = w.target.shape[1]
    for i in range(m):
        force = w.forces[i, :width]
        force[:] = 0.0
        add_product(w.by_change[i], m, -1.0, w.changes, force)
        if rigid:
            add_product(w.by_push[RIGID, i], m, 1.0, w.pushes[RIGID], force[:sides])
        if soft:
            add_product(w.by_push[SOFT, i], m, 1.0, w.pushes[SOFT], force[:sides])


@inner_kernel
def _sum_rows(w, m, count):
    """Sum G' K C and G' K b of rows that are rigid and of others, and of rigid ones G' K G.

    K is the inverse of the compliance, of rigid rows that of their inverse mass. Returns 1 or 0
    for both: whether there are any.
    """
    any_rigid, any_soft = 0, 0
    w.stiffness[:, :m, :m] = 0.0
    w.pushes[:, :m] = 0.0
    w.gram[:m, :m] = 0.0
    for r in range(count):
        row = w.held[r]
        give, group = row.inverse_mass, RIGID
        if row.compliance > _RIGID * give:
            give, group, any_soft = row.compliance, SOFT, 1
        else:
            any_rigid = 1
        for e in range(12):
            if row.F[e] == 0.0:
                continue
            i, share = row.at[e // 6] + e % 6, row.F[e] / give
            for g in range(12):
                j = row.at[g // 6] + g % 6
                if row.J[g] != 0.0:
                    w.stiffness[group, i, j] += share * row.J[g]
                if row.F[g] != 0.0 and group == RIGID:
                    w.gram[i, j] += share * row.F[g]
            add_scaled(w.target[r], share, w.pushes[group, i])
    return any_rigid, any_soft


@inner_kernel
def _find_responses(w, m, rigid, soft):
    """Write the forces by pushes, `by_push`, and by changes u without rows, -`by_change`.

    With S and P of compliant rows their forces are P - S u, and with V = (1 + S D)^-1 the sum of
    all is V (w + P - S u) for the u without rows and forces w of rigid rows; D is that of D V then.
    """
    S, D, V, DV = w.stiffness[SOFT], w.delassus, w.by_push[SOFT], w.free
    stiffness, forces, by_change = w.stiffness[RIGID], w.by_push[RIGID], w.by_change
    forces[:m, :m] = by_change[:m, :m] = 0.0
    if not soft:
        _find_rigid_forces(w, m, stiffness, D, forces)
        _add_matrices(m, 1.0, forces, stiffness, by_change)
        return
    _set_unit(m, w.turning[0])
    _add_matrices(m, 1.0, S, D, w.turning[0])
    _invert(m, w.turning[0], w.order, V)
    DV[:m, :m] = 0.0
    _add_matrices(m, 1.0, D, V, DV)
    if rigid:
        _find_rigid_forces(w, m, stiffness, DV, forces)
    # the rest: by_change = V (X H (1 - D V S) + S), by_push = V X and V (1 - X H D V)
    rest, product = w.turning[0], w.turning[1]
    _set_unit(m, rest)
    _add_matrices(m, -1.0, DV, S, rest)
    product[:m, :m] = 0.0
    _add_matrices(m, 1.0, stiffness, rest, product)
    _copy(m, S, rest)
    _add_matrices(m, 1.0, forces, product, rest)
    _add_matrices(m, 1.0, V, rest, by_change)
    product[:m, :m] = 0.0
    _add_matrices(m, 1.0, stiffness, DV, product)
    _set_unit(m, rest)
    _add_matrices(m, -1.0, forces, product, rest)
    _copy(m, forces, product)
    forces[:m, :m] = 0.0
    _add_matrices(m, 1.0, V, product, forces)
    _copy(m, V, product)
    V[:m, :m] = 0.0
    _add_matrices(m, 1.0, product, rest, V)


@inner_kernel
def _find_rigid_forces(w, m, stiffness, D, forces_out):
    """Write the forces X (m, m) of rigid rows by what is left of their pushes.

    Forces of rows follow from those along independent coordinates p, by T = G' G (G' G)_pp^-1.
    Along these the stiffness H gives (H D T)_p f = c_p; where that is singular, because bodies are
    so joined or rows slide in different directions, some of f stay zero.
    """
    T, A, inverse, independent = w.gram, w.turning[0], w.turning[1], w.order[0]
    _find_dependence(m, T, inverse[0], independent)
    A[:m, :m] = inverse[:m, :m] = 0.0
    _add_matrices(m, 1.0, D, T, inverse)
    for i in range(m):
        if independent[i]:
            add_product(stiffness[i], m, 1.0, inverse, A[i, :m])
    _invert(m, A, w.order, inverse)
    _add_matrices(m, 1.0, T, inverse, forces_out)


@inner_kernel
def _find_dependence(m, T, size, independent_out):
    """Replace a Gram matrix by T, by sweeps of its largest pivots; `size` (m,) is work."""
    independent_out[:m] = 0
    for i in range(m):
        size[i] = T[i, i]
    for _ in range(m):
        k, largest = -1, _DEPENDENT
        for i in range(m):
            if not independent_out[i] and T[i, i] > largest * size[i]:
                k, largest = i, T[i, i] / size[i]
        if k < 0:
            break
        independent_out[k], pivot = 1, T[k, k]
        for j in range(m):
            T[k, j] /= pivot
        T[k, k] = 1.0 / pivot
        for i in range(m):
            share = T[i, k]
            if i != k and share != 0.0:
                T[i, k] = 0.0
                add_scaled(T[k], -share, T[i, :m])
    for i in range(m):
        for j in range(m):
            if not independent_out[j]:
                T[i, j] = 0.0
            elif independent_out[i]:
                T[i, j] = 1.0 if i == j else 0.0
            else:
                T[i, j] = -T[i, j]


@inner_kernel
def _invert(m, A, order, inverse_out):
    """Write the inverse of A (m, m), which is overwritten, or that of its largest regular part.

    By Gauss and Jordan with complete pivots, `order` (2, m) has their columns. Rows and columns
    of the inverse that have none are zero.
    """
    column, taken, first = order[0], order[1], 0.0
    column[:m] = -1
    taken[:m] = 0
    _set_unit(m, inverse_out)
    for _ in range(m):
        largest, k, c = 0.0, -1, -1
        for i in range(m):
            if column[i] < 0:
                for j in range(m):
                    if abs(A[i, j]) > largest and not taken[j]:
                        largest, k, c = abs(A[i, j]), i, j
        first = max(first, largest)
        if largest <= _SINGULAR * first:
            break
        column[k], taken[c], scale = c, 1, 1.0 / A[k, c]
        for j in range(m):
            A[k, j] *= scale
            inverse_out[k, j] *= scale
        for i in range(m):
            share = A[i, c]
            if i != k and share != 0.0:
                add_scaled(A[k], -share, A[i, :m])
                add_scaled(inverse_out[k], -share, inverse_out[i, :m])
    A[:m, :m] = 0.0
    for i in range(m):
        if column[i] >= 0:
            for j in range(m):
                A[column[i], j] = inverse_out[i, j]
    _copy(m, A, inverse_out)


@inner_kernel
def _set_unit(m, out):
    for i in range(m):
        out[i, :m] = 0.0
        out[i, i] = 1.0


@inner_kernel
def _copy(m, matrix, out):
    for i in range(m):
        for j in range(m):
            out[i, j] = matrix[i, j]


@inner_kernel
def _add_matrices(m, scale, left, right, out):
    """Add `scale` times a product of matrices (m, m)."""
    for i in range(m):
        add_product(left[i], m, scale, right, out[i, :m])


@inner_kernel
def add_product(factors, m, scale, rows, out):
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
        add_scaled(rows[k], scale * factors[k], out)
        k += 1


@inner_kernel
def _find_contradictions(w, m, count):
    """Write by how much each rigid row is left unsolved, because others contradict it."""
    width, error = w.target.shape[1], w.error
    for i in range(m):
        add_product(w.delassus[i], m, 1.0, w.forces, w.changes[i, :width])
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
