# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What pages send that viser cannot deal with: a line of the log in place of a traceback."""

from __future__ import annotations

import logging
import sys
import time

_PERIOD = 1.0  # between two lines [s, wall]
_LOGGERS = ("websockets.server", "asyncio")  # where viser's server says what a page has broken


class PageFaults(logging.Filter):
    """Counts the faults of pages and says so, a line a second at most; `install` it once."""

    def __init__(self):
        super().__init__()
        self.count = 0
        self._next = 0.0

    def install(self) -> None:
        """Let the loggers of viser's server pass here first."""
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(self)

    def note(self, error: BaseException) -> None:
        """Count a fault, and say so unless that was done within the last second."""
        self.count += 1
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _PERIOD
            cause = f"{type(error).__name__}: {str(error)[:200]}"
            line = f"hrpsim: viewer: what a page sent was left out ({cause}); {self.count} so far"
            print(line, file=sys.stderr, flush=True)

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is for others; those about pages are told here."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None or not (record.name == _LOGGERS[0] or _is_of_viser(error)):
            return True
        if not type(error).__name__.startswith("ConnectionClosed"):  # it just left
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
