# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Broad phase: the pairs of shapes whose axis-aligned boxes overlap, by sort and sweep."""

from __future__ import annotations

import math

from hrpsim.jit.compiled import inner_kernel, kernel


@inner_kernel
def _axis_of_largest_spread(lower, upper):
    """Return the axis (0..2) along which the centres of the finite boxes vary most."""
    best_axis = 0
    best_spread = -1.0
    for axis in range(3):
        count = 0
        mean = 0.0
        spread = 0.0
        for k in range(lower.shape[0]):
            center = 0.5 * (lower[k, axis] + upper[k, axis])
            if math.isfinite(center):
                count += 1
                away = center - mean
                mean += away / count
                spread += away * (center - mean)
        if spread > best_spread:
            best_axis = axis
            best_spread = spread
    return best_axis


@inner_kernel
def _sort_along(axis, lower, order):
    """Sort the permutation `order` by lower bound; fast when it is nearly sorted already."""
    for k in range(1, order.shape[0]):
        shape = order[k]
        bound = lower[shape, axis]
        slot = k
        while slot > 0 and lower[order[slot - 1], axis] > bound:
            order[slot] = order[slot - 1]
            slot -= 1
        order[slot] = shape


@inner_kernel
def _sort_pairs(count, pairs):
    """Sort pairs[:count] by first, then second entry (Shell's method: in place, no recursion)."""
    step = 1
    while step < count // 3:
        step = 3 * step + 1
    while step > 0:
        for k in range(step, count):
            a, b = pairs[k, 0], pairs[k, 1]
            slot = k
            while slot >= step and (
                pairs[slot - step, 0] > a
                or (pairs[slot - step, 0] == a and pairs[slot - step, 1] > b)
            ):
                pairs[slot, 0] = pairs[slot - step, 0]
                pairs[slot, 1] = pairs[slot - step, 1]
                slot -= step
            pairs[slot, 0] = a
            pairs[slot, 1] = b
        step //= 3


@kernel
def candidate_pairs(lower, upper, group, order, pairs_out):
    """Write the pairs of shapes whose boxes overlap and whose groups differ; return how many.

    lower, upper (shape_count, 3): corners of the boxes [m], with any margin already added; they
    may be infinite. group (shape_count,), int64: shapes of one group never collide (a robot without
    self-collision; everything static, by convention group -1). order (shape_count,), int64: any
    permutation of the shapes; it is sorted in place, and the next call is faster if it is kept.

    pairs_out (capacity, 2), int64: pairs a < b in ascending order. If more pairs are found than
    there is room for, their number is returned all the same and the rows are incomplete: enlarge
    the array and call again.
    """
    axis = _axis_of_largest_spread(lower, upper)
    _sort_along(axis, lower, order)
    second = (axis + 1) % 3
    third = (axis + 2) % 3
    capacity = pairs_out.shape[0]
    count = 0
    for k in range(order.shape[0]):
        i = order[k]
        reach = upper[i, axis]
        for later in range(k + 1, order.shape[0]):
            j = order[later]
            if lower[j, axis] > reach:
                break
            if (
                group[i] != group[j]
                and lower[j, second] <= upper[i, second]
                and lower[i, second] <= upper[j, second]
                and lower[j, third] <= upper[i, third]
                and lower[i, third] <= upper[j, third]
            ):
                if count < capacity:
                    pairs_out[count, 0] = min(i, j)
                    pairs_out[count, 1] = max(i, j)
                count += 1
    if count <= capacity:
        _sort_pairs(count, pairs_out)
    return count


@kernel
def drop_pairs(excluded, count, pairs):
    """Take the pairs in `excluded` (k, 2) out of pairs[:count], both ascending; return the rest."""
    kept = k = 0
    for c in range(count):
        a, b = pairs[c, 0], pairs[c, 1]
        while k < excluded.shape[0] and (
            excluded[k, 0] < a or (excluded[k, 0] == a and excluded[k, 1] < b)
        ):
            k += 1
        if k < excluded.shape[0] and excluded[k, 0] == a and excluded[k, 1] == b:
            continue
        pairs[kept, 0], pairs[kept, 1] = a, b
        kept += 1
    return kept
