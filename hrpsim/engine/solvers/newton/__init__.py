# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Newton's method for islands: coordinates, contact laws, matrix and factor, and four methods.

Begin with `solve`. docs/explanation/newton.md has the algebra.
"""
