# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sweeps over the rows of an island of the scene."""

from hrpsim.engine.compile.compiled import inlined_kernel
from hrpsim.engine.solvers.projected_gauss_seidel import solve


@inlined_kernel
def sweep(settings, counts, constrained, rows, island, limit):
    """Sweep over an island until it converges, at most `limit` times including earlier sweeps.

    This function avoids a second compilation of `solve`: Numba takes literal numbers in a call as
    types.
    """
    island.sweeps, island.residual, island.converged = solve(
        rows.rows,
        counts.row_count,
        rows.island_rows,
        island,
        rows.response,
        settings.tolerance,
        settings.relative_tolerance,
        island.sweeps,
        limit,
        constrained.velocity,
        rows.descent,
    )
