# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The memory of an island, which decides which solver comes first in the next steps.

Islands are computed anew in every step, so the memory is stored in contacts (`contact.memory`). An
island has the largest memory of its contacts. Memories are compared by state, then by interval,
then by remaining steps.
"""

from __future__ import annotations

from typing import NamedTuple

from hrpsim.engine.collision.contacts import copy_memory
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Contact, Island, Records, StoredMemory
from hrpsim.engine.constraints.rows import Rows

# State of the memory: the solver that comes first.
#
# - SWEEPS: the default.
# - NEWTON: Newton's method changed the impulses of a dense island. Sweeps would stall again.
# - NEWTON_AT_REST: a lone robot nearly rests. Sweeps would end with an error of the tolerance, and
#   resting forces would vary. Newton's method comes first unless the first sweeps nearly converge.
# - NEWTON_IN_MOTION: a lone robot moves. Sweeps are tried again after 1, 2, 4 ... steps, longer
#   each time that they fail. `interval` is that number of steps, `remaining` the number left.
# - DIRECT_FIRST: Newton's method failed in the last step, and the direct solver succeeded.
SWEEPS, NEWTON, NEWTON_AT_REST, NEWTON_IN_MOTION, DIRECT_FIRST = range(5)

_LONGEST = 16  # maximum number of steps between two trials of sweeps


class SolverMemory(NamedTuple):
    """A rule for the solver that comes first in an island in the next steps."""

    state: int
    interval: int
    remaining: int


BY_SWEEPS = SolverMemory(SWEEPS, 0, 0)
BY_NEWTON = SolverMemory(NEWTON, 0, 0)
AT_REST = SolverMemory(NEWTON_AT_REST, 0, 0)
BY_DIRECT = SolverMemory(DIRECT_FIRST, 0, 0)


@inner_kernel
def recall_memory(contacts: Records[Contact], rows: Rows, island: Island) -> None:
    """Write the memory of an island from its contacts.

    Args:
        contacts: CONTACT records.
        rows: Rows of the step.
        island: ISLAND record, whose `memory` is written.
    """
    prevails = island.memory
    copy_memory(BY_SWEEPS, prevails)
    for k in range(island.first, island.contact_end):
        memory = contacts[rows.rows[rows.island_rows[k]].source].memory
        if _is_larger(memory, prevails):
            copy_memory(memory, prevails)


@inlined_kernel
def _is_larger(memory: StoredMemory, other: StoredMemory) -> bool:
    """Return whether a memory is larger than another one."""
    if memory.state != other.state:
        return memory.state > other.state
    if memory.interval != other.interval:
        return memory.interval > other.interval
    return memory.remaining > other.remaining


@inner_kernel
def remember(contacts: Records[Contact], rows: Rows, island: Island, memory: SolverMemory) -> None:
    """Write the memory to an island and its contacts.

    Args:
        contacts: CONTACT records, whose `memory` is written.
        rows: Rows of the step.
        island: ISLAND record, whose `memory` is written.
        memory: SolverMemory.
    """
    copy_memory(memory, island.memory)
    for k in range(island.first, island.contact_end):
        copy_memory(memory, contacts[rows.rows[rows.island_rows[k]].source].memory)


@inlined_kernel
def begins_by_newton(memory: StoredMemory) -> bool:
    """Return whether Newton's method is the first solver of the next step."""
    if memory.state == NEWTON_IN_MOTION:
        return memory.remaining > 0
    return memory.state == NEWTON or memory.state == NEWTON_AT_REST


@inlined_kernel
def longer_by_newton(memory: StoredMemory) -> SolverMemory:
    """Return the memory after a step in which Newton's method solved a single moving robot.

    The number of remaining steps falls by one. If no step remained, sweeps have failed, and the
    interval doubles.
    """
    if memory.state == NEWTON:
        return BY_SWEEPS
    if memory.state != NEWTON_IN_MOTION:
        return SolverMemory(NEWTON_IN_MOTION, 1, 1)
    if memory.remaining > 0:
        return SolverMemory(NEWTON_IN_MOTION, memory.interval, memory.remaining - 1)
    interval = min(2 * memory.interval, _LONGEST)
    return SolverMemory(NEWTON_IN_MOTION, interval, interval)


@inlined_kernel
def forget_newton(contacts: Records[Contact], rows: Rows, island: Island) -> None:
    """Record that sweeps sufficed in an island.

    In most steps, the memory does not change.
    """
    if island.contact_end > island.first:
        row = rows.rows[rows.island_rows[island.first]]
        if SWEEPS < contacts[row.source].memory.state < DIRECT_FIRST:
            remember(contacts, rows, island, BY_SWEEPS)
