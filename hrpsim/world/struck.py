"""What joint constraints and connections did in the impacts of a step, kept for users to read.

Rows are solved for an impact first and for the step's forces afterwards, which overwrites the
impulses; the next step starts from the latter. Contacts keep both by themselves.
"""

from __future__ import annotations

from hrpsim.compiled import inner_kernel
from hrpsim.constraints.connection_rows import add_struck_connection_impulses
from hrpsim.constraints.joint_rows import add_struck_joint_impulses


@inner_kernel
def add_struck_impulses(s):
    """Add the rows' impulses, those of an impact, to what came at once in this step."""
    tally, rows = s.tally[0], s.rows.rows
    add_struck_connection_impulses(rows, s.connections)
    add_struck_joint_impulses(rows, 3 * tally.contact_count, tally.row_count, s.joint_struck)


@inner_kernel
def forget_struck_impulses(s):
    """Begin a step in which nothing came at once so far."""
    for k in range(s.joint_struck.shape[0]):
        for kind in range(6):
            s.joint_struck[k, kind] = 0.0
    for c in range(s.connections.shape[0]):
        struck = s.connections[c].struck
        for axis in range(6):
            struck[axis] = 0.0
