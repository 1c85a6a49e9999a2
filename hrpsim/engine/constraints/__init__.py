# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rows of constraints: contacts, connections, joints, springs, impacts.

A row is one scalar constraint. Each file writes one kind of row, with target and bounds. Imports
dynamics and below.
"""
