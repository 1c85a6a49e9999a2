# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""ROS 2 programs and their parts; simulation/ has the node.

Only this package, and the crane's joystick, import rclpy.
"""
