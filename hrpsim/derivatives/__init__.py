# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of one step: dynamics, active constraint rows, and their solution.

docs/explanation/linearization.md has the equations.
"""
