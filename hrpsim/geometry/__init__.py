# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Distances and collisions of links at any configuration, outside the simulation step, by coal.

The folder imports models, kinematics and shapes. coal is imported at first use.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from hrpsim.geometry.link_distances import LinkDistances as LinkDistances
    from hrpsim.geometry.link_distances import Nearest as Nearest
    from hrpsim.geometry.motion_check import MotionCollision as MotionCollision
    from hrpsim.geometry.motion_check import check_motion as check_motion
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
