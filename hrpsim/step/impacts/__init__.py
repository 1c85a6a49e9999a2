# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Impacts within a step, and times of impact of what is fast.

Imports motion/, rows/ and scene/.
"""
