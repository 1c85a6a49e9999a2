# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Block structure of the factor of a constraint matrix, eliminated in a fill-reducing order.

Column k of the factor belongs to the node that is eliminated as number k. The column has a diagonal
block, and one block for each later node that is coupled to node k, directly or through nodes
eliminated before. The nodes of each kinematic tree form a clique. Elimination of a node merges the
cliques of its two trees. The later nodes of the merged clique are the blocks of the column. Each
clique is a sorted list.
"""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.fields import allocate, part, work
from hrpsim.engine.compile.kernel_types import Column, GraphNode, Index, Indices, Records
from hrpsim.engine.solvers.contraction import NODE, Contraction, order_nodes

COLUMN = np.dtype(
    [
        ("node", "i8"),
        ("first_row", "i8"),
        ("size", "i8"),
        ("block", "i8"),  # where its diagonal block starts, (size, size)
        ("start", "i8"),  # its entries, by ascending column
        ("end", "i8"),
    ]
)
ENTRY = np.dtype(
    [
        ("column", "i8"),  # later column k' whose node is coupled to this one's
        ("block", "i8"),  # where the block starts: (size of k', size of k), row by row
    ]
)
COUNTS = np.dtype(
    [
        ("node_count", "i8"),  # -1 before the first order
        ("tree_count", "i8"),  # trees there must be room for
        ("entry_count", "i8"),  # -1 while there is no room for the nodes or the trees
        ("block_space", "i8"),  # floats that all blocks take, likewise
        ("row_end", "i8"),  # one past the last row of any node
    ]
)


class Elimination(NamedTuple):
    """An order of elimination, the block structure of the factor, and the graph of the matrix."""

    counts: np.ndarray = work("1", dtype=COUNTS)
    nodes: np.ndarray = work("nodes", "as they were ordered", NODE)
    columns: np.ndarray = work("nodes", "in the order of elimination", COLUMN)
    entries: np.ndarray = work("entries", "below the diagonal, column by column", ENTRY)
    order: np.ndarray = work("nodes", "node of each column", "i8")
    graph: Contraction = part(Contraction)
    root: np.ndarray = work("trees", "the clique that a tree went into; itself for a clique", "i8")
    head: np.ndarray = work("trees", "a clique's first link", "i8")
    link: np.ndarray = work("2 nodes", "the next link of the clique; 2 k and 2 k + 1 are k", "i8")


def new_elimination(nodes: int, trees: int, entries: int) -> Elimination:
    """Return an empty structure with these capacities.

    nodes: number of nodes. trees: number of trees. entries: number of off-diagonal blocks.
    """
    made = allocate(Elimination, {"nodes": nodes, "trees": trees, "entries": entries})
    made.counts["node_count"] = -1
    return made


@inner_kernel
def same_graph(nodes: Records[GraphNode], node_count: int, elimination: Elimination) -> bool:
    """Return whether the present order was made for the same nodes."""
    counts = elimination.counts[0]
    if counts.node_count != node_count or not has_room(elimination):
        return False
    for n in range(node_count):
        new, old = nodes[n], elimination.nodes[n]
        if new.first_row != old.first_row or new.size != old.size:
            return False
        if new.tree_a != old.tree_a or new.tree_b != old.tree_b:
            return False
    return True


@inlined_kernel
def has_room(elimination: Elimination) -> bool:
    """Return whether the last structure fitted into the arrays.

    If not, `counts` have the required capacity.
    """
    entry_count = elimination.counts[0].entry_count
    return 0 <= entry_count <= len(elimination.entries)


@inner_kernel
def eliminate(nodes: Records[GraphNode], node_count: int, elimination: Elimination) -> bool:
    """Order the nodes and write the structure of the factor. Return whether the arrays have room.

    If the arrays are too small, `counts` have the required capacity: `node_count` nodes,
    `tree_count` trees, `entry_count` entries, and `block_space` numbers of matrix and factor.
    `entry_count` is -1 if nodes or trees did not fit.
    """
    counts = elimination.counts[0]
    counts.node_count = node_count
    counts.tree_count = counts.row_end = 0
    counts.entry_count = counts.block_space = -1
    for n in range(node_count):
        node = nodes[n]
        counts.tree_count = max(counts.tree_count, node.tree_a + 1, node.tree_b + 1)
        counts.row_end = max(counts.row_end, node.first_row + node.size)
    if node_count > len(elimination.nodes) or counts.tree_count > len(elimination.root):
        return False
    order_nodes(nodes, node_count, elimination.graph, elimination.order)
    _start_cliques(nodes, node_count, elimination)
    entry_count = space = 0
    for k in range(node_count):
        node, column = nodes[elimination.order[k]], elimination.columns[k]
        column.node = elimination.order[k]
        column.first_row, column.size = node.first_row, node.size
        column.block, column.start = space, entry_count
        clique, x, y = _merge_cliques(node, elimination)
        entry_count, space = _write_entries(
            clique, x, y, space + node.size * node.size, nodes, column, elimination
        )
        column.end = entry_count
    counts.entry_count, counts.block_space = entry_count, space
    return has_room(elimination)


@inlined_kernel
def _start_cliques(nodes: Records[GraphNode], node_count: int, elimination: Elimination) -> None:
    """List each tree's nodes by ascending column, and keep a copy of the nodes."""
    head = elimination.head
    for n in range(node_count):
        node, node_copy = nodes[n], elimination.nodes[n]
        node_copy.first_row, node_copy.size = node.first_row, node.size
        node_copy.tree_a, node_copy.tree_b = node.tree_a, node.tree_b
        for tree in (node.tree_a, node.tree_b):
            if tree >= 0:
                head[tree] = -1
                elimination.root[tree] = tree
    for k in range(node_count - 1, -1, -1):
        node = nodes[elimination.order[k]]
        if node.tree_a >= 0:
            elimination.link[2 * k] = head[node.tree_a]
            head[node.tree_a] = 2 * k
        if node.tree_b >= 0 and node.tree_b != node.tree_a:
            elimination.link[2 * k + 1] = head[node.tree_b]
            head[node.tree_b] = 2 * k + 1


