# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Lists of the constraint blocks at each tree, and sets of constraint blocks as arrays of bits.

Clusters and sweeps over violated constraint blocks read few blocks of an island. These lists save a
pass over all blocks. Each word of a set has the bits of 64 constraint blocks. A set is read in
order.
"""

from __future__ import annotations

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Bits, BitSet, Index, Indices, NewtonSystem, NodeTree
from hrpsim.engine.solvers.newton.minimum_degree import lowest_bit

WORD = 64


@inner_kernel
def list_constraints(system: NewtonSystem) -> None:
    """Write a list of the constraint blocks at each tree to `at_trees`, in ascending order."""
    constraints, trees, capacity, used = system.constraints, system.trees, system.capacity[0], 0
    for node in range(capacity.nodes):
        trees[node].constraints_end = 0
    for k in range(capacity.constraints):
        trees[constraints[k].node_a].constraints_end += 1
        if constraints[k].node_b >= 0:
            trees[constraints[k].node_b].constraints_end += 1
    for node in range(capacity.nodes):
        count = trees[node].constraints_end
        trees[node].constraints_start = trees[node].constraints_end = used
        used += count
    for k in range(capacity.constraints):
        _append(trees[constraints[k].node_a], k, system.at_trees)
        if constraints[k].node_b >= 0:
            _append(trees[constraints[k].node_b], k, system.at_trees)


@inlined_kernel
def _append(tree: NodeTree, k: Index, at_trees: Indices) -> None:
    """Append a constraint block to the list of a tree's blocks."""
    at_trees[tree.constraints_end] = k
    tree.constraints_end += 1


@inlined_kernel
def words_of(count: int) -> int:
    """Return the number of words for a set of `count` constraint blocks."""
    return (count + WORD - 1) // WORD


@inlined_kernel
def bit_of(index: Index) -> Bits:
    """Return a word with one bit set, the bit of an index within its word."""
    return np.uint64(1) << np.uint64(index)


@inlined_kernel
def clear_set(bits: BitSet, count: int) -> None:
    """Empty a set of `count` constraint blocks."""
    for word in range(words_of(count)):
        bits[word] = np.uint64(0)


@inlined_kernel
def add_constraints_at(tree: NodeTree, at_trees: Indices, bits: BitSet) -> None:
    """Add the constraint blocks at a tree to a set."""
    for index in range(tree.constraints_start, tree.constraints_end):
        k = at_trees[index]
        bits[k // WORD] |= bit_of(k % WORD)


@inlined_kernel
def next_constraint(bits: BitSet, k: Index, count: int) -> int:
    """Return the first constraint block of a set from `k` on, or `count` if there is none."""
    for word in range(k // WORD, words_of(count)):
        left = bits[word]
        if word == k // WORD:
            left &= ~(bit_of(k % WORD) - np.uint64(1))
        if left != 0:
            return WORD * word + lowest_bit(left)
    return count
