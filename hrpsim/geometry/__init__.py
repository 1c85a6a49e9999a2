# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Distances and collisions of links at any configuration, apart from the step, by python-fcl.

Imports models, kinematics and shapes; python-fcl when it is asked for.
"""
