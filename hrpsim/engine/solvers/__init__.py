# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Solvers of constraint rows: projected Gauss-Seidel, block pivoting, Newton, and both combined.

Imports constraints and below.
"""
