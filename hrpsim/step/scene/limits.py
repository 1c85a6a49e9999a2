# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a state may hold: a step follows nothing that is further away or faster."""

LARGEST_SPEED = 1e9  # [m/s or rad/s]
LARGEST_POSITION = 1e12  # [m or rad]
