# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The low-level messages of Unitree's Go2, built as rosidl_package.py tells."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path.cwd().parent))

from rosidl_package import build

build("unitree_go", uses=[])
