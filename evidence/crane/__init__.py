# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The crane game: control, player, score, scripts, page and joystick.

Imports control, world and the viewer. The joystick and the node also import ros.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = ["Crane", "JoystickCrane", "ScriptedCrane", "fetching", "in_goal"]

if TYPE_CHECKING:
    from evidence.crane.control import Crane
    from evidence.crane.joystick import JoystickCrane
    from evidence.crane.score import in_goal
    from evidence.crane.script import ScriptedCrane, fetching
else:
    __getattr__, __dir__ = lazy_names(__name__)
