# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kernels: compilation, storage on disk, scenes by reference, lazily compiled kernels.

Imports nothing of the rest but errors and limits.
"""
