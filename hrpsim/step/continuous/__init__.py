# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Continuous collision detection: what is so fast that it would pass through something.

Imports motion/, rows/ and scene/.
"""
