# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Snapshots of the last part of a run, to look back."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from typing import Any


class Recording:
    """Store the newest snapshots, at most `limit` [bytes] but at least one."""

    def __init__(self, limit: int = 128 * 2**20):
        self.limit = limit
        self._entries: deque[tuple[float, dict[str, Any], int]] = deque()
        self._size = 0  # [bytes]

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def size(self) -> int:
        """Memory that the snapshots take [bytes]."""
        return self._size

    @property
    def span(self) -> float:
        """Simulated time between the first and the last snapshot [s]; 0 without any."""
        return self._entries[-1][0] - self._entries[0][0] if self._entries else 0.0

    def add(self, time: float, snapshot: dict[str, Any]) -> None:
        """Append a snapshot taken at `time` [s], unless it is not later than the last one."""
        if self._entries and time <= self._entries[-1][0]:
            return
        size = sum(array.nbytes for array in snapshot["arrays"])
        self._entries.append((time, snapshot, size))
        self._size += size
        while self._size > self.limit and len(self._entries) > 1:
            self._size -= self._entries.popleft()[2]

    def at(self, time: float) -> dict[str, Any]:
        """Return the last snapshot not later than `time` [s], the first one if all are later.

        LookupError if nothing was recorded.
        """
        if not self._entries:
            raise LookupError("nothing was recorded yet")
        return self._entries[self._place(time)][1]

    def forget_after(self, time: float) -> None:
        """Drop the snapshots that are later than `time` [s]."""
        while self._entries and self._entries[-1][0] > time:
            self._size -= self._entries.pop()[2]

    def clear(self) -> None:
        """Drop all snapshots."""
        self._entries.clear()
        self._size = 0

    def _place(self, time: float) -> int:
        times = [entry[0] for entry in self._entries]
        return max(bisect_right(times, time + 1e-9) - 1, 0)
