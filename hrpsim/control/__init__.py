# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Controllers, motions, walking patterns and balance; this folder joins them to a walk.

Imports the world to run controllers in it; knows nothing of ROS.
"""
