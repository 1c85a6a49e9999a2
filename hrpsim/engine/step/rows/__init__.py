# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Writing and solving constraint rows.

Imports scene/.
"""
