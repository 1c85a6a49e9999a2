# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Runs of a sweep with node and controller as processes, in lockstep, each in a private domain.

Imports the packages of ros/ below it and hrpsim.sweeps; only its file cell_program imports rclpy.
"""
