# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Poses and velocities along the trees of a forest of bodies.

Imports model, spatial and compile.
"""
