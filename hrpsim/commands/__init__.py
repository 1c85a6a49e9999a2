# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The subcommands of `hrpsim`, one file each.

Imports everything. Only cli imports this package.
"""
