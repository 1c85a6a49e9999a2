# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The types of dynamic_joint_commands and follow_joint_trajectory, built by rosidl_package.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path.cwd().parent))

from rosidl_package import build

build(
    "control_msgs",
    uses=[
        "trajectory_msgs",
        "geometry_msgs",
        "std_msgs",
        "builtin_interfaces",
        "service_msgs",
        "action_msgs",
        "unique_identifier_msgs",
    ],
)
