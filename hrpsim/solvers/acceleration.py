# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Nesterov's momentum over pairs of sweeps of projected Gauss-Seidel, one forth and one back.

After a pair the impulses are extrapolated by a share of their change since the pair before; the
share grows from pair to pair, and falls back to 0 where the pair just done points against that
change (O'Donoghue and Candes 2015, gradient scheme). The next sweep restores violated bounds. Forth
and back together are a symmetric preconditioner, whose errors shrink without turning; those of
sweeps in one direction turn, and momentum sustains them for ever on many yielding points. For
frictional contact, with another gradient step: Mazhar, Heyn, Negrut, Tasora, ACM Trans. Graph. 34
(2015). Products are weighted with the rows' inverse masses, which makes one energy of linear and
angular impulses.
"""

import math

from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.solvers.impulses import apply_impulse, apply_three


@inner_kernel
def begin_momentum(rows, island_rows, island, work):
    """Save the impulses after a sweep, work[1], and before the next pair, work[0]."""
    for k in range(island.first, island.end):
        for number in range(island_rows[k], island_rows[k] + (3 if k < island.contact_end else 1)):
            work[0, number] = work[1, number] = rows[number].impulse


@inner_kernel
def add_momentum(rows, island_rows, island, response, age, velocity, work):
    """Extrapolate the impulses and `velocity` after a pair of sweeps; save them in `work`.

    `age` is 1 where there is no momentum yet; returns that of the next pair (Nesterov's t_k).
    """
    against = 0.0
    for k in range(island.first, island.end):
        for number in range(island_rows[k], island_rows[k] + (3 if k < island.contact_end else 1)):
            row = rows[number]
            swept, moved = row.impulse - work[0, number], row.impulse - work[1, number]
            against -= swept * moved * row.inverse_mass
    next_age, share = 1.0, 0.0
    if against <= 0.0:
        next_age = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * age * age))
        share = (age - 1.0) / next_age
    for k in range(island.first, island.contact_end):
        n = island_rows[k]
        normal, x, y = rows[n], rows[n + 1], rows[n + 2]
        by_n = _carry_on(normal, n, share, work)
        by_x = _carry_on(x, n + 1, share, work)
        by_y = _carry_on(y, n + 2, share, work)
        if share > 0.0:
            apply_three(normal, x, y, by_n, by_x, by_y, response, velocity)
    for k in range(island.contact_end, island.end):
        by = _carry_on(rows[island_rows[k]], island_rows[k], share, work)
        if share > 0.0:
            apply_impulse(rows[island_rows[k]], by, response, velocity)
    return next_age


@inlined_kernel
def _carry_on(row, number, share, work):
    """Add a share of the change since the pair before to a row; return what was added."""
    by = share * (row.impulse - work[1, number])
    work[1, number] = row.impulse
    row.impulse += by
    work[0, number] = row.impulse
    return by
