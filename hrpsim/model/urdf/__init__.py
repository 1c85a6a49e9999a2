# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Reading URDF, SRDF and xacro, and finding the files that they name."""
