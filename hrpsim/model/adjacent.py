# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which links of a robot meet at a joint, and so are never tested for collision."""

from __future__ import annotations

from hrpsim.model.model import Model
from hrpsim.model.system import FREE


def adjacent_bodies(model: Model) -> frozenset[tuple[int, int]]:
    """Return pairs of bodies (smaller first; -1: the world's) that a joint, or joints, connect.

    Links that are fixed to each other are one body. Bodies without a shape between two others are
    passed over, as those between an ankle and its sole on bushes: each body is adjacent to the
    nearest one with a shape that it hangs on. What floats is adjacent to nothing.
    """
    shaped = {shape.body for shape in model.shapes}
    pairs = set()
    for body in shaped:
        above = body
        while above >= 0 and model.system.joint_type[above] != FREE:
            above = int(model.system.parent[above])
            if above in shaped:
                pairs.add((above, body))
                break
    return frozenset(pairs)
