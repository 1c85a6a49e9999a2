# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Distances and collisions of links at any configuration, outside the simulation step.

The folder imports models, kinematics and shapes. coal or FCL is imported at first use.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = ["LinkDistances", "MotionCollision", "Nearest", "check_motion"]

if TYPE_CHECKING:
    from hrpsim.geometry.link_distances import LinkDistances, Nearest
    from hrpsim.geometry.motion_check import MotionCollision, check_motion
else:
    __getattr__, __dir__ = lazy_names(__name__)
