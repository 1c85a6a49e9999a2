# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Recordings of a fit: the records, and readers of CSV files, arrays, bags and signals."""
