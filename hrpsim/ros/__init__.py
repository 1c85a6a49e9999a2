# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""ROS 2 programs and their parts; simulation/ has the node.

Only this package, and the crane's joystick, import rclpy.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from hrpsim.ros.sweeps.ros_scenario import domains as domains
    from hrpsim.ros.sweeps.ros_scenario import over_ros as over_ros
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
