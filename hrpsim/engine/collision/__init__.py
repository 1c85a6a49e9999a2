# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts, candidate pairs, distances and times of impact of collision shapes.

This folder has the functions that a step calls. primitives/ has pairs of shapes with closed forms.
mesh/ has contacts of meshes, and solids/ their data structures. Imports model and compile.
"""
