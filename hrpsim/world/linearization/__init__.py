# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The derivatives of one step: dynamics, rows as they were found, and their solution.

docs/explanation/linearization.md has the equations.
"""
