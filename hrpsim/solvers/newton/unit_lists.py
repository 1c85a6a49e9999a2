# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which units are at a tree, and sets of units as rows of bits.

What looks at few units of an island, as clusters and sweeps over what is off, finds them here
instead of going through all. A set has 64 units a word, and is read in order.
"""

from __future__ import annotations

import numpy as np

from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.solvers.newton.minimum_degree import lowest_bit

WORD = 64


@inner_kernel
def list_units(system):
    """Write the units at each tree, in ascending order, into `at_trees`."""
    units, trees, needs, used = system.units, system.trees, system.needs[0], 0
    for node in range(needs.nodes):
        trees[node].units_end = 0
    for k in range(needs.units):
        trees[units[k].node_a].units_end += 1
        if units[k].node_b >= 0:
            trees[units[k].node_b].units_end += 1
    for node in range(needs.nodes):
        count = trees[node].units_end
        trees[node].units_start = trees[node].units_end = used
        used += count
    for k in range(needs.units):
        _append(trees[units[k].node_a], k, system.at_trees)
        if units[k].node_b >= 0:
            _append(trees[units[k].node_b], k, system.at_trees)


@inlined_kernel
def _append(tree, k, at_trees):
    """Put a unit behind those of a tree that are listed already."""
    at_trees[tree.units_end] = k
    tree.units_end += 1


@inlined_kernel
def words_of(count):
    """Return how many words a set of so many units takes."""
    return (count + WORD - 1) // WORD


@inlined_kernel
def bit_of(place):
    """Return a word with one bit, that of a place in it."""
    return np.uint64(1) << np.uint64(place)


@inlined_kernel
def clear_set(bits, count):
    """Take all of so many units out of a set."""
    for word in range(words_of(count)):
        bits[word] = np.uint64(0)


@inlined_kernel
def add_units_at(tree, at_trees, bits):
    """Put the units at a tree into a set."""
    for place in range(tree.units_start, tree.units_end):
        k = at_trees[place]
        bits[k // WORD] |= bit_of(k % WORD)


@inlined_kernel
def next_unit(bits, k, count):
    """Return the first unit of a set from unit `k` on, `count` where there is none."""
    for word in range(k // WORD, words_of(count)):
        left = bits[word]
        if word == k // WORD:
            left &= ~(bit_of(k % WORD) - np.uint64(1))
        if left != 0:
            return WORD * word + lowest_bit(left)
    return count
