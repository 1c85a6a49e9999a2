# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Newton's method for islands: coordinates, laws, matrix and factor, and three ways to a solution.

`solve` is where to begin; docs/explanation/newton.md has the algebra.
"""
