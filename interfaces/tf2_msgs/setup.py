# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The message type of /tf, built as rosidl_package.py tells."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path.cwd().parent))

from rosidl_package import build

build("tf2_msgs", uses=["geometry_msgs", "std_msgs", "builtin_interfaces"])
