# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Assemble, grow, reorder and shrink the arrays of a scene.

The folder imports objects/.
"""
