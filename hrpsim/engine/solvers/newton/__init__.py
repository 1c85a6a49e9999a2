# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Newton's method for islands: coordinates, laws, matrix and factor, and three ways to a solution.

Begin with `solve`. The algebra is in docs/explanation/newton.md.
"""
