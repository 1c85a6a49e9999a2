# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Cells of a sweep with node and controller as processes, in lockstep, each in a private domain.

Imports the rooms of ros/ below it and hrpsim.sweeps; of its files only cell_program imports rclpy.
"""
