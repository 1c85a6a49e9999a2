# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What readers of other formats make: a robot in plain data, and the URDF text of it.

Offers `RobotData` and `write_urdf`. Imports shapes' placements only, nothing that reads files.
"""
