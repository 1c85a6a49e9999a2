# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Feedback on the feet: estimation, stabiliser, detection of falls.

The folder imports pattern/ and the folders below.
"""
