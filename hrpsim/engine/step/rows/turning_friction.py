# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The bounds of rows that resist spin and rolling, which depend on the normal impulses."""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Scene
from hrpsim.engine.constraints.friction_laws import project_onto_disk
from hrpsim.engine.constraints.rows import ROLLING
from hrpsim.engine.solvers.projected_gauss_seidel import (
    set_impulse,
    solve_bounded_row,
    wanted_impulse,
)


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
        bound = row.friction * rows[3 * row.source].impulse
        if row.kind == ROLLING and rows[number + 1].friction > 0.0:
            change = max(change, _hold_within_disk(s, number, bound))
        else:
            row.lower, row.upper = -bound, bound
            change = max(change, solve_bounded_row(row, response, velocity))
        number += 2 if row.kind == ROLLING else 1
    return change


@inlined_kernel
def _hold_within_disk(s: Scene, number: Index, bound: float) -> float:
    """Solve two rows against rolling, whose moments lie in a disk. Return the change [rad/s]."""
    x, y = s.rows.rows[number], s.rows.rows[number + 1]
    response, velocity = s.rows.response, s.constrained.velocity
    along, across = wanted_impulse(x, velocity), wanted_impulse(y, velocity)
    along, across = project_onto_disk(bound, along, across)
    outside = along * along + across * across >= bound * bound
    x.upper, y.upper = (abs(along), abs(across)) if outside else (bound, bound)
    x.lower, y.lower = -x.upper, -y.upper
    change = set_impulse(x, along, response, velocity)
    return max(change, set_impulse(y, across, response, velocity))
