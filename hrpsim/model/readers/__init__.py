# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A robot in plain data, as readers of all formats return robots, and the URDF text.

Offers `RobotData` and `write_urdf`. Reads the XML of URDF, and writes meshes to the cache folder.
"""
