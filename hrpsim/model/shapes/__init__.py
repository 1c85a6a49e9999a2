# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Geometry: primitives, meshes, hulls, height fields, compounds, and placements."""
