# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Estimate from measurements the motion of a robot's base.

Offers `BaseEstimator`; imports models, kinematics and collision bounds.
"""
