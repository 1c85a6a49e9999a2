# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Assembling, growing, laying out and removing the arrays of a scene.

Imports objects/.
"""
