# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A girder as a closed triangle mesh: an upright H, concave on both sides."""

from __future__ import annotations

import numpy as np

from hrpsim.model.shapes.geometry import Mesh

WEB = 0.040  # width between the slots [m]
FLANGE = 0.056  # width above and below them [m]
SLOT, HEIGHT = 0.056, 0.076  # of a slot, of all [m]
_CAPS = [
    *[(0, 1, 2), (0, 2, 3), (0, 3, 10), (0, 10, 11)],
    *[(10, 3, 4), (10, 4, 9)],
    *[(7, 8, 9), (7, 9, 4), (7, 4, 5), (7, 5, 6)],
]


def girder(length: float) -> Mesh:
    """Return a girder that lies `length` [m] along x, its slots open to both sides of y.

    The frame's origin is the centre of mass; faces look outwards.
    """
    w, f, s, t = 0.5 * WEB, 0.5 * FLANGE, 0.5 * SLOT, 0.5 * HEIGHT
    right = [(f, -t), (f, -s), (w, -s), (w, s), (f, s), (f, t)]
    ring = np.array([(-f, -t), *right, *[(-y, z) for y, z in right[:0:-1]]])
    n = len(ring)
    ends = [np.column_stack([np.full(n, x), ring]) for x in (0.5 * length, -0.5 * length)]
    sides = [(i, i + n, (i + 1) % n + n) for i in range(n)]
    sides += [(i, (i + 1) % n + n, (i + 1) % n) for i in range(n)]
    back = [(a + n, c + n, b + n) for a, b, c in _CAPS]
    return Mesh(np.concatenate(ends), np.array([*_CAPS, *back, *sides]))
