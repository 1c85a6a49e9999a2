# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The minimum-degree order against elimination of sets of neighbours, step by step."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from solvers.graph_shapes import binary_tree, chain, grid, quick, ring, star

from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.solvers.newton.minimum_degree import (
    clear_graph,
    connect_nodes,
    new_node_graph,
    order_by_degree,
)


@kernel
def order(edges, node_count, graph):
    clear_graph(graph, node_count)
    for k in range(edges.shape[0]):
        connect_nodes(graph, edges[k, 0], edges[k, 1])
    order_by_degree(graph, node_count)


def ordered(edges, count, room=0):
    """Return the order, and the later neighbours of each node in it."""
    graph = new_node_graph(count + room)
    graph.neighbours[:] = ~np.uint64(0)  # what an earlier step left there must not matter
    order(np.array(edges, dtype=np.int64).reshape(-1, 2), count, graph)
    bits = np.unpackbits(graph.neighbours[:count].view(np.uint8), axis=1, bitorder="little")
    later = [set(np.flatnonzero(row[:count]).tolist()) for row in bits]
    return graph.order[:count].tolist(), later


@quick
@given(st.integers(1, 150), st.data())
def test_every_node_is_eliminated_with_fewest_neighbours(count, data):
    """Law: the structure is that of elimination, and each node had the least degree then."""
    node = st.integers(0, count - 1)
    edges = data.draw(st.lists(st.tuples(node, node).filter(lambda e: e[0] != e[1]), max_size=300))
    found, later = ordered(edges, count, data.draw(st.integers(0, 70)))
    assert sorted(found) == list(range(count))
    neighbours = [set() for _ in range(count)]
    for a, b in edges:
        neighbours[a].add(b)
        neighbours[b].add(a)
    left = set(range(count))
    for v in found:
        assert len(neighbours[v]) == min(len(neighbours[w]) for w in left)
        assert later[v] == neighbours[v]
        left.remove(v)
        for w in neighbours[v]:
            neighbours[w] = (neighbours[w] | neighbours[v]) - {v, w}


def fill(edges, count):
    return sum(map(len, ordered(edges, count)[1])) - len({frozenset(e) for e in edges})


def test_trees_fill_nothing_and_grids_little():
    """Law: trees have an order without fill; a grid of n x n fills about as n^2 log n."""
    for edges in (chain(99), star(99), binary_tree(99)):
        assert fill(edges, 100) == 0
    assert fill(ring(100), 100) == 97
    assert fill(grid(20, 20), 400) < 400 * 20 / 2
