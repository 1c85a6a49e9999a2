# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Build and refit binary trees over axis-aligned boxes, and intersect rays with the boxes."""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    Bin,
    BoxNode,
    Index,
    IndexTable,
    Indices,
    Matrix,
    Pending,
    Records,
)

# A node has the boxes of both its children. A child is a node, or a range of items in `order`.
NODE = np.dtype(
    [
        ("lower", "f8", (2, 3)),
        ("upper", "f8", (2, 3)),
        ("child", "i8", (2,)),  # index of the child node, or of the first item of a leaf
        ("count", "i8", (2,)),  # 0: node, -1: no child, otherwise the number of items of a leaf
    ]
)
# Node and entry distance of a subtree that is still to be searched.
PENDING = np.dtype([("node", "i8"), ("enter", "f8")])
STACK_DEPTH = 96  # of a tree of 2^32 items
FARTHEST = 1e300  # of hits [m]; less than infinity, which means none

_BINS = 16
_DEEPEST_SPLIT = 48  # below it ranges are halved, which bounds the depth
BIN = np.dtype([("count", "i8"), ("lower", "f8", (3,)), ("upper", "f8", (3,))])


def new_bins() -> np.ndarray:
    """Return the work array of `build_tree`: one BIN record for each bin, and three more."""
    return np.zeros(_BINS + 3, dtype=BIN)


@kernel
def build_tree(
    lower: Matrix,
    upper: Matrix,
    leaf_size: int,
    order: Indices,
    ranges: IndexTable,
    bins: Records[Bin],
    nodes: Records[BoxNode],
) -> int:
    """Build a tree over n boxes, and return the number of nodes.

    Ranges are split by the surface area heuristic, among bins along the longest axis (Wald, On fast
    construction of SAH-based bounding volume hierarchies, 2007). Children have larger indices than
    parents.

    Args:
        lower: lower corners of the boxes (n, 3) [m].
        upper: upper corners of the boxes (n, 3) [m].
        leaf_size: largest number of boxes in a leaf.
        order: order of the boxes in the tree (n,), written.
        ranges: work (nodes, 3).
        bins: work.
        nodes: NODE records, written.
    """
    n = order.shape[0]
    for k in range(n):
        order[k] = k
    ranges[0, 0], ranges[0, 1], ranges[0, 2] = 0, n, 0
    made = 1
    at = 0
    while at < made:
        first, end, level = ranges[at, 0], ranges[at, 1], ranges[at, 2]
        middle = end
        if end - first > leaf_size:
            middle = _split(lower, upper, order, first, end, level, bins)
        node = nodes[at]
        for side in range(2):
            a, b = (first, middle) if side == 0 else (middle, end)
            _bound(lower, upper, order, a, b, node, side)
            if b - a > leaf_size:
                node.child[side], node.count[side] = made, 0
                ranges[made, 0], ranges[made, 1], ranges[made, 2] = a, b, level + 1
                made += 1
            else:
                node.child[side], node.count[side] = a, b - a if b > a else -1
        at += 1
    return made


@inner_kernel
def _bound(
    lower: Matrix, upper: Matrix, order: Indices, first: Index, end: Index, node: BoxNode, side: int
) -> None:
    """Write the bounding box of a range of items as a child's box.

    The box of an empty range is at infinity.
    """
    for r in range(3):
        low, high = math.inf, -math.inf
        for k in range(first, end):
            low, high = min(low, lower[order[k], r]), max(high, upper[order[k], r])
        node.lower[side, r], node.upper[side, r] = low, high if end > first else low


@inlined_kernel
def _widest_axis(
    lower: Matrix, upper: Matrix, order: Indices, first: Index, end: Index
) -> tuple[int, float, float]:
    """Find the axis along which the centres of a range of boxes vary most.

    Returns:
        (axis, smallest doubled coordinate of a centre [m], range of the doubled coordinates [m]).
    """
    axis, least, width = 0, 0.0, -1.0
    for r in range(3):
        low, high = math.inf, -math.inf
        for k in range(first, end):
            middle = lower[order[k], r] + upper[order[k], r]
            low, high = min(low, middle), max(high, middle)
        if high - low > width:
            axis, least, width = r, low, high - low
    return axis, least, width


@inner_kernel
def _split(
    lower: Matrix,
    upper: Matrix,
    order: Indices,
    first: Index,
    end: Index,
    level: int,
    bins: Records[Bin],
) -> int:
    """Arrange a range of items in two parts, and return the start of the second part."""
    axis, least, width = _widest_axis(lower, upper, order, first, end)
    if not width > 0.0 or level >= _DEEPEST_SPLIT:
        return (first + end) // 2
    scale = _BINS * (1.0 - 1e-9) / width
    for b in range(_BINS):
        _empty(bins[b])
    for k in range(first, end):
        item = order[k]
        b = int((lower[item, axis] + upper[item, axis] - least) * scale)
        bins[b].count += 1
        for r in range(3):
            bins[b].lower[r] = min(bins[b].lower[r], lower[item, r])
            bins[b].upper[r] = max(bins[b].upper[r], upper[item, r])
    border = _cheapest_border(bins)
    at = first
    for k in range(first, end):
        item = order[k]
        if int((lower[item, axis] + upper[item, axis] - least) * scale) < border:
            order[k], order[at] = order[at], item
            at += 1
    return at


