# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The subcommands of `hrpsim`, a file each.

Imports everything; nothing imports it but cli.
"""
