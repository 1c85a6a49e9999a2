# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Footsteps, gait and whole-body walking patterns with preview control.

The folder imports motion/ and framework/.
"""
