# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The island with the rows for the direct or the split solver."""

from __future__ import annotations

import numpy as np

from hrpsim.constraints.rows import DISPLACEMENT
from hrpsim.jit.on_demand import on_demand_kernel
from hrpsim.solvers.coupled import largest_error, solve_coupled
from hrpsim.step.scene.islands import allowed_sweeps

# What a row costs in a round of the direct solver, in updates of a row.
_OF_ROUND = 8


@on_demand_kernel(np.float64)
def solve_direct_island(s, tolerance):
    """Solve the island with the rows for the direct solver, to `tolerance` [m/s].

    Returns how many updates of rows would have taken about as long.
    """
    stats, rows, island_rows, response = (
        s.step_stats[0],
        s.rows.rows,
        s.rows.island_rows,
        s.rows.response,
    )
    settings, velocity = s.settings[0], s.sites.velocity
    span = s.islands.spans[stats.direct_island]
    has_cones = rows[island_rows[span.first]].quantity != DISPLACEMENT
    before = span.sweeps if span.slips else 0
    limit = allowed_sweeps(span, settings) - before if has_cones else settings.sweep_limit
    rounds, factorisations, stats.direct_work, finished = solve_coupled(
        rows,
        stats.row_count,
        island_rows,
        span,
        has_cones,
        response,
        tolerance,
        limit,
        stats.direct_work,
        velocity,
        s.direct,
    )
    stats.factorisations += factorisations
    stats.fell_back += 0 if finished else 1
    if has_cones:
        error, _ = largest_error(rows, island_rows, span, velocity)
        span.sweeps, span.converged = before + rounds, error <= tolerance
        span.residual = error
    return stats.row_count * (_OF_ROUND * (rounds + 1) + factorisations * stats.row_count)
