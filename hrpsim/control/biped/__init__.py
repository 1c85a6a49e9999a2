# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Robots of strangers made ready to walk: legs, soles, gains and sensors found or made.

Imports motion/ and pattern/ and below.
"""
