# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of placed shapes, candidate pairs, distances and times of impact.

This folder has the functions that a step calls. primitives/ has pairs with closed forms, mesh/
contacts of solids, solids/ the solids of meshes and height fields. Imports model and jit.
"""
