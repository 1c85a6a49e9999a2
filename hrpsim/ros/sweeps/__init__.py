# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Runs of a sweep with node and controller as processes, in lockstep, each in a private domain.

Imports the lower packages of ros/ and hrpsim.sweeps. Only the file cell_program imports rclpy.
"""
