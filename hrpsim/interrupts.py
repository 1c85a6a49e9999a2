"""Signals that end a program at once even while machine code is being made.

Python deals with a signal between two of its own instructions. LLVM works for seconds without one,
and has nothing to lose: what it makes is kept on disk whole or not at all.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_PATIENCE = 0.1  # for Python to deal with a signal itself [s]
_COMPILERS = ("numba", "llvmlite")
_ENDING = (signal.SIGINT, signal.SIGTERM)


class Terminated(KeyboardInterrupt):
    """SIGTERM has come."""


@contextmanager
def ends_while_compiling(clean_up: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Within, let SIGINT and SIGTERM end the process with 128 + the signal if a compiler runs.

    `clean_up` is called before. Elsewhere than in the main thread it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    hears, says = socket.socketpair()
    says.setblocking(False)
    previous = signal.set_wakeup_fd(says.fileno(), warn_on_full_buffer=False)
    watch = threading.Thread(target=_watch, args=(hears, clean_up), name="signals", daemon=True)
    watch.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(previous)
        says.close()
        watch.join(timeout=1.0)
        hears.close()


@contextmanager
def sigterm_raises() -> Iterator[None]:
    """Within, let SIGTERM raise Terminated, so that all that was begun is wound up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number, frame) -> None:
        raise Terminated

    previous = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def _watch(hears: socket.socket, clean_up: Callable[[], None]) -> None:
    with suppress(OSError):
        while number := hears.recv(1):
            time.sleep(_PATIENCE)
            if number[0] in _ENDING and _is_compiling():
                clean_up()
                os._exit(128 + number[0])


def _is_compiling() -> bool:
    """Return whether the main thread is within numba or LLVM."""
    frame = sys._current_frames().get(threading.main_thread().ident)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in _COMPILERS:
            return True
        frame = frame.f_back
    return False