@inlined_kernel
def _root(tree: int, root: Indices) -> int:
    """Return the clique of a tree, and shorten the path to it (union-find)."""
    while root[tree] != tree:
        root[tree] = root[root[tree]]
        tree = root[tree]
    return tree


@inlined_kernel
def _merge_cliques(node: GraphNode, elimination: Elimination) -> tuple[int, int, int]:
    """Merge the two cliques of a node into one.

    The node is the first in both cliques, because all earlier nodes are eliminated.

    Returns:
        (merged clique, link after the node in the first clique, link in the second clique). A link
        is -1 for none.
    """
    head, link, root = elimination.head, elimination.link, elimination.root
    a, b = node.tree_a, node.tree_b
    if a < 0:
        a, b = b, a
    if a < 0:
        return -1, -1, -1
    a = _root(a, root)
    x, y = link[head[a]], -1
    if b >= 0:
        b = _root(b, root)
        if b != a:
            y = link[head[b]]
            root[b] = a
    head[a] = -1
    return a, x, y


@inner_kernel
def _write_entries(
    clique: int,
    x: int,
    y: int,
    space: Index,
    nodes: Records[GraphNode],
    column: Column,
    elimination: Elimination,
) -> tuple[int, int]:
    """Write the merged list as the entries of the column, and as the list of the clique.

    Entries beyond the capacity are only counted.

    Returns:
        (number of entries so far, number of block entries so far).
    """
    link, order, capacity = elimination.link, elimination.order, len(elimination.entries)
    count, last = column.start, -1
    while x >= 0 or y >= 0:
        if y >= 0 and (x < 0 or y < x):
            x, y = y, x
        later = x >> 1
        if y >> 1 == later:
            y = link[y]
        if last >= 0:
            link[last] = x
        else:
            elimination.head[clique] = x
        last = x
        if count < capacity:
            entry = elimination.entries[count]
            entry.column, entry.block = later, space
        count += 1
        space += column.size * nodes[order[later]].size
        x = link[x]
    if last >= 0:
        link[last] = -1
    return count, space
