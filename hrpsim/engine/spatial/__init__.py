# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Spatial vectors, inertias and rotations as kernels.

Imports only engine.compile.
"""
