# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a step that cannot be done leaves: all that was there at its start.

A step writes what lasts only when it is done, or keeps here what it overwrites before. A step that
is done again (with more room, after something woke) begins from there as well; after one that is
given up, users read the contacts, sensors and counts of the last step that was done.
"""

from __future__ import annotations

from hrpsim.constraints.rows import CONTACT_ROW
from hrpsim.dynamics.joint_forces import restore_marks
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.spatial.vector import copy_vector
from hrpsim.step.impacts.impact_impulses import forget_impact_impulses
from hrpsim.step.scene.status import DIVERGED, LOOK_FURTHER, SINGULAR, TOO_STIFF, WAKES


@inlined_kernel
def keep_start(s):
    """Keep the start of a step."""
    stats, work = s.step_stats[0], s.work
    copy_vector(s.q, work.q_start)
    copy_vector(s.velocity, work.velocity_start)
    work.step_stats_start[0] = stats
    if stats.had_impacts:
        _keep_impact_impulses(s)


@inner_kernel
def _keep_impact_impulses(s):
    """Keep what came at once in the last step."""
    _copy_table(s.joint_impact_impulses, s.work.joint_impact_impulses_start)
    for c in range(s.connections.shape[0]):
        connection = s.connections[c]
        copy_vector(connection.impact_impulse, connection.impact_impulse_before)


@inner_kernel
def restore_start(s, status):
    """Undo a step that ended with `status`.

    Reads: collision, connections, control, rows, work.
    Writes: collision, connections, control, joint_impact_impulses, q, velocity.
    """
    work, stats = s.work, s.step_stats[0]
    copy_vector(work.q_start, s.q)
    copy_vector(work.velocity_start, s.velocity)
    restore_marks(s.control)
    _restore_impact_impulses(s)
    if status == SINGULAR or status == DIVERGED or status == TOO_STIFF:
        _name_fault(s, status)
    _restore_stats(s)
    if status == WAKES or status == LOOK_FURTHER:
        stats.contact_count = stats.found_count  # what is to wake has its part in these
        return
    stats.contact_count = stats.previous_count
    for c in range(stats.contact_count):
        s.collision.contacts[c] = s.collision.previous[c]
        s.collision.contacts[c].forgotten = 0


@inlined_kernel
def _restore_impact_impulses(s):
    """Let joints and connections have had the impacts of the last step, if it had any."""
    forget_impact_impulses(s)
    if not s.work.step_stats_start[0].had_impacts:
        return
    _copy_table(s.work.joint_impact_impulses_start, s.joint_impact_impulses)
    for c in range(s.connections.shape[0]):
        connection = s.connections[c]
        copy_vector(connection.impact_impulse_before, connection.impact_impulse)


@inlined_kernel
def _name_fault(s, status):
    """Note which row a step failed at, for its error."""
    stats = s.step_stats[0]
    number = 3 * stats.needed if status == TOO_STIFF else stats.worst_row
    stats.fault_kind = -1
    if number < 0 or number >= stats.row_count or (status != TOO_STIFF and stats.converged):
        return
    row = s.rows.rows[number]
    stats.fault_kind, stats.fault_source, stats.fault_other = row.kind, row.source, -1
    if row.kind == CONTACT_ROW:
        contact = s.collision.contacts[row.source]
        stats.fault_source, stats.fault_other = contact.shape_a, contact.shape_b
        stats.fault_stiffness = contact.stiffness


@inlined_kernel
def _restore_stats(s):
    """Let the counts be those of the last step, but for why this one failed and the pairs found."""
    stats = s.step_stats[0]
    needed, stiffness, looks = stats.needed, stats.stiffness, stats.looks
    kind, source, other = stats.fault_kind, stats.fault_source, stats.fault_other
    softened, pairs, found = stats.fault_stiffness, stats.candidate_count, stats.found_count
    passes, passages, flies = stats.passes, stats.passage_count, stats.flies
    updates = stats.impact_updates
    s.step_stats[0] = s.work.step_stats_start[0]
    stats.needed, stats.looks, stats.candidate_count = needed, looks, pairs
    stats.fault_kind, stats.fault_source, stats.fault_other = kind, source, other
    stats.fault_stiffness, stats.stiffness, stats.worst_row = softened, stiffness, -1
    stats.found_count = found
    stats.passes, stats.passage_count, stats.flies = passes, passages, flies
    stats.impact_updates = updates


@inlined_kernel
def _copy_table(table, table_out):
    for k in range(table.shape[0]):
        for j in range(table.shape[1]):
            table_out[k, j] = table[k, j]
