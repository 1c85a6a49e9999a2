# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Motion: midpoints, stages of rk4, free rotation, momentum, slip.

Imports rows/ and scene/.
"""
