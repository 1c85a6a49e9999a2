# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""SIGINT, SIGTERM and SIGHUP as a request to end, however often they come."""

from __future__ import annotations

import signal


class StopSignal:
    """Turns them into `requested`; use it around the life of a process.

    Until `loop_started` is called there is nothing to wind up and the first signal raises
    KeyboardInterrupt; from then on signals only set `requested`, so that a second Ctrl-C (a
    terminal and a launcher often send one each) cannot break the shutdown. SIGHUP comes from a
    terminal that is closed; under `nohup` it stays ignored.
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
            # Asked to end, the process stays deaf to the second signal until it has ended.
            signal.signal(number, signal.SIG_IGN if self.requested else handler)

    def loop_started(self) -> None:
        """Say that `requested` is looked at regularly from now on.

        Raise KeyboardInterrupt where an earlier signal's was lost: Python only reports one that
        is raised in a destructor or a callback of the interpreter.
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
