# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rays: the first surface that each of many rays meets, found through trees of boxes.

The tree of a world is over its shapes, refitted before each cast; meshes have trees over their
triangles, height fields are walked cell by cell.
"""
