# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Motion: midpoints, stages of rk4, loose rotation, momentum, slip.

Imports rows/ and scene/.
"""
