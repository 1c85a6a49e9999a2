# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read MJCF: MuJoCo compiles the file in a separate process, and the result is a `RobotData`.

Offers `read_mjcf`, `MjcfModel` and `robot_of`. Imports formats and urdf, never the package mujoco.
"""
