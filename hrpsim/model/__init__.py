# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Models of robots, without a world: bodies, joints, inertia, and shapes of links.

urdf/ reads the files, shapes/ has geometry and meshes.
"""
