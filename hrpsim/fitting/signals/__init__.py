# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sensor signals for fits: torques, currents, wrenches, IMUs, contacts, points.

Each kind of signal is a class in one file. `signal_kinds.py` registers the classes.
"""
