# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The frames of one robot: their names, where they are, and the transforms that join them.

Imports base/.
"""
