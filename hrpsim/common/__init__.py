# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Functions and classes for all folders: errors, limits, values of texts, files.

This folder imports no other folder of hrpsim.
"""
