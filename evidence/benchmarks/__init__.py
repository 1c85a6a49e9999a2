# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Timed comparisons with other engines: `python -m evidence.benchmarks`, or `hrpsim bench`.

A subject is an operation that is timed. Subjects are timed in turn, so that changes of the
machine's load affect all subjects alike. A peer is another engine.
"""
