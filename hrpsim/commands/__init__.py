# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The subcommands of `hrpsim`, one file each.

This folder may import all others. Only `cli` imports this folder.
"""
