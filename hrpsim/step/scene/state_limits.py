# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Limits of a state's positions and speeds; a step beyond them has diverged."""

LARGEST_SPEED = 1e9  # [m/s or rad/s]
LARGEST_POSITION = 1e12  # [m or rad]
