# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A fixed workload that measures the machine's speed if no other engine is installed."""

from __future__ import annotations

import numba

from evidence.benchmarks.timing import Subject

NAME = "yardstick"


@numba.njit
def _logistic(count):
    """Compute `count` thousand dependent multiplications of the logistic map."""
    x = 0.3
    for _ in range(1000 * count):
        x = 3.7 * x * (1.0 - x)
    return x


def yardstick() -> Subject:
    """Return the workload as a subject. One operation is a thousand iterations."""
    return Subject(NAME, _logistic)
