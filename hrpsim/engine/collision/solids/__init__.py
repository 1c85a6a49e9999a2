# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Solids of meshes and height fields: features, bounding trees, and queries of these.

Imports primitives/.
"""
