# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Solvers of constraint rows: projected Gauss-Seidel, direct pivoting, split.

Imports constraints and below.
"""
