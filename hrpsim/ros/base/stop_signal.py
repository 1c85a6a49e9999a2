# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""SIGINT, SIGTERM and SIGHUP, also repeated, as one request to end."""

from __future__ import annotations

import os
import signal

_PATIENCE = 1.0  # of a signal with code that does not poll [s, wall]


class StopSignal:
    """Sets `requested` at these signals; use it around the life of a process.

    Until `loop_started` is called there is nothing to shut down and the first signal raises
    KeyboardInterrupt; from then on signals only set `requested`, so that a second Ctrl-C (a
    terminal and a launcher often send one each) cannot interrupt the shutdown. A terminal that is
    closed sends SIGHUP; under `nohup` it stays ignored.
    Code of users may never return: after `user_code_started` a signal raises KeyboardInterrupt in
    it if `requested` is not polled within 1 s, and a further one then ends the process.
    """

    def __init__(self):
        self.requested = False
        self._looping = False
        self._polled = False
        self._interrupted = False

    def __enter__(self) -> StopSignal:
        self._previous = {
            number: signal.signal(number, self._handle)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN
        }
        return self

    def __exit__(self, *exception) -> None:
        self._polled = True
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

    def user_code_started(self) -> None:
        """As `loop_started`, where the loop calls the code of users."""
        if signal.SIGALRM not in self._previous:
            self._previous[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._interrupt)
        self.loop_started()

    def __call__(self) -> bool:
        """Return whether an end was requested."""
        self._polled = self._polled or self.requested
        return self.requested

    def _handle(self, number, frame) -> None:
        first = not self.requested
        self.requested = True
        if first and not self._looping:
            raise KeyboardInterrupt
        waits = signal.SIGALRM in self._previous and not self._polled
        if waits and not signal.getitimer(signal.ITIMER_REAL)[0]:
            signal.setitimer(signal.ITIMER_REAL, _PATIENCE)

    def _interrupt(self, number, frame) -> None:
        if self._polled:
            return
        if self._interrupted:
            os._exit(128 + signal.SIGINT)
        self._interrupted = True
        raise KeyboardInterrupt
