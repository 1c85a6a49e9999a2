# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Regular calls from a thread of their own while the caller is busy. Needs no ROS."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Heartbeat:
    """In a `with`, calls `beat(seconds)` every `period` [s, wall] from a thread of its own.

    `seconds` is the time since it began.
    """

    def __init__(self, period: float, beat: Callable[[float], None]):
        self._period = period
        self._beat = beat
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *exception) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        begun = time.monotonic()
        while not self._ended.wait(self._period):
            self._beat(time.monotonic() - begun)
