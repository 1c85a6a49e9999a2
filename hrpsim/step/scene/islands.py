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

from hrpsim.constraints.rows import DIRECT, SPLIT
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.solvers.coupled import largest_error
from hrpsim.solvers.projected_gauss_seidel import SPAN

# per body; what is said of a tree stands at its root
TREE = np.dtype(
    [
        ("leader", "i8"),  # a root of its island; its own for the one that stands for the island
        ("span", "i8"),  # at a leader: number of its island
        ("may_sleep", "i8"),  # whether it is a loose body
        ("radius", "f8"),  # of the sphere about the body's origin that holds it [m]
        ("rest_steps", "i8"),  # for how many steps it has been at rest
        ("wakeful", "i8"),  # at a leader: whether something keeps the island awake
        ("leans", "i8"),  # at a leader: whether the island is held by what is fixed
        ("island", "i8"),  # of a body that is to fall asleep: its leader, otherwise -1
        ("momentum", "f8", (3,)),  # linear, of a floating tree after a step [Ns]
        ("knows_momentum", "i8"),  # whether it is that of the present state
    ]
)

# Contacts that begin have no impulses to start from and need more sweeps: up to the cold limit, as
# long as that is not more than so many updates of rows (about a millisecond).
_COLD_UPDATES = 50_000

# Of these, what goes on where entities are added or removed.
LASTING = ("momentum", "knows_momentum")


class Islands(NamedTuple):
    """Who belongs together in a step; `n` bodies."""

    trees: np.ndarray  # (n,) TREE
    spans: np.ndarray  # (n + 1,) SPAN, the islands in the order of their first contacts and rows
    chosen: np.ndarray  # (1,) SPAN of what is solved for in a round of impacts


def new_islands(body_count: int) -> Islands:
    """Return room for the islands of `body_count` bodies."""
    return Islands(
        trees=np.zeros(body_count, dtype=TREE),
        spans=np.zeros(body_count + 1, dtype=SPAN),
        chosen=np.zeros(1, dtype=SPAN),
    )


@inlined_kernel
def leader_of(trees, i):
    """Return the leader of body `i`'s island; paths are halved on the way."""
    while trees[i].leader != i:
        trees[i].leader = trees[trees[i].leader].leader
        i = trees[i].leader
    return i


@inner_kernel
def join(trees, i, j):
    """Make one island of those of two roots; the smaller leader stands for both."""
    i, j = leader_of(trees, i), leader_of(trees, j)
    trees[max(i, j)].leader = min(i, j)


@inlined_kernel
def root_of(s, port):
    """Return the root of the tree that a port belongs to."""
    return s.forest.bodies[s.ports.ports[port].body].root


@inlined_kernel
def is_for_direct(row):
    """Return whether a row is for the direct or the split solver."""
    return row.solver == DIRECT or row.solver == SPLIT


@inlined_kernel
def find_islands(s):
    """Write which contacts and rows each island has: s.islands.spans, s.rows.units."""
    tally, rows, units = s.tally[0], s.rows.rows, s.rows.units
    contact_count, rest = tally.contact_count, tally.row_count - 3 * tally.contact_count
    first = root_of(s, rows[0].port_a)
    alone, any_direct = True, False
    for unit in range(contact_count + rest):
        number = 3 * unit if unit < contact_count else unit + 2 * contact_count
        units[unit] = number
        row = rows[number]
        row.island = root_of(s, row.port_a)
        alone = alone and row.island == first and row.width_b == 0
        any_direct = any_direct or is_for_direct(row)
    tally.direct_island = 0 if any_direct else -1
    if alone or s.settings[0].relative_tolerance > 0.0:
        span = s.islands.spans[0]
        span.first, span.contact_end, span.end = 0, contact_count, contact_count + rest
        span.new_count, span.whole, span.slips = tally.new_count, 1, 0
        tally.island_count = 1
    else:
        _part(s, contact_count, contact_count + rest)


@inner_kernel
def _part(s, contact_count, unit_count):
    """Find the islands where there may be more than one."""
    direct = _join_trees(s, contact_count, unit_count)
    _gather(s, contact_count, unit_count)
    if direct >= 0:
        s.tally[0].direct_island = s.islands.trees[leader_of(s.islands.trees, direct)].span


@inlined_kernel
def _join_trees(s, contact_count, unit_count):
    """Join the trees that rows push together; return a tree of the direct island, -1 for none."""
    rows, trees, direct = s.rows.rows, s.islands.trees, -1
    for i in range(trees.shape[0]):
        trees[i].leader = i
        trees[i].span = -1
    for unit in range(unit_count):
        row = rows[3 * unit if unit < contact_count else unit + 2 * contact_count]
        if row.width_b > 0:
            join(trees, row.island, root_of(s, row.port_b))
        if is_for_direct(row):
            if direct >= 0:
                join(trees, row.island, direct)
            direct = row.island
    return direct


@inlined_kernel
def _gather(s, contact_count, unit_count):
    """Number the islands, and list the contacts and then the rows of each in one piece."""
    rows, units, trees, spans = s.rows.rows, s.rows.units, s.islands.trees, s.islands.spans
    count = 0
    for unit in range(unit_count):
        row = rows[3 * unit if unit < contact_count else unit + 2 * contact_count]
        leader = trees[leader_of(trees, row.island)]
        if leader.span < 0:
            leader.span = count
            spans[count].contact_end = spans[count].end = spans[count].new_count = 0
            count += 1
        row.island = leader.span
        if unit < contact_count:
            spans[leader.span].contact_end += 1
            spans[leader.span].new_count += s.collision.contacts[unit].is_new
        else:
            spans[leader.span].end += 1
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
        span = spans[rows[number].island]
        if unit < contact_count:
            units[span.contact_end] = number
            span.contact_end += 1
        else:
            units[span.end] = number
            span.end += 1
    s.tally[0].island_count = count


@inner_kernel
def allowed_sweeps(span, settings):
    """Return the sweep limit of an island in this step."""
    if span.new_count == 0 and not span.slips:
        return settings.sweep_limit
    row_count = 2 * (span.contact_end - span.first) + span.end - span.first
    more = min(settings.cold_sweep_limit, _COLD_UPDATES // row_count)
    return max(settings.sweep_limit, more)


@inner_kernel
def find_worst(s):
    """Return how far the rows of all islands are from a solution [m/s], and the worst of them."""
    largest, worst = 0.0, -1
    for k in range(s.tally[0].island_count):
        span = s.islands.spans[k]
        error, number = largest_error(s.rows.rows, s.rows.units, span, s.ports.velocity)
        if error > largest:
            largest, worst = error, number
    return largest, worst
