# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A robot in plain data, as returned by readers of other formats, and its URDF text.

Offers `RobotData` and `write_urdf`. Imports shapes' placements only, nothing that reads files.
"""
