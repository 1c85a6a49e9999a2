# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The crane game: control, player, score, scripts, its page and its joystick.

Imports control, world, the viewer and, for the joystick and the node, ros.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from evidence.crane.control import Crane as Crane
    from evidence.crane.joystick import JoystickCrane as JoystickCrane
    from evidence.crane.score import in_goal as in_goal
    from evidence.crane.script import ScriptedCrane as ScriptedCrane
    from evidence.crane.script import fetching as fetching
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
