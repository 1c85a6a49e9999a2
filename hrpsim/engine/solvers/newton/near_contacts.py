# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Choose the contacts of an island that are solved first. Others may be added later.

Contacts are detected before bodies touch. In a heap, half of the contacts separate, or cannot close
in the step. These contacts would cost as much as loaded contacts, and would couple unrelated
bodies. After the solution, `largest_miss` shows whether contacts must be added.
"""

from __future__ import annotations

import math

from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.engine.compile.kernel_types import Indices, Island, Records, Row, Vector
from hrpsim.engine.constraints.rows import row_velocity
from hrpsim.engine.solvers.newton.newton_problem import NewtonSystem

# Velocity of parting from which on a contact waits, in tolerances, if it is nowhere larger.
_LEAST = 1e5


@inner_kernel
def choose_rows(
    rows: Records[Row],
    island_rows: Indices,
    island: Island,
    share: float,
    velocity: Vector,
    tolerance: float,
    system: NewtonSystem,
) -> int:
    """Write the rows of the problem to system.chosen: contacts first, then all other rows.

    A contact is left out if it has no impulse, and separates faster than `share` times the largest
    error of a contact.

    Args:
        rows: ROW records (row capacity,).
        island_rows: numbers of the rows, island by island.
        island: record of the island, with a range of `island_rows`.
        share: fraction of the largest error.
        velocity: velocities of the constraint bodies (columns,) [m/s, rad/s].
        tolerance: accepted error [m/s].
        system: problem of the island.

    Returns:
        The number of contacts, or -1 if the arrays are too small (see `capacity`).
    """
    capacity, chosen = system.capacity[0], system.chosen
    if island.end - island.first > chosen.shape[0]:
        capacity.nodes = capacity.coordinates = capacity.basis = capacity.arms = (
            capacity.entries
        ) = 0
        capacity.blocks, capacity.constraints = 0, island.end - island.first
        return -1
    reach = math.inf
    if share < math.inf:
        largest = largest_miss(rows, island_rows, island, velocity, True)
        reach = max(share * largest, _LEAST * tolerance)
    contacts = 0
    for k in range(island.first, island.contact_end):
        row = rows[island_rows[k]]
        if row.impulse > 0.0 or row_velocity(row, velocity) - row.target < reach:
            chosen[contacts] = island_rows[k]
            contacts += 1
    count = contacts
    for k in range(island.contact_end, island.end):
        chosen[count] = island_rows[k]
        count += 1
    capacity.constraints = count
    return contacts


@inner_kernel
def largest_miss(
    rows: Records[Row], island_rows: Indices, island: Island, velocity: Vector, of_pushing: bool
) -> float:
    """Return the largest error of a contact's normal velocity [m/s].

    A contact without impulse has an error if it closes faster than its target permits.

    Args:
        rows: ROW records (row capacity,).
        island_rows: numbers of the rows, island by island.
        island: record of the island, with a range of `island_rows`.
        velocity: velocities of the constraint bodies (columns,) [m/s, rad/s].
        of_pushing: whether contacts with an impulse count as well.
    """
    largest = 0.0
    for k in range(island.first, island.contact_end):
        row = rows[island_rows[k]]
        along = row_velocity(row, velocity) - row.target
        if not row.impulse > 0.0:
            largest = max(largest, -along)
        elif of_pushing:
            largest = max(largest, abs(along))
    return largest
