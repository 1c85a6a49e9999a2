# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Modules shared by all ROS programs: parameters, polling, QoS, stamps, signals, faults."""
