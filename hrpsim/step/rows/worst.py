# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The constraint with the largest residual over the steps of a call.

Rows are written again in every step, so the source of the worst one is recorded at once; its name
is found after the call (hrpsim.world.parts.results).
"""

from __future__ import annotations

from hrpsim.constraints.rows import CONTACT_ROW
from hrpsim.jit.compiled import inner_kernel


@inner_kernel
def keep_worst(counts, stats, worst, contacts, rows, before):
    """Record the source of the worst row of this step, if it is the worst so far.

    `before` is how many steps of this call did not converge before it.
    """
    if before > 0 and stats.residual <= worst.residual:
        return
    worst.residual, worst.kind = stats.residual, -1
    if stats.worst_row < 0 or stats.worst_row >= counts.row_count:
        return
    row = rows.rows[stats.worst_row]
    worst.kind, worst.source, worst.other = row.kind, row.source, -1
    if row.kind == CONTACT_ROW:
        contact = contacts[row.source]
        worst.source, worst.other = contact.shape_a, contact.shape_b
