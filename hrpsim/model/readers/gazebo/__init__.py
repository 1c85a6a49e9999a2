# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Gazebo's elements that URDF and SDF have in common: sensors and poses."""
