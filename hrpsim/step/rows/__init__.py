# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Writing the rows of constraints and solving them.

Imports scene/.
"""
