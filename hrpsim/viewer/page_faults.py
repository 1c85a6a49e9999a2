# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Messages of pages that viser cannot handle: log one line instead of a traceback."""

from __future__ import annotations

import logging
import sys
import time

_PERIOD = 1.0  # between two lines [s, wall]
_LOGGERS = ("websockets.server", "asyncio")  # loggers of viser's server that report faults of pages


class PageFaults(logging.Filter):
    """Count and log the faults of pages, at most one line per second; `install` once."""

    def __init__(self):
        super().__init__()
        self.count = 0
        self._next = 0.0

    def install(self) -> None:
        """Filter the loggers of viser's server."""
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(self)

    def note(self, error: BaseException) -> None:
        """Count a fault, and log it unless one was logged within the last second."""
        self.count += 1
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _PERIOD
            cause = f"{type(error).__name__}: {str(error)[:200]}"
            line = f"hrpsim: viewer: what a page sent was left out ({cause}); {self.count} so far"
            print(line, file=sys.stderr, flush=True)

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether other handlers get a record; those about pages are logged here."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None or not (record.name == _LOGGERS[0] or _is_of_viser(error)):
            return True
        if not type(error).__name__.startswith("ConnectionClosed"):  # it only disconnected
            self.note(error)
        return False


def _is_of_viser(error: BaseException) -> bool:
    frame = error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_globals.get("__name__", "").partition(".")[0] == "viser":
            return True
        frame = frame.tb_next
    return False


page_faults = PageFaults()
