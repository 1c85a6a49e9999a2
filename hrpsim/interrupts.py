"""Signals that end a program at once even while machine code is being made, or one step is.

Python deals with a signal between two of its own instructions. LLVM works for seconds without one,
and has nothing to lose: what it makes is kept on disk whole or not at all. Many steps are made in
pieces, between which signals are served; but one step of a world with ten thousand bodies can
itself take longer than anybody wants to wait.
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
_STEPPING = "hrpsim.world.world"  # the module that calls compiled steps
_LONGEST_STEP = 0.2  # of the processor [s], once a signal has come
_LOOK = 0.02  # [s]
_ENDING = (signal.SIGINT, signal.SIGTERM)


class Terminated(KeyboardInterrupt):
    """SIGTERM has come."""


@contextmanager
def ends_while_computing(clean_up: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Within, let SIGINT and SIGTERM end the process with 128 + the signal if a compiler runs.

    Likewise if a single step takes longer than 0.2 s of the processor's time from then on.
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
            if number[0] in _ENDING and _is_lost_in_computing():
                clean_up()
                os._exit(128 + number[0])


def _is_lost_in_computing() -> bool:
    """Return whether the main thread does not come back from a compiler, or from a single step."""
    clock = time.pthread_getcpuclockid(threading.main_thread().ident)
    place, begin, looks = _place_in_step(), time.clock_gettime(clock), 0
    while place is not None or looks * _LOOK < _PATIENCE:
        time.sleep(_LOOK)
        looks += 1
        if looks * _LOOK >= _PATIENCE and _is_compiling():
            return True
        if place is not None and place != _place_in_step():
            place = None
        elif place is not None and time.clock_gettime(clock) - begin > _LONGEST_STEP:
            return True
    return False


def _place_in_step() -> tuple[int, int] | None:
    """Return where the main thread is, if that is a call of compiled steps."""
    frame = sys._current_frames().get(threading.main_thread().ident)
    if frame is None or frame.f_globals.get("__name__") != _STEPPING:
        return None
    return id(frame), frame.f_lasti


def _is_compiling() -> bool:
    """Return whether the main thread is within numba or LLVM."""
    frame = sys._current_frames().get(threading.main_thread().ident)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in _COMPILERS:
            return True
        frame = frame.f_back
    return False
