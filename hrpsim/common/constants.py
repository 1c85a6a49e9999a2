# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Physical constants and units."""

STANDARD_GRAVITY = 9.80665  # [m/s^2]
NANOSECONDS = 1_000_000_000  # in a second
