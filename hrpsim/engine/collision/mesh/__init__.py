# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of solids: of vertices, edges and faces, deep overlaps, reduction.

Imports primitives/ and solids/.
"""
