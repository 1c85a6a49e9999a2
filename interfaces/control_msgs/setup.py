# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The message type of dynamic_joint_commands, built by rosidl_package.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path.cwd().parent))

from rosidl_package import build

build("control_msgs", uses=["std_msgs", "builtin_interfaces"])
