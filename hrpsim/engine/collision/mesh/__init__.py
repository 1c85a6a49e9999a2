# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of polyhedral solids: between vertices, edges and faces, in deep overlap, reduction.

Imports primitives/ and solids/.
"""
