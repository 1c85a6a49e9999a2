# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""SIGINT, SIGTERM and SIGHUP, also repeated, as one request to end."""

from __future__ import annotations

import signal


class StopSignal:
    """Sets `requested` at these signals; use it around the life of a process.

    Until `loop_started` is called there is nothing to shut down and the first signal raises
    KeyboardInterrupt; from then on signals only set `requested`, so that a second Ctrl-C (a
    terminal and a launcher often send one each) cannot interrupt the shutdown. A terminal that is
    closed sends SIGHUP; under `nohup` it stays ignored.
    """

    def __init__(self):
        self.requested = False
        self._looping = False

    def __enter__(self) -> StopSignal:
        self._previous = {
            number: signal.signal(number, self._handle)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN
        }
        return self

    def __exit__(self, *exception) -> None:
        for number, handler in self._previous.items():
            # After a request the process ignores further signals until it has ended.
            signal.signal(number, signal.SIG_IGN if self.requested else handler)

    def loop_started(self) -> None:
        """Declare that `requested` is polled regularly from now on.

        Raise KeyboardInterrupt if an earlier one was lost: Python only prints an exception that is
        raised in a destructor or a callback of the interpreter.
        """
        self._looping = True
        if self.requested:
            raise KeyboardInterrupt

    def __call__(self) -> bool:
        """Return whether an end was requested."""
        return self.requested

    def _handle(self, number, frame) -> None:
        first = not self.requested
        self.requested = True
        if first and not self._looping:
            raise KeyboardInterrupt
