# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rows of constraints: contacts, connections, joints, springs, impacts.

Each file writes one kind of row, its target and its bounds. Imports dynamics and below.
"""
