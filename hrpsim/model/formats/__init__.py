# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The output of readers of other formats: a robot in plain data, and its URDF text.

Offers `RobotData` and `write_urdf`. Imports shapes' placements only, nothing that reads files.
"""
