# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The constraint with the largest residual in the last step, and over the steps of a call.

Rows are written again in every step, so the source of the worst one is recorded at once; its name
is found after the call (hrpsim.world.parts.results).
"""

from hrpsim.constraints.rows import CONTACT_ROW
from hrpsim.jit.compiled import inner_kernel


@inner_kernel
def keep_worst(counts, stats, worst, contacts, rows, before):
    """Record the source of the worst row of this step, and if it is the worst so far.

    worst (2,): WORST_ROW of this step, and of the call. `before` is how many steps of this call
    did not converge before it.
    """
    last = worst[0]
    last.residual, last.kind = stats.residual, -1
    if 0 <= stats.worst_row < counts.row_count:
        row = rows.rows[stats.worst_row]
        last.kind, last.source, last.other = row.kind, row.source, -1
        if row.kind == CONTACT_ROW:
            contact = contacts[row.source]
            last.source, last.other = contact.shape_a, contact.shape_b
    if before == 0 or last.residual > worst[1].residual:
        worst[1] = last
