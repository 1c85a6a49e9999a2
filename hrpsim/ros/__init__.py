# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""ROS 2 programs. The folder simulation/ has the simulation node.

Only this package, and the crane's joystick, import rclpy.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = ["UserCommand", "domains", "over_ros"]

if TYPE_CHECKING:
    from hrpsim.ros.sweeps.ros_scenario import domains, over_ros
    from hrpsim.ros.sweeps.user_command import UserCommand
else:
    __getattr__, __dir__ = lazy_names(__name__)
