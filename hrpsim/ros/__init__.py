# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""ROS 2 programs and what they are made of; simulation/ has the node.

Only this room, and the crane's joystick, import rclpy.
"""
