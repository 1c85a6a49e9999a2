# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Impacts within a step.

Imports continuous/, motion/, rows/ and scene/.
"""
