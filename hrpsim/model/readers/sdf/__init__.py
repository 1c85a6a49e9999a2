# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read SDF, the format of Gazebo: models become robots.

`files` finds included files, `frames` and `scopes` resolve names and poses, and `robot` converts a
model to a RobotData. `hrpsim/world/file/sdf_world.py` reads worlds.
"""
