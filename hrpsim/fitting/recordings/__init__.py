# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Recordings for fits: the records, and readers of CSV files, arrays, bags and signals."""