@inner_kernel
def _cheapest_border(bins: Records[Bin]) -> int:
    """Return the bin before which a split has the lowest cost. Neither part is empty."""
    best, border = math.inf, 1
    for b in range(1, _BINS):
        cost = 0.0
        for side in range(2):
            part = bins[_BINS + side]
            _empty(part)
            for k in range(0 if side == 0 else b, b if side == 0 else _BINS):
                part.count += bins[k].count
                for r in range(3):
                    part.lower[r] = min(part.lower[r], bins[k].lower[r])
                    part.upper[r] = max(part.upper[r], bins[k].upper[r])
            if part.count == 0:
                cost = math.inf
            else:
                lo, up = part.lower, part.upper
                cost += part.count * _area(up[0] - lo[0], up[1] - lo[1], up[2] - lo[2])
        if cost < best:
            best, border = cost, b
    return border


@inlined_kernel
def _empty(part: Bin) -> None:
    """Clear a BIN record."""
    part.count = 0
    for r in range(3):
        part.lower[r], part.upper[r] = math.inf, -math.inf


@inlined_kernel
def _area(x: float, y: float, z: float) -> float:
    """Return half the surface area of a box with these side lengths [m^2]."""
    return x * y + y * z + z * x


@inner_kernel
def refit_tree(
    lower: Matrix, upper: Matrix, order: Indices, count: int, nodes: Records[BoxNode]
) -> float:
    """Write the boxes of nodes after items have moved.

    Args:
        lower: lower corners of the items' boxes (n, 3) [m].
        upper: upper corners of the items' boxes (n, 3) [m].
        order: order of the boxes in the tree (n,).
        count: number of nodes.
        nodes: NODE records. `lower` and `upper` are written.

    Returns:
        Half the surface area of all boxes together [m^2]. Larger values mean slower searches.
    """
    total = 0.0
    for back in range(count):
        node = nodes[count - 1 - back]
        for side in range(2):
            child = node.child[side]
            if node.count[side] > 0:
                _bound(lower, upper, order, child, child + node.count[side], node, side)
            elif node.count[side] == 0:
                below = nodes[child]
                for r in range(3):
                    node.lower[side, r] = min(below.lower[0, r], below.lower[1, r])
                    node.upper[side, r] = max(below.upper[0, r], below.upper[1, r])
            lo, up = node.lower, node.upper
            if node.count[side] >= 0:
                total += _area(
                    up[side, 0] - lo[side, 0], up[side, 1] - lo[side, 1], up[side, 2] - lo[side, 2]
                )
    return total


@inlined_kernel
def inverse_of(rate: float) -> float:
    """Return 1 / rate for `enter_box`, a large finite number if the rate is 0.

    `rate` [1] is one component of a ray's unit vector. Boxes are slightly larger than the items, so
    a ray along a face of an item is inside the box.
    """
    return 1.0 / rate if abs(rate) > 1e-200 else math.copysign(1e200, rate)


@inlined_kernel  # many parameters: vectors as three numbers stay in registers
def enter_box(
    node: BoxNode, side: int, x: float, y: float, z: float, ix: float, iy: float, iz: float,
    limit: float,
) -> float:  # fmt: skip
    """Return the distance at which a ray enters the box of a node's child [m].

    The result is infinity if the ray does not enter before `limit` [m]. Rounding errors never cause
    a miss.

    side: child, 0 or 1. x, y, z: start of the ray [m]. ix, iy, iz: inverses of the direction's
    components.
    """
    a, b = (node.lower[side, 0] - x) * ix, (node.upper[side, 0] - x) * ix
    enter, leave = max(min(a, b), 0.0), min(max(a, b), limit)
    a, b = (node.lower[side, 1] - y) * iy, (node.upper[side, 1] - y) * iy
    enter, leave = max(min(a, b), enter), min(max(a, b), leave)
    a, b = (node.lower[side, 2] - z) * iz, (node.upper[side, 2] - z) * iz
    enter, leave = max(min(a, b), enter), min(max(a, b), leave)
    return enter if enter <= leave * (1.0 + 1e-15) else math.inf


@inlined_kernel
def enter_children(
    node: BoxNode, x: float, y: float, z: float, ix: float, iy: float, iz: float, limit: float
) -> tuple[float, float, int]:
    """Find the distances at which a ray enters both children of a node.

    node: NODE record.
    x, y, z: start of the ray [m].
    ix, iy, iz: inverses of the components of the ray's unit vector, by `inverse_of`.
    limit: largest distance [m].

    Returns:
        (distance of the nearer box [m], distance of the farther box [m], index of the nearer
        child).
    """
    near = enter_box(node, 0, x, y, z, ix, iy, iz, limit)
    far = enter_box(node, 1, x, y, z, ix, iy, iz, limit)
    return (far, near, 1) if far < near else (near, far, 0)


@inlined_kernel
def next_pending(stack: Records[Pending], waiting: int, limit: float) -> tuple[int, int]:
    """Pop nodes from the stack until a node is found that the ray enters before `limit`.

    Args:
        stack: stack of PENDING records.
        waiting: number of records on the stack.
        limit: largest distance [m].

    Returns:
        (index of the node or -1, number of records left on the stack).
    """
    while waiting > 0:
        waiting -= 1
        if stack[waiting].enter <= limit:
            return stack[waiting].node, waiting
    return np.int64(-1), waiting
