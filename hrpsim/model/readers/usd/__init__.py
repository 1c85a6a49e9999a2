# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read USD stages with UsdPhysics: `stage` runs in a child process, `robot` makes a RobotData."""
