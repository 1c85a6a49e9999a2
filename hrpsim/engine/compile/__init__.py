# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kernels: compilation, storage on disk, scenes by reference, lazily compiled kernels.

From the rest of the package, this folder imports only errors and limits.
"""
