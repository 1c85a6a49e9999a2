# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rays: the first surface that each of many rays meets, found through trees of boxes.

One tree holds the shapes of the world and is refitted before each cast. Each mesh has a tree of
triangles. Height fields are walked cell by cell.
"""
