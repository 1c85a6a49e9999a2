# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Serve the calls of `bounded_child.call_bounded`. Run this module as a program."""

import importlib
import os
import pickle
import resource
import select
import signal
import struct
import sys
from typing import Any, BinaryIO

LENGTH = struct.Struct("<Q")
DONE, REFUSED, NO_MEMORY = range(3)
IDLE = 20.0  # time without a call after which the process ends [s]


def main() -> None:
    """Serve until the input ends, or no call comes for a while."""
    calls, answers = os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is not an answer
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path[:] = pickle.loads(_read(calls))
    while select.select([calls], [], [], IDLE)[0]:
        request = _read(calls)
        if not request:
            return
        answer, goes_on = _served(request)
        answers.write(LENGTH.pack(len(answer)))
        answers.write(answer)
        answers.flush()
        if not goes_on:
            return


def _read(calls: BinaryIO) -> bytes:
    """Return one message, or b"" at the end of the input."""
    head = _exactly(calls, LENGTH.size)
    return _exactly(calls, LENGTH.unpack(head)[0]) if head else b""


def _exactly(calls: BinaryIO, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = calls.read(size - len(parts))
        if not part:
            return b""
        parts += part
    return bytes(parts)


def _served(request: bytes) -> tuple[bytes, bool]:
    """Return the reply to a call, and whether this process can serve another call."""
    try:
        name, arguments, known, allowed, more = pickle.loads(request)
        module, _, function = name.partition(":")
        decode = getattr(importlib.import_module(module), function)
        from hrpsim.common import limits

        for limit, value in known.items():
            setattr(limits, limit, value)
        _bound_memory(limits.DECODER_MEMORY + more)
        signal.setitimer(signal.ITIMER_PROF, allowed)
        try:
            answer = pickle.dumps((DONE, decode(*arguments)), pickle.HIGHEST_PROTOCOL)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            _bound_memory(None)
        return answer, True
    except MemoryError:
        return pickle.dumps((NO_MEMORY, "")), False
    except Exception as cause:  # decoders raise any exception
        reason: Any = str(cause).strip().partition("\n")[0][:1000] or type(cause).__name__
        return pickle.dumps((REFUSED, reason)), True


def _bound_memory(more: int | None) -> None:
    """Limit the address space to `more` bytes beyond its present size. None removes the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = hard
    if more is not None:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[0])
        most = pages * resource.getpagesize() + more
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


if __name__ == "__main__":
    del sys.path[0]  # this folder, whose modules are hrpsim's
    main()
