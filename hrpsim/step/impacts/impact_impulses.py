# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Impulses of joint constraints and connections in the impacts of a step, for users to read.

Rows are solved for impacts first and for the step's forces afterwards, which overwrites the
impulses; the next step starts from the latter. Contacts store both themselves.
"""

from hrpsim.constraints.connection_rows import axis_of_row
from hrpsim.constraints.joint_rows import JOINT_ROW_COUNT
from hrpsim.constraints.rows import CONNECTION, DRIVE, LOWER_LIMIT
from hrpsim.jit.compiled import inner_kernel


@inner_kernel
def add_impact_impulse(joint_impact_impulses, connections, rows, number):
    """Add a row's impulse, that of an impact, to the impact impulses of this step."""
    row = rows.rows[number]
    if LOWER_LIMIT <= row.kind and row.kind < LOWER_LIMIT + JOINT_ROW_COUNT:
        joint_impact_impulses[row.source, row.kind - LOWER_LIMIT] += row.impulse
    elif row.kind == CONNECTION or row.kind == DRIVE:
        connection = connections[row.source]
        connection.impact_impulse[axis_of_row(connection, number)] += row.impulse


@inner_kernel
def forget_impact_impulses(joint_impact_impulses, connections):
    """Clear the impact impulses at the start of a step."""
    joint_impact_impulses[:] = 0.0
    for c in range(connections.shape[0]):
        impact_impulse = connections[c].impact_impulse
        for axis in range(6):
            impact_impulse[axis] = 0.0
