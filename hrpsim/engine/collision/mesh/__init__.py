# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of triangle meshes: features, bounding trees, vertex and edge contacts, reduction.

Imports primitives/.
"""
