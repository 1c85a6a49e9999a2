# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Differentiate one step: dynamics, constraint rows on the present sides, and the solution.

docs/explanation/linearization.md has the equations.
"""
