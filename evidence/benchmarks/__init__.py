# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Timed comparisons with other engines: `python -m evidence.benchmarks`, or `hrpsim bench`."""
