# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Minimum-degree order of elimination of a graph of trees with common constraints.

The neighbours of each node are a row of bits. When a node is eliminated, its neighbours become a
clique (Rose 1972). The row of bits is then the structure of the node's column of the factor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Bits, BitSet

_WORD = 64


class NodeGraph(NamedTuple):
    """A graph from which nodes are eliminated."""

    neighbours: np.ndarray  # (node capacity, words) u8; at the end, later neighbours in the factor
    degree: np.ndarray  # (node capacity,)
    order: np.ndarray  # (node capacity,) the node of each column
    position: np.ndarray  # (node capacity,) the column of each node, -1 while it has none


def new_node_graph(node_capacity: int) -> NodeGraph:
    """Return an empty graph with a capacity for `node_capacity` nodes."""
    words = (node_capacity + _WORD - 1) // _WORD
    return NodeGraph(
        np.zeros((node_capacity, words), dtype=np.uint64),
        np.zeros(node_capacity, dtype=np.int64),
        np.zeros(node_capacity, dtype=np.int64),
        np.zeros(node_capacity, dtype=np.int64),
    )


@inner_kernel
def clear_graph(graph: NodeGraph, node_count: int) -> None:
    """Remove all edges of the first `node_count` nodes."""
    words = word_count(node_count)
    for v in range(node_count):
        for k in range(words):
            graph.neighbours[v, k] = np.uint64(0)


@inlined_kernel
def word_count(node_count: int) -> int:
    """Return the number of words for the neighbours of a node."""
    return (node_count + _WORD - 1) // _WORD


@inlined_kernel
def connect_nodes(graph: NodeGraph, v: int, w: int) -> None:
    """Make two nodes neighbours."""
    graph.neighbours[v, w // _WORD] |= _bit(w)
    graph.neighbours[w, v // _WORD] |= _bit(v)


@inlined_kernel
def _bit(v: int) -> Bits:
    return np.uint64(1) << np.uint64(v % _WORD)


@inner_kernel
def order_by_degree(graph: NodeGraph, node_count: int) -> None:
    """Order the nodes by minimum degree, and write the positions of the nodes.

    The next node is the node with the fewest remaining neighbours. Of several, the node with the
    lowest number is taken. Each node takes a bitwise update of the structure and one pass over all
    nodes.
    """
    words = word_count(node_count)
    for v in range(node_count):
        graph.position[v] = -1
        graph.degree[v] = _count(graph.neighbours, v, words)
    for k in range(node_count):
        v = -1
        for w in range(node_count):
            if graph.position[w] < 0 and (v < 0 or graph.degree[w] < graph.degree[v]):
                v = w
        graph.order[k], graph.position[v] = v, k
        _eliminate(graph, v, words)


@inlined_kernel
def _eliminate(graph: NodeGraph, v: int, words: int) -> None:
    """Connect all neighbours of a node with each other, and remove the node."""
    neighbours = graph.neighbours
    for k in range(words):
        bits = neighbours[v, k]
        while bits != 0:
            w = _WORD * k + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            for m in range(words):
                neighbours[w, m] |= neighbours[v, m]
            neighbours[w, v // _WORD] &= ~_bit(v)
            neighbours[w, w // _WORD] &= ~_bit(w)
            graph.degree[w] = _count(neighbours, w, words)


@inlined_kernel
def _count(neighbours: BitSet, v: int, words: int) -> int:
    total = 0
    for k in range(words):
        total += _ones(neighbours[v, k])
    return total


@inlined_kernel
def lowest_bit(bits: Bits) -> int:
    """Return the index of the lowest set bit."""
    return _ones((bits & (~bits + np.uint64(1))) - np.uint64(1))


@inlined_kernel
def highest_bit(bits: Bits) -> int:
    """Return the index of the highest set bit."""
    for shift in (1, 2, 4, 8, 16, 32):
        bits |= bits >> np.uint64(shift)
    return _ones(bits) - 1


@inlined_kernel
def _ones(bits: Bits) -> int:
    """Return the number of set bits of a word, counted in pairs, fours and eights at once."""
    bits = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    fours = np.uint64(0x3333333333333333)
    bits = (bits & fours) + ((bits >> np.uint64(2)) & fours)
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))
