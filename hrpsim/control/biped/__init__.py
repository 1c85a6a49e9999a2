# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Prepare unknown robots for walking: legs, soles, gains and sensors are found or made.

Imports motion/ and pattern/ and below.
"""
