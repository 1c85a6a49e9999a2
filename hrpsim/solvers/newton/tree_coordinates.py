# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Coordinates of trees' motion in which their inertia is the identity.

The response Lambda^-1 of a tree's velocity entries is factorised as B B^T, by Cholesky's method
with the largest pivot first, as far as its rank goes: velocities that impulses can cause are B w,
and their energy is |w|^2 / 2. A row's J B is its arm.
"""

from __future__ import annotations

import math

import numpy as np

from hrpsim.jit.compiled import inlined_kernel, inner_kernel

NODE_TREE = np.dtype(
    [
        ("root", "i8"),
        ("start", "i8"),  # first column of the tree
        ("columns", "i8"),
        ("basis", "i8"),  # where B begins: a row of `columns` entries for each column of B
        ("first", "i8"),  # first coordinate
        ("rank", "i8"),  # coordinates
        ("moved", "i8"),  # whether sweeps have pushed it (local_sweeps)
        ("part", "i8"),  # its node in the problem of a cluster, -1 for none (clusters)
        ("is_core", "i8"),  # whether it is in the cluster, not around it
        ("solved", "i8"),  # whether it was in a cluster of this round
        (
            "constraints_start",
            "i8",
        ),  # from here its constraint blocks in `at_trees` (constraint_lists)
        ("constraints_end", "i8"),
    ]
)

# Share of its own diagonal entry below which the rest of a column is rounding.
_ROUNDING = 1e-12


@inner_kernel
def factorise_response(inverse_inertia, block, width, columns, basis, at, work):
    """Write B into `basis` from `at` on, column by column; return its rank.

    The block is (columns, width), row by row; `work` (columns,) is work.
    """
    for c in range(columns):
        work[c] = inverse_inertia[block + c * width + c]
    rank = 0
    while rank < columns:
        pivot, most = -1, _ROUNDING
        for c in range(columns):
            whole = inverse_inertia[block + c * width + c]
            if whole > 0.0 and work[c] > most * whole:
                pivot, most = c, work[c] / whole
        if pivot < 0:
            break
        here = at + rank * columns
        scale = 1.0 / math.sqrt(work[pivot])
        for c in range(columns):
            entry = inverse_inertia[block + pivot * width + c]
            for k in range(rank):
                entry -= basis[at + k * columns + c] * basis[at + k * columns + pivot]
            basis[here + c] = entry * scale
        for c in range(columns):
            work[c] -= basis[here + c] * basis[here + c]
        work[pivot] = 0.0
        rank += 1
    return rank


@inlined_kernel
def add_arm(J, at, tree, basis, arms, arm):
    """Add J B to an arm; J (6,) acts on the six columns from `at` on."""
    row = at - tree.start
    for c in range(tree.rank):
        total, here = 0.0, tree.basis + c * tree.columns + row
        for k in range(6):
            if J[k] != 0.0:
                total += J[k] * basis[here + k]
        arms[arm + c] += total
