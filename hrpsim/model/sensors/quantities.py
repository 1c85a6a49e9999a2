# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Quantities that the compiled step measures."""

WRENCH, MOTION = 0, 1
