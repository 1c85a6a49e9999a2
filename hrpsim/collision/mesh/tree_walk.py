"""Walking down the trees of two solids at once, in the frame of one of them."""

from __future__ import annotations

import math

from hrpsim.jit.compiled import inner_kernel


@inner_kernel
def boxes_apart(m, box_a, box_b):
    """Return a lower bound of the distance of two nodes' boxes, that of a in the frame of b [m].

    Along each of the six axes of both boxes the gap is taken; the gaps along the axes of one box
    are those of a box that holds the other.
    """
    ha, hb = box_a.half, box_b.half
    squared_a = squared_b = 0.0
    for i in range(3):
        reach, away = ha[i], m.t[1, i] - box_a.center[i]
        for j in range(3):
            reach += abs(m.R[0, j, i]) * hb[j]
            away += m.R[0, j, i] * box_b.center[j]
        gap = max(abs(away) - reach, 0.0)
        squared_a += gap * gap
    for i in range(3):
        reach, away = hb[i], m.t[0, i] - box_b.center[i]
        for j in range(3):
            reach += abs(m.R[0, i, j]) * ha[j]
            away += m.R[0, i, j] * box_a.center[j]
        gap = max(abs(away) - reach, 0.0)
        squared_b += gap * gap
    return math.sqrt(max(squared_a, squared_b))


@inner_kernel
def split_first(box_a, box_b):
    """Return whether to go down the tree of a, not of b: that of the larger inner box."""
    if box_a.child < 0 or box_b.child < 0:
        return box_b.child < 0
    size_a = box_a.half[0] + box_a.half[1] + box_a.half[2]
    return size_a >= box_b.half[0] + box_b.half[1] + box_b.half[2]
