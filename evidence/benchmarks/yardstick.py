# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A fixed workload that measures the machine's speed if no other engine can be timed."""

from __future__ import annotations

import numba

from evidence.benchmarks.timing import Subject

NAME = "yardstick"


@numba.njit
def _logistic(count):
    """Do a chain of `count` thousand multiplications that wait for each other."""
    x = 0.3
    for _ in range(1000 * count):
        x = 3.7 * x * (1.0 - x)
    return x


def yardstick() -> Subject:
    """Return the yardstick. An operation is a thousand rounds of the logistic map."""
    return Subject(NAME, _logistic)
