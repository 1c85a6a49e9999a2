# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Actuators in coordinates of their own: transmissions and tendons of a robot.

Imports errors, values and model.
"""
