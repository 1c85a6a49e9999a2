# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Robots and bodies that several experiments share.

Imports framework/.
"""
