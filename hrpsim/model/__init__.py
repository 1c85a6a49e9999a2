# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Robots as described, without a world: bodies, joints, inertia, links' shapes.

urdf/ reads the files, shapes/ has geometry and meshes.
"""
