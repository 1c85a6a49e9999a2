# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""MJCF: MuJoCo compiles it in a separate process; the model becomes a `RobotData`.

Offers `read_mjcf`, `MjcfModel` and `robot_of`. Imports formats and urdf, never the package mujoco.
"""
