# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of one step: of the dynamics, of the active constraint rows, and of their solution.

docs/explanation/linearization.md has the equations.
"""
