# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Protect changes of a world from signals: handlers run after the change."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SIGNALS = tuple(signal.valid_signals())


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay signal handlers, which Python runs in the main thread only, until the block is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    ours = {number: handler for number, handler in handlers.items() if callable(handler)}
    try:
        for number in ours:
            signal.signal(number, lambda given, frame: waiting.append(given))
        yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
        for number in waiting:
            signal.raise_signal(number)
