# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kernels: compilation, storage on disk, scenes by reference, lazily compiled kernels.

This folder imports only errors and limits from the rest of the package.
"""
