# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The saved start of a step, which is restored if the step fails.

A step writes persistent state only at its end, or first saves the state that it overwrites. A step
is repeated from the saved state with larger arrays, or after a sleeping body was woken. After a
failed step, users read the contacts, sensors and counts of the last complete step.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Connection,
    Contact,
    Counts,
    Failure,
    Matrix,
    Records,
    StepStats,
)
from hrpsim.engine.constraints.rows import Rows, is_of_contact
from hrpsim.engine.dynamics.joint_forces import restore_marks
from hrpsim.engine.spatial.vector import copy_vector
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.impacts.records import Impacts
from hrpsim.engine.step.rows.constraint_wrenches import forget_impact_impulses
from hrpsim.engine.step.scene.records import Start
from hrpsim.engine.step.scene.status import DIVERGED, SINGULAR, TOO_STIFF, WAKES, WIDER_SEARCH


@inlined_kernel
def save_start(s: Scene) -> None:
    """Save the start of a step."""
    copy_vector(s.q, s.start.q)
    copy_vector(s.velocity, s.start.velocity)
    s.start.counts[0] = s.counts[0]
    s.start.step_stats[0] = s.step_stats[0]
    impacts = s.impacts.state[0]
    impacts.had_before = impacts.had_impacts
    if impacts.had_impacts:
        _keep_impact_impulses(s.start, s.joint_impact_impulses, s.connections)


@inner_kernel
def _keep_impact_impulses(
    start: Start, joint_impact_impulses: Matrix, connections: Records[Connection]
) -> None:
    """Save the impact impulses of joints and connections of the last step."""
    _copy_table(joint_impact_impulses, start.joint_impact_impulses)
    for c in range(connections.shape[0]):
        connection = connections[c]
        copy_vector(connection.impact_impulse, connection.impact_impulse_before)


@inner_kernel
def restore_start(s: Scene, status: int) -> None:
    """Undo a step that ended with `status`.

    Reads: collision, connections, control, counts, failure, impacts, rows, search, start,
    step_stats.
    Writes: collision, connections, control, counts, failure, impacts, joint_impact_impulses, q,
    step_stats, velocity.
    """
    counts, stats = s.counts[0], s.step_stats[0]
    copy_vector(s.start.q, s.q)
    copy_vector(s.start.velocity, s.velocity)
    restore_marks(s.control)
    _restore_impact_impulses(s.start, s.joint_impact_impulses, s.connections, s.impacts)
    if status == SINGULAR or status == DIVERGED or status == TOO_STIFF:
        _name_fault(counts, stats, s.failure[0], s.collision.contacts, s.rows, status)
    s.counts[0] = s.start.counts[0]
    s.step_stats[0] = s.start.step_stats[0]
    stats.worst_row = -1
    if status == WAKES or status == WIDER_SEARCH:
        counts.contact_count = s.search[0].found_count  # includes the contacts of the body to wake
        return
    counts.contact_count = counts.previous_count
    for c in range(counts.contact_count):
        s.collision.contacts[c] = s.collision.previous[c]
        s.collision.contacts[c].forgotten = 0


@inlined_kernel
def _restore_impact_impulses(
    start: Start, joint_impact_impulses: Matrix, connections: Records[Connection], impacts: Impacts
) -> None:
    """Restore the impact impulses of joints and connections of the last step, if any."""
    forget_impact_impulses(joint_impact_impulses, connections)
    impacts.state[0].had_impacts = impacts.state[0].had_before
    if not impacts.state[0].had_before:
        return
    _copy_table(start.joint_impact_impulses, joint_impact_impulses)
    for c in range(connections.shape[0]):
        connection = connections[c]
        copy_vector(connection.impact_impulse_before, connection.impact_impulse)


@inlined_kernel
def _name_fault(
    counts: Counts,
    stats: StepStats,
    failure: Failure,
    contacts: Records[Contact],
    rows: Rows,
    status: int,
) -> None:
    """Record the constraint at which a step failed, for the error message."""
    number = 3 * failure.needed if status == TOO_STIFF else stats.worst_row
    failure.kind = -1
    if number < 0 or number >= counts.row_count or (status != TOO_STIFF and stats.converged):
        return
    row = rows.rows[number]
    failure.kind, failure.source, failure.other = row.kind, row.source, -1
    if is_of_contact(row):
        contact = contacts[row.source]
        failure.source, failure.other = contact.shape_a, contact.shape_b
        failure.contact_stiffness = contact.stiffness


@inlined_kernel
def _copy_table(table: Matrix, table_out: Matrix) -> None:
    for k in range(table.shape[0]):
        for j in range(table.shape[1]):
            table_out[k, j] = table[k, j]
