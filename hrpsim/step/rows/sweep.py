# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sweeps over the rows of an island of the scene."""

from __future__ import annotations

from hrpsim.jit.compiled import inlined_kernel
from hrpsim.solvers.projected_gauss_seidel import solve


@inlined_kernel
def sweep(s, span, limit):
    """Sweep over an island until it converges, `limit` times at most with those that are done.

    Numbers that are written out in a call are types to numba, which would compile `solve` for each.
    """
    span.sweeps, span.residual, span.converged = solve(
        s.rows.rows,
        s.step_stats[0].row_count,
        s.rows.island_rows,
        span,
        s.rows.response,
        s.settings[0].tolerance,
        s.settings[0].relative_tolerance,
        span.sweeps,
        limit,
        s.sites.velocity,
        s.rows.descent,
    )
