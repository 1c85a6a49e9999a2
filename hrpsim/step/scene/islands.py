# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Islands: rows that share no moving tree with any other row are solved by themselves.

Trees are joined by contacts and connections whose both sides move; what is fixed joins nothing.
The rows of an island are swept until that island converges, in the order they have among all rows,
so that its impulses do not depend on what else is in the world. Islands with a row for the direct
or the split solver are one, for that solver looks at all its rows together; so is everything under
the stopping rule of the papers, which is about all impulses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.constraints.solver_table import DIRECT, SPLIT
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.jit.fields import Axis, array
from hrpsim.solvers.coupled import largest_error
from hrpsim.solvers.projected_gauss_seidel import SPAN

# per body; of a tree at its root
TREE = np.dtype(
    [
        (
            "representative",
            "i8",
        ),  # a root of its island; its own for the one that stands for the island
        ("span", "i8"),  # at a representative: number of its island
    ]
)

# Contacts that begin have no impulses to start from and need more sweeps: up to the cold limit, as
# long as that is not more than so many updates of rows (about a millisecond).
_UPDATES = 50_000


class Islands(NamedTuple):
    """Who belongs together in a step."""

    trees: np.ndarray = array("each body: its island", TREE, Axis.BODY)
    spans: np.ndarray = array(
        "the islands in the order of their first contacts and rows", SPAN, Axis.ISLAND
    )
    chosen: np.ndarray = array("of what is solved for in a round of impacts", SPAN, 1)


@inlined_kernel
def representative_of(trees, i):
    """Return the representative of body `i`'s island; paths are halved on the way."""
    while trees[i].representative != i:
        trees[i].representative = trees[trees[i].representative].representative
        i = trees[i].representative
    return i


@inner_kernel
def join(trees, i, j):
    """Make one island of those of two roots; the smaller representative stands for both."""
    i, j = representative_of(trees, i), representative_of(trees, j)
    trees[max(i, j)].representative = min(i, j)


@inlined_kernel
def root_of(bodies, sites, site):
    """Return the root of the tree that a site belongs to."""
    return bodies[sites.sites[site].body].root


@inlined_kernel
def is_for_direct(row):
    """Return whether a row is for the direct or the split solver."""
    return row.solver == DIRECT or row.solver == SPLIT


@inlined_kernel
def find_islands(settings, counts, bodies, collision, sites, rows, islands):
    """Write which contacts and rows each island has: islands.spans, rows.island_rows."""
    island_rows = rows.island_rows
    contact_count, rest = (
        counts.contact_count,
        counts.row_count - 3 * counts.contact_count,
    )
    first = root_of(bodies, sites, rows.rows[0].site_a)
    alone, any_direct = True, False
    for unit in range(contact_count + rest):
        number = 3 * unit if unit < contact_count else unit + 2 * contact_count
        island_rows[unit] = number
        row = rows.rows[number]
        row.island = root_of(bodies, sites, row.site_a)
        alone = alone and row.island == first and row.width_b == 0
        any_direct = any_direct or is_for_direct(row)
    counts.direct_island = 0 if any_direct else -1
    if alone or settings.relative_tolerance > 0.0:
        span = islands.spans[0]
        span.first, span.contact_end, span.end = 0, contact_count, contact_count + rest
        span.new_count, span.whole, span.slips = counts.new_count, 1, 0
        counts.island_count = 1
    else:
        _part(counts, bodies, collision, sites, rows, islands, contact_count, contact_count + rest)


@inner_kernel
def _part(counts, bodies, collision, sites, rows, islands, contact_count, unit_count):
    """Find the islands where there may be more than one."""
    direct = _join_trees(bodies, sites, rows, islands.trees, contact_count, unit_count)
    _gather(counts, collision, rows, islands, contact_count, unit_count)
    if direct >= 0:
        counts.direct_island = islands.trees[representative_of(islands.trees, direct)].span


@inlined_kernel
def _join_trees(bodies, sites, rows, trees, contact_count, unit_count):
    """Join the trees that rows push together; return a tree of the direct island, -1 for none."""
    direct = -1
    for i in range(trees.shape[0]):
        trees[i].representative = i
        trees[i].span = -1
    for unit in range(unit_count):
        row = rows.rows[3 * unit if unit < contact_count else unit + 2 * contact_count]
        if row.width_b > 0:
            join(trees, row.island, root_of(bodies, sites, row.site_b))
        if is_for_direct(row):
            if direct >= 0:
                join(trees, row.island, direct)
            direct = row.island
    return direct


@inlined_kernel
def _gather(counts, collision, rows, islands, contact_count, unit_count):
    """Number the islands, and list the contacts and then the rows of each in one piece."""
    island_rows, trees, spans = rows.island_rows, islands.trees, islands.spans
    count = 0
    for unit in range(unit_count):
        row = rows.rows[3 * unit if unit < contact_count else unit + 2 * contact_count]
        representative = trees[representative_of(trees, row.island)]
        if representative.span < 0:
            representative.span = count
            spans[count].contact_end = spans[count].end = spans[count].new_count = 0
            count += 1
        row.island = representative.span
        if unit < contact_count:
            spans[representative.span].contact_end += 1
            spans[representative.span].new_count += collision.contacts[unit].is_new
        else:
            spans[representative.span].end += 1
    place = 0
    for k in range(count):
        span = spans[k]
        contacts, others = span.contact_end, span.end
        span.first = span.contact_end = place
        span.slips = 0
        span.end = place + contacts
        span.whole = 1 if count == 1 else 0
        place += contacts + others
    for unit in range(unit_count):
        number = 3 * unit if unit < contact_count else unit + 2 * contact_count
        span = spans[rows.rows[number].island]
        if unit < contact_count:
            island_rows[span.contact_end] = number
            span.contact_end += 1
        else:
            island_rows[span.end] = number
            span.end += 1
    counts.island_count = count


@inner_kernel
def allowed_sweeps(span, settings):
    """Return the sweep limit of an island in this step."""
    if span.new_count == 0 and not span.slips:
        return settings.sweep_limit
    return max(settings.sweep_limit, min(settings.cold_sweep_limit, sweeps_in_time(span)))


@inner_kernel
def sweeps_in_time(span):
    """Return how many sweeps over an island take about a millisecond."""
    row_count = 2 * (span.contact_end - span.first) + span.end - span.first
    return _UPDATES // row_count


@inner_kernel
def find_worst(counts, sites, rows, spans):
    """Return how far the rows of all islands are from a solution [m/s], and the worst of them."""
    largest, worst = 0.0, -1
    for k in range(counts.island_count):
        span = spans[k]
        error, number = largest_error(rows.rows, rows.island_rows, span, sites.velocity)
        if error > largest:
            largest, worst = error, number
    return largest, worst


@inner_kernel
def summarise(counts, stats, sites, rows, spans):
    """Write sweeps, residual and convergence of all islands."""
    stats.sweeps, stats.residual, stats.converged = 0, 0.0, 1
    for k in range(counts.island_count):
        span = spans[k]
        stats.sweeps = max(stats.sweeps, span.sweeps)
        stats.residual = max(stats.residual, span.residual)
        stats.converged = stats.converged and span.converged
    if not stats.converged:
        _, stats.worst_row = find_worst(counts, sites, rows, spans)
