# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Checks whether a simulator conforms to simulation_interfaces, the ROS 2 standard for simulators.

It needs rclpy and the types of the standard, but not hrpsim.
"""
