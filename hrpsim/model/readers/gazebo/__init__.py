# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What Gazebo's elements say in a URDF and in SDF."""
