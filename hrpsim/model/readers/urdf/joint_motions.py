# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The elementary joints of the kernels: one axis, or a free body.

The types of joints in descriptions are in another file, so that kernels do not depend on them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class JointMotion:
    """An elementary joint. A joint with one axis moves about or along z of the joint frame."""

    code: int  # index in MOTIONS
    name: str
    q_count: int  # number of coordinates
    v_count: int  # number of degrees of freedom
    axis: int = -1  # index among the three turns and three slides of the frame, -1 for others
    unit: str = ""  # unit of the coordinate
    effort_unit: str = ""
    usual_range: float = 0.0  # largest coordinate of random postures of joints without limits


FIXED_MOTION = JointMotion(0, "fixed", 0, 0)
REVOLUTE_MOTION = JointMotion(1, "revolute", 1, 1, 2, "rad", "Nm", math.pi)
PRISMATIC_MOTION = JointMotion(2, "prismatic", 1, 1, 5, "m", "N", 1.0)
FREE_MOTION = JointMotion(3, "free", 7, 6)
MOTIONS = (FIXED_MOTION, REVOLUTE_MOTION, PRISMATIC_MOTION, FREE_MOTION)
