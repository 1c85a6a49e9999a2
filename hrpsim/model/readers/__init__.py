# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Readers and writers of robot descriptions. All readers return a `RobotData`.

Offers `RobotData` and `write_urdf`. Reads the XML of URDF, and writes meshes to the cache folder.
"""
