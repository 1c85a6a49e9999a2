# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Shared by all programs: parameters, polling, QoS, stamps, signals, faults."""
