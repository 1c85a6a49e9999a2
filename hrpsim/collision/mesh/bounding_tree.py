# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Balanced trees of axis-aligned boxes over triangles, made once for each solid."""

from __future__ import annotations

import numpy as np

from hrpsim.collision.mesh.polyhedra import NODE


def bounding_tree(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return the NODE records over boxes with corners lower, upper (n, 3) [m], the root first.

    Every split halves the boxes by their centres along the axis of largest spread, so that the
    depth is that of a balanced tree.
    """
    nodes = np.zeros(2 * len(lower) - 1, dtype=NODE)
    nodes["child"] = nodes["triangle"] = -1
    centers = 0.5 * (lower + upper)
    free = 1
    pending = [(0, np.arange(len(lower)))]
    while pending:
        node, members = pending.pop()
        if len(members) == 1:
            nodes[node]["triangle"] = members[0]
            continue
        spread = np.ptp(centers[members], axis=0)
        order = np.argsort(centers[members, np.argmax(spread)], kind="stable")
        half = len(members) // 2
        nodes[node]["child"] = free
        pending.append((free, members[order[:half]]))
        pending.append((free + 1, members[order[half:]]))
        free += 2
    fit_boxes(nodes, lower, upper)
    return nodes


def fit_boxes(nodes: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
    """Make the boxes of a tree hold those of its triangles, (n, 3) each [m]."""
    low, high = np.empty((len(nodes), 3)), np.empty((len(nodes), 3))
    leaf = nodes["child"] < 0
    low[leaf], high[leaf] = lower[nodes["triangle"][leaf]], upper[nodes["triangle"][leaf]]
    for node in range(len(nodes) - 1, -1, -1):  # Children stand after their parents.
        child = nodes["child"][node]
        if child >= 0:
            low[node] = np.minimum(low[child], low[child + 1])
            high[node] = np.maximum(high[child], high[child + 1])
    nodes["center"], nodes["half"] = 0.5 * (low + high), 0.5 * (high - low)
