# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The bounds of rows that resist spin and rolling, which depend on the normal impulses."""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Scene
from hrpsim.engine.constraints.friction_laws import project_onto_disk
from hrpsim.engine.constraints.rows import AT_REST, ROLLING
from hrpsim.engine.solvers.projected_gauss_seidel import (
    set_impulse,
    solve_bounded_row,
    wanted_impulse,
)

_ROUNDING = 1e-12  # share of a squared bound


@inner_kernel
def revise_turning_bounds(s: Scene) -> float:
    """Adapt the bounds to the normal impulses, and solve each row that resists spin or rolling.

    Returns:
        The largest change of a row's velocity [rad/s].
    """
    counts, rows = s.counts[0], s.rows.rows
    response, velocity, change = s.rows.response, s.constrained.velocity, 0.0
    number = counts.row_count - counts.turning_rows
    while number < counts.row_count:
        row = rows[number]
        normal = rows[3 * row.source].impulse
        if row.kind == AT_REST:
            change = max(change, _hold_within_disk(s, number, normal))
            number += 2
        else:
            row.upper = row.friction * normal
            row.lower = -row.upper
            change = max(change, solve_bounded_row(row, response, velocity))
            number += 1
    return change


@inlined_kernel
def _hold_within_disk(s: Scene, number: Index, normal: float) -> float:
    """Solve two rows against rolling, whose moments lie in a disk. Return the change [rad/s].

    normal: normal impulse of the contact [Ns].
    """
    x, y = s.rows.rows[number], s.rows.rows[number + 1]
    response, velocity = s.rows.response, s.constrained.velocity
    bound = x.friction * normal
    along, across = wanted_impulse(x, velocity), wanted_impulse(y, velocity)
    along, across = project_onto_disk(bound, along, across)
    if along * along + across * across >= (1.0 - _ROUNDING) * bound * bound and bound > 0.0:
        x.kind = y.kind = ROLLING
        x.friction, y.friction = abs(along / bound) * x.friction, abs(across / bound) * y.friction
    x.upper, y.upper = x.friction * normal, y.friction * normal
    x.lower, y.lower = -x.upper, -y.upper
    change = set_impulse(x, along, response, velocity)
    return max(change, set_impulse(y, across, response, velocity))
