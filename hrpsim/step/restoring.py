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
from hrpsim.step.impacts.struck import forget_struck_impulses
from hrpsim.step.scene.status import DIVERGED, LOOK_FURTHER, SINGULAR, TOO_STIFF, WAKES


@inlined_kernel
def keep_start(s):
    """Keep the start of a step."""
    tally, work = s.tally[0], s.work
    copy_vector(s.q, work.q_start)
    copy_vector(s.velocity, work.velocity_start)
    work.tally_start[0] = tally
    if tally.struck:
        _keep_struck(s)
    for h in range(s.spring_hinges.shape[0]):
        work.spring_hinges_start[h] = s.spring_hinges[h]


@inner_kernel
def _keep_struck(s):
    """Keep what came at once in the last step."""
    for k in range(s.joint_struck.shape[0]):
        for kind in range(6):
            s.work.joint_struck_start[k, kind] = s.joint_struck[k, kind]
    for c in range(s.connections.shape[0]):
        join = s.connections[c]
        for axis in range(6):
            join.struck_before[axis] = join.struck[axis]


@inner_kernel
def restore_start(s, status):
    """Undo a step that ended with `status`."""
    work, tally = s.work, s.tally[0]
    copy_vector(work.q_start, s.q)
    copy_vector(work.velocity_start, s.velocity)
    restore_marks(s.control)
    _restore_struck(s)
    for h in range(s.spring_hinges.shape[0]):
        s.spring_hinges[h] = work.spring_hinges_start[h]
    if status == SINGULAR or status == DIVERGED or status == TOO_STIFF:
        _name_fault(s, status)
    _restore_tally(s)
    if status == WAKES or status == LOOK_FURTHER:
        tally.contact_count = tally.found_count  # what is to wake has its part in these
        return
    tally.contact_count = tally.previous_count
    for c in range(tally.contact_count):
        s.collision.contacts[c] = s.collision.previous[c]
        s.collision.contacts[c].forgotten = 0


@inlined_kernel
def _restore_struck(s):
    """Let joints and connections have had the impacts of the last step, if it had any."""
    forget_struck_impulses(s)
    if not s.work.tally_start[0].struck:
        return
    for k in range(s.joint_struck.shape[0]):
        for kind in range(6):
            s.joint_struck[k, kind] = s.work.joint_struck_start[k, kind]
    for c in range(s.connections.shape[0]):
        join = s.connections[c]
        for axis in range(6):
            join.struck[axis] = join.struck_before[axis]


@inlined_kernel
def _name_fault(s, status):
    """Note which row a step failed at, for its error."""
    tally = s.tally[0]
    number = 3 * tally.needed if status == TOO_STIFF else tally.worst_row
    tally.fault_kind = -1
    if number < 0 or number >= tally.row_count or (status != TOO_STIFF and tally.converged):
        return
    row = s.rows.rows[number]
    tally.fault_kind, tally.fault_source, tally.fault_other = row.kind, row.source, -1
    if row.kind == CONTACT_ROW:
        contact = s.collision.contacts[row.source]
        tally.fault_source, tally.fault_other = contact.shape_a, contact.shape_b
        tally.fault_stiffness = contact.stiffness


@inlined_kernel
def _restore_tally(s):
    """Let the counts be those of the last step, but for why this one failed and the pairs found."""
    tally = s.tally[0]
    needed, stiffness, looks = tally.needed, tally.stiffness, tally.looks
    kind, source, other = tally.fault_kind, tally.fault_source, tally.fault_other
    softened, pairs, found = tally.fault_stiffness, tally.candidate_count, tally.found_count
    passes, passages, flies = tally.passes, tally.passage_count, tally.flies
    s.tally[0] = s.work.tally_start[0]
    tally.needed, tally.looks, tally.candidate_count = needed, looks, pairs
    tally.fault_kind, tally.fault_source, tally.fault_other = kind, source, other
    tally.fault_stiffness, tally.stiffness, tally.worst_row = softened, stiffness, -1
    tally.found_count = found
    tally.passes, tally.passage_count, tally.flies = passes, passages, flies
