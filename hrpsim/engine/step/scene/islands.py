# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Islands: groups of rows that share no moving tree, and are solved separately.

Contacts and connections between two moving bodies join the trees of both bodies. Fixed bodies do
not join trees. The rows of an island are swept in the order of all rows, until the island
converges. The impulses therefore do not depend on the rest of the world. All islands with rows for
the direct or the split solver form one island, because the direct solver solves all its rows
together. With the stopping rule of the papers there is only one island, because the rule applies to
all impulses.
"""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.collision.records import Collision
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.fields import Axis, array
from hrpsim.engine.compile.kernel_types import (
    Body,
    Counts,
    Index,
    Island,
    IslandTree,
    Records,
    Row,
    Settings,
    StepStats,
)
from hrpsim.engine.constraints.rows import Rows
from hrpsim.engine.constraints.solver_table import DIRECT, SPLIT
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.solvers.coupled import largest_error
from hrpsim.engine.solvers.projected_gauss_seidel import ISLAND

# per body; data of a tree is at its root
TREE = np.dtype(
    [
        ("representative", "i8"),  # a root nearer the representative, or that itself
        ("number", "i8"),  # at a representative: number of its island
    ]
)

# New contacts have no warm start and need more sweeps. The cold limit applies to them, up to this
# number of row updates (about a millisecond).
_UPDATES = 50_000


class Islands(NamedTuple):
    """The islands of a step."""

    trees: np.ndarray = array("island of each body", TREE, Axis.BODY)
    ranges: np.ndarray = array(
        "the islands in the order of their first contacts and rows", ISLAND, Axis.ISLAND
    )
    chosen: np.ndarray = array("island of the rows solved in a round of impacts", ISLAND, 1)


@inlined_kernel
def representative_of(trees: Records[IslandTree], i: Index) -> int:
    """Return the body that represents the island of body `i`.

    The search shortens the paths to the representative (union-find with path halving).
    """
    while trees[i].representative != i:
        trees[i].representative = trees[trees[i].representative].representative
        i = trees[i].representative
    return i


@inner_kernel
def join(trees: Records[IslandTree], i: Index, j: Index) -> None:
    """Join the islands of two bodies. The smaller representative remains."""
    i, j = representative_of(trees, i), representative_of(trees, j)
    trees[max(i, j)].representative = min(i, j)


@inlined_kernel
def root_of(bodies: Records[Body], constrained: ConstraintBodies, constraint_body: Index) -> int:
    """Return the body at the root of the tree to which a constraint body belongs."""
    return bodies[constrained.bodies[constraint_body].body].root


@inlined_kernel
def is_for_direct(row: Row) -> bool:
    """Return whether a row uses the direct or the split solver."""
    return row.solver == DIRECT or row.solver == SPLIT


@inlined_kernel
def find_islands(
    settings: Settings,
    counts: Counts,
    bodies: Records[Body],
    collision: Collision,
    constrained: ConstraintBodies,
    rows: Rows,
    islands: Islands,
) -> None:
    """Find the islands of the step, and write the contacts and rows of each island.

    The kernel writes islands.ranges, rows.island_rows, the field `island` of rows, and the counts
    `island_count` and `direct_island`.
    """
    island_rows = rows.island_rows
    contact_count, other_count = (counts.contact_count, counts.row_count - 3 * counts.contact_count)
    first = root_of(bodies, constrained, rows.rows[0].constrained_a)
    alone, any_direct = True, False
    for entry in range(contact_count + other_count):
        number = 3 * entry if entry < contact_count else entry + 2 * contact_count
        island_rows[entry] = number
        row = rows.rows[number]
        row.island = root_of(bodies, constrained, row.constrained_a)
        alone = alone and row.island == first and row.width_b == 0
        any_direct = any_direct or is_for_direct(row)
    counts.direct_island = 0 if any_direct else -1
    if alone or settings.relative_tolerance > 0.0:
        island = islands.ranges[0]
        island.first, island.contact_end, island.end = 0, contact_count, contact_count + other_count
        island.new_count, island.whole, island.slips = counts.new_count, 1, 0
        counts.island_count = 1
    else:
        count = contact_count + other_count
        direct = _join_trees(bodies, constrained, rows, islands.trees, contact_count, count)
        _gather(counts, collision, rows, islands, contact_count, count)
        if direct >= 0:
            counts.direct_island = islands.trees[representative_of(islands.trees, direct)].number


@inlined_kernel
def _join_trees(
    bodies: Records[Body],
    constrained: ConstraintBodies,
    rows: Rows,
    trees: Records[IslandTree],
    contact_count: int,
    entry_count: int,
) -> int:
    """Join the trees with common rows. Return a tree of the direct island, -1 for none."""
    direct = -1
    for i in range(trees.shape[0]):
        trees[i].representative = i
        trees[i].number = -1
    for entry in range(entry_count):
        row = rows.rows[3 * entry if entry < contact_count else entry + 2 * contact_count]
        if row.width_b > 0:
            join(trees, row.island, root_of(bodies, constrained, row.constrained_b))
        if is_for_direct(row):
            if direct >= 0:
                join(trees, row.island, direct)
            direct = row.island
    return direct


@inlined_kernel
def _gather(
    counts: Counts,
    collision: Collision,
    rows: Rows,
    islands: Islands,
    contact_count: int,
    entry_count: int,
) -> None:
    """Number the islands. List the contacts, then the rows of each island without gaps."""
    island_rows, trees, ranges = rows.island_rows, islands.trees, islands.ranges
    count = 0
    for entry in range(entry_count):
        row = rows.rows[3 * entry if entry < contact_count else entry + 2 * contact_count]
        representative = trees[representative_of(trees, row.island)]
        if representative.number < 0:
            representative.number = count
            ranges[count].contact_end = ranges[count].end = ranges[count].new_count = 0
            count += 1
        row.island = representative.number
        if entry < contact_count:
            ranges[representative.number].contact_end += 1
            ranges[representative.number].new_count += collision.contacts[entry].is_new
        else:
            ranges[representative.number].end += 1
    first = 0
    for k in range(count):
        island = ranges[k]
        contacts, others = island.contact_end, island.end
        island.first = island.contact_end = first
        island.slips = 0
        island.end = first + contacts
        island.whole = 1 if count == 1 else 0
        first += contacts + others
    for entry in range(entry_count):
        number = 3 * entry if entry < contact_count else entry + 2 * contact_count
        island = ranges[rows.rows[number].island]
        if entry < contact_count:
            island_rows[island.contact_end] = number
            island.contact_end += 1
        else:
            island_rows[island.end] = number
            island.end += 1
    counts.island_count = count


@inner_kernel
def allowed_sweeps(island: Island, settings: Settings) -> int:
    """Return the maximum number of sweeps over an island in this step.

    The limit is higher for an island with new contacts or with slip.
    """
    if island.new_count == 0 and not island.slips:
        return settings.sweep_limit
    return max(settings.sweep_limit, min(settings.cold_sweep_limit, sweeps_in_time(island)))


@inner_kernel
def sweeps_in_time(island: Island) -> int:
    """Return the number of sweeps over an island that take about one millisecond."""
    row_count = 2 * (island.contact_end - island.first) + island.end - island.first
    return _UPDATES // row_count


@inner_kernel
def find_worst(
    counts: Counts, constrained: ConstraintBodies, rows: Rows, ranges: Records[Island]
) -> tuple[float, int]:
    """Find the row with the largest error of all islands.

    Returns:
        (velocity error [m/s or rad/s], row number or -1).
    """
    largest, worst = 0.0, -1
    for k in range(counts.island_count):
        island = ranges[k]
        error, number = largest_error(rows.rows, rows.island_rows, island, constrained.velocity)
        if error > largest:
            largest, worst = error, number
    return largest, worst


@inner_kernel
def summarise(
    counts: Counts,
    stats: StepStats,
    constrained: ConstraintBodies,
    rows: Rows,
    ranges: Records[Island],
) -> None:
    """Write the sweeps, the residual [m/s] and the convergence of all islands into `stats`.

    If an island has not converged, `worst_row` is written as well.
    """
    stats.sweeps, stats.residual, stats.converged = 0, 0.0, 1
    for k in range(counts.island_count):
        island = ranges[k]
        stats.sweeps = max(stats.sweeps, island.sweeps)
        stats.residual = max(stats.residual, island.residual)
        stats.converged = stats.converged and island.converged
    if not stats.converged:
        _, stats.worst_row = find_worst(counts, constrained, rows, ranges)
