# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Estimate the motion of a robot's base from measurements.

The folder offers `BaseEstimator`. It imports models, kinematics and collision bounds.
"""
