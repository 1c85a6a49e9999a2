# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Timed comparisons with other engines: `python -m benchmarks`, or `hrpsim bench`."""
