# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pictures of a world: colour, depth and segmentation, rasterised by MuJoCo's renderer.

Imports model.
"""
