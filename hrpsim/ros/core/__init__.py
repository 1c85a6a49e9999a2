# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The simulation below the node: time, pause, steps, reset, what comes and goes. Needs no ROS.

Imports robot/ and base/, the files there that need no ROS.
"""
