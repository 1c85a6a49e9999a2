# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The standard services of simulators, built as rosidl_package.py tells."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path.cwd().parent))

from rosidl_package import build

build(
    "simulation_interfaces",
    uses=[
        "geometry_msgs",
        "std_msgs",
        "builtin_interfaces",
        "service_msgs",
        "action_msgs",
        "unique_identifier_msgs",
    ],
)
