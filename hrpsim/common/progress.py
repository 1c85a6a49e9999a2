# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The terminal's last line, which shows the progress of tasks of more than two seconds."""

import sys
import time

_QUIET = 2.0  # [s, wall] before the first line
_PERIOD = 0.2  # [s, wall] between two lines
_BAR_WIDTH = 20  # [characters]


def show_line(text: str) -> None:
    """Replace the terminal's last line. "" clears the line.

    Without a terminal nothing is printed.
    """
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def bar(share: float) -> str:
    """Return a progress bar that is full to a fraction `share` from 0 to 1."""
    full = round(_BAR_WIDTH * min(max(share, 0.0), 1.0))
    return f"[{'#' * full}{'-' * (_BAR_WIDTH - full)}]"


class Progress:
    """Shows the progress of one task on a terminal, once the task has taken two seconds.

    Nothing is shown if the standard error is not a terminal.

    Args:
        what: what is being done, such as "compiling the step".
        unit: what is counted, such as "functions".
    """

    def __init__(self, what: str, unit: str = "") -> None:
        self.what, self._unit = what, f" {unit}" if unit else ""
        self._next = time.monotonic() + _QUIET
        self._is_shown = False

    def show(self, done: float, whole: float, note: str = "") -> None:
        """Show how much is done, as "simulating [###---] 12.5 of 60 s", if due.

        Args:
            done: the finished part, in the unit.
            whole: the whole, in the unit.
            note: a text behind the count.
        """
        if not self._is_due():
            return
        count = str(done) if isinstance(done, int) else f"{done:.1f}"
        behind = f", {note}" if note else ""
        fraction = done / whole if whole > 0 else 1.0
        self._show(f"{bar(fraction)} {count} of {whole:g}{self._unit}{behind}")

    def say(self, text: str) -> None:
        """Show a text in place of the bar, for a task of unknown length."""
        if self._is_due():
            self._show(text)

    def end(self) -> None:
        """Clear the line."""
        if self._is_shown:
            self._is_shown = False
            show_line("")

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _is_due(self) -> bool:
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + _PERIOD
        return True

    def _show(self, text: str) -> None:
        self._is_shown = True
        show_line(f"hrpsim: {self.what} {text}")
