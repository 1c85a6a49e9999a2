# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read URDF, SRDF and xacro, and find the files named inside."""
