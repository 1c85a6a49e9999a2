# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Prepare unknown robots for walking: find or add legs, soles, gains and sensors.

The folder imports motion/ and pattern/ and the folders below.
"""
