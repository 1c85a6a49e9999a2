# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Texts that are told again and again, told now and then. Needs no ROS."""

from __future__ import annotations

import time


class RepeatFilter:
    """Lets a text pass once every `period` [s, wall], and `capacity` different ones at most."""

    def __init__(self, period: float, capacity: int = 16, clock=time.monotonic):
        self._period = period
        self._capacity = capacity
        self._clock = clock
        self._passed: dict[str, float] = {}

    def passes(self, text: str) -> bool:
        """Return whether `text` has not passed within the period, and may pass now."""
        now = self._clock()
        self._passed = {t: at for t, at in self._passed.items() if now - at < self._period}
        if text in self._passed or len(self._passed) >= self._capacity:
            return False
        self._passed[text] = now
        return True
