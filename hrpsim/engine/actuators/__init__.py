# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Actuators with a model: command delay, motor limits, gear, friction, encoders, heat.

Imports model, kinematics, dynamics and compile.
"""
