# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Edges of regular graphs, on which orders of elimination are known."""

from hypothesis import settings

quick = settings(max_examples=50)


def chain(count):
    return [(i, i + 1) for i in range(count)]


def ring(count):
    return [(i, (i + 1) % count) for i in range(count)]


def star(count):
    return [(i + 1, 0) for i in range(count)]


def binary_tree(count):
    return [(i, (i - 1) // 2) for i in range(1, count + 1)]


def grid(rows, columns):
    across = [
        (r * columns + c, r * columns + c + 1) for r in range(rows) for c in range(columns - 1)
    ]
    down = [
        (r * columns + c, (r + 1) * columns + c) for r in range(rows - 1) for c in range(columns)
    ]
    return across + down
