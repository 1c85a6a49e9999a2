# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Distances and collisions of links at any configuration, apart from the step, by coal.

Imports models, kinematics and shapes; coal when it is asked for.
"""
