# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The terminal's last line, which shows the progress of what takes more than two seconds."""

import sys
import time

_QUIET = 2.0  # [s, wall] before the first line
_PERIOD = 0.2  # [s, wall] between two lines


def show_line(text: str) -> None:
    """Replace the terminal's last line. "" clears the line. Logs get nothing."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


class Progress:
    """Shows the progress of one task on a terminal, once it has taken two seconds."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _QUIET

    def show(self, done: float, whole: float, unit: str) -> None:
        """Show how much is done, as "12.5 of 60 s", if it is time to."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _PERIOD
            show_line(f"hrpsim: {done:.1f} of {whole:g} {unit}")

    def end(self) -> None:
        """Clear the line."""
        show_line("")
