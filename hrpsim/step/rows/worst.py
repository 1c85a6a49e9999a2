"""Which constraint the solver left furthest from what it asks for, over the steps of a call.

Rows are written anew in every step, so what the worst one belongs to is noted at once; its name is
found when the call is over (hrpsim.world.results).
"""

from __future__ import annotations

from hrpsim.constraints.rows import CONTACT_ROW
from hrpsim.jit.compiled import inner_kernel


@inner_kernel
def keep_worst(s, before):
    """Note what the worst row of this step belongs to, if it is the worst of all so far.

    `before` is how many steps of this call did not converge before it.
    """
    tally = s.tally[0]
    if before > 0 and tally.residual <= tally.worst_residual:
        return
    tally.worst_residual, tally.worst_kind = tally.residual, -1
    if tally.worst_row < 0 or tally.worst_row >= tally.row_count:
        return
    row = s.rows.rows[tally.worst_row]
    tally.worst_kind, tally.worst_source, tally.worst_other = row.kind, row.source, -1
    if row.kind == CONTACT_ROW:
        contact = s.collision.contacts[row.source]
        tally.worst_source, tally.worst_other = contact.shape_a, contact.shape_b
