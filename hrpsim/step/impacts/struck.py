"""What joint constraints and connections did in the impacts of a step, kept for users to read.

Rows are solved for impacts first and for the step's forces afterwards, which overwrites the
impulses; the next step starts from the latter. Contacts keep both by themselves.
"""

from __future__ import annotations

from hrpsim.constraints.connection_rows import axis_of_row
from hrpsim.constraints.rows import CONNECTION, DRIVE, LOWER_LIMIT, MOTOR
from hrpsim.jit.compiled import inner_kernel


@inner_kernel
def add_struck_impulse(s, number):
    """Add a row's impulse, that of an impact, to what came at once in this step."""
    row = s.rows.rows[number]
    if LOWER_LIMIT <= row.kind and row.kind <= MOTOR:
        s.joint_struck[row.source, row.kind - LOWER_LIMIT] += row.impulse
    elif row.kind == CONNECTION or row.kind == DRIVE:
        join = s.connections[row.source]
        join.struck[axis_of_row(join, number)] += row.impulse


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
