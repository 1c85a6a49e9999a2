# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Handle signals that end a program at once, even while machine code is compiled, or runs.

Python handles a signal between two Python instructions. LLVM works for seconds without such a
point, and loses nothing: output is stored on disk completely or not at all. Many steps are made in
parts, and signals are handled between the parts. One step of a world with ten thousand bodies, or
the hull of a large mesh, can take too long to wait. Only the end of the process ends such a call.
"""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

_TIMEOUT = 0.1  # time for Python to handle a signal [s]
_LLVM = ("llvmlite",)
_COMPILERS = ("numba", *_LLVM)
_LONGEST_CALL = 0.15  # longest processor time of a call after a signal [s]
_BUSY = 0.1  # least processor share of a computing call, with less the call may be waiting
_LOOK = 0.02  # period of checks [s]
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SIGNALS = tuple(signal.valid_signals())


class Terminated(KeyboardInterrupt):
    """Raised at SIGTERM."""


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay signal handlers, which Python runs in the main thread only, until the block is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    python_handlers = {number: handler for number, handler in handlers.items() if callable(handler)}
    try:
        for number in python_handlers:
            signal.signal(number, lambda number, frame: waiting.append(number))
        yield
    finally:
        for number, handler in python_handlers.items():
            signal.signal(number, handler)
        for number in waiting:
            signal.raise_signal(number)


@contextmanager
def ends_while_computing(clean_up: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Make SIGINT and SIGTERM end the process with 128 + the signal while a compiler runs.

    The process also ends if one call of compiled code, such as a step, then computes for more than
    0.15 s of processor time. A call that waits is not ended. `clean_up` is called before the
    process ends. Outside the main thread this has no effect.
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
def signals_raise() -> Iterator[None]:
    """Make SIGINT raise KeyboardInterrupt and SIGTERM Terminated, so that all is cleaned up.

    Within LLVM's Python binding the process ends at once, without an exception. The binding hands a
    module on before it records the new owner. An exception between the two would free the module
    twice.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number, frame) -> None:
        if _is_within(frame, _LLVM):
            sys.stdout.flush()
            os._exit(128 + number)
        raise Terminated if number == signal.SIGTERM else KeyboardInterrupt

    previous = {
        number: signal.signal(number, stop)
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) is not signal.SIG_IGN  # a shell's background jobs
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _watch(hears: socket.socket, clean_up: Callable[[], None]) -> None:
    with suppress(OSError):
        while number := hears.recv(1):
            if number[0] in _ENDING and _is_lost_in_computing():
                clean_up()
                os._exit(128 + number[0])


def _is_lost_in_computing() -> bool:
    """Return whether the main thread stays within a compiler or within a single call.

    The thread is observed until the result is clear. A thread that runs Python code moves to
    another instruction within _TIMEOUT.
    """
    clock = time.pthread_getcpuclockid(threading.main_thread().ident)
    begin, used_before, instruction = time.monotonic(), time.clock_gettime(clock), _instruction()
    in_one_call = True
    while True:
        time.sleep(_LOOK)
        in_one_call = in_one_call and _instruction() == instruction
        passed, used = time.monotonic() - begin, time.clock_gettime(clock) - used_before
        if passed < _TIMEOUT:
            continue
        if _is_compiling():
            return True
        waits = used <= _BUSY * passed and _sleeps()
        if waits or not in_one_call:
            return False
        if used > _LONGEST_CALL:
            return True


def _sleeps() -> bool:
    """Return whether the main thread waits, for example for input.

    A runnable thread does not wait.
    """
    try:
        status = Path(f"/proc/self/task/{threading.main_thread().native_id}/stat").read_text()
    except OSError:  # not Linux: the processor share decides
        return True
    return status.rpartition(")")[2].split()[0] in "SD"


def _instruction() -> tuple[int, int] | None:
    """Return the identity of the main thread's present frame, and the index of its instruction.

    None means that the main thread has ended.
    """
    frame = sys._current_frames().get(threading.main_thread().ident)
    return None if frame is None else (id(frame), frame.f_lasti)


def _is_compiling() -> bool:
    """Return whether the main thread is within numba or LLVM."""
    return _is_within(sys._current_frames().get(threading.main_thread().ident), _COMPILERS)


def _is_within(frame: FrameType | None, packages: tuple[str, ...]) -> bool:
    """Return whether a frame is of one of the packages, or called from one."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in packages:
            return True
        frame = frame.f_back
    return False
