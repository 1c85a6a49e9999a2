# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Recorded commands given to a new world, and where that departs from the recording. No rclpy.

Imports core/, robot/ and base/, the files there that need no ROS, and hrpsim.bag.
"""
