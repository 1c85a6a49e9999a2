# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read SDF, the format of Gazebo: models become robots.

`files` finds included files, `frames` and `scopes` resolve names and poses, `robot` makes a
RobotData of a model. `hrpsim/world/file/sdf_world.py` reads worlds.
"""
