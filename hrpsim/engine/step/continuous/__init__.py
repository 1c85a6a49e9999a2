# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Continuous collision detection for shapes fast enough to pass through others.

Imports motion/, rows/ and scene/.
"""
