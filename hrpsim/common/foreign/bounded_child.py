# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Call functions that decode foreign files in a child process of bounded memory and time.

One child serves all calls of a process. The child ends with the parent, or after a pause. A call
that exceeds a limit ends the child, and the next call starts another child.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from hrpsim.common import limits
from hrpsim.common.errors import HrpsimError

LENGTH = struct.Struct("<Q")  # before each message
DONE, REFUSED, NO_MEMORY = range(3)  # first entry of an answer
_PROGRAM = Path(__file__).with_name("decoding_child.py")
_PART = 1 << 20  # bytes that are read at once
_EXIT = 10.0  # of a process that has closed its output [s, wall]


class _Child:
    """A running child process."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.is_closed = False  # whether the process has closed its output, because it is ending
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,  # a Ctrl-C in the terminal is for the parent
        )
        self.send(pickle.dumps(sys.path))

    def send(self, message: bytes) -> None:
        """Send one message. Raises OSError if the child has ended."""
        assert self.process.stdin is not None
        self.process.stdin.write(LENGTH.pack(len(message)) + message)
        self.process.stdin.flush()

    def receive(self, until: float) -> bytes | None:
        """Return one message. None if the child has ended, is late, or sends too much."""
        head = self._read(LENGTH.size, until)
        if len(head) < LENGTH.size:
            return None
        (size,) = LENGTH.unpack(head)
        message = self._read(size, until) if size <= limits.DECODER_RESULT else b""
        return message if len(message) == size else None

    def _read(self, size: int, until: float) -> bytes:
        assert self.process.stdout is not None
        handle, parts = self.process.stdout.fileno(), bytearray()
        while len(parts) < size:
            ready, _, _ = select.select([handle], [], [], max(until - time.monotonic(), 0.0))
            part = os.read(handle, min(size - len(parts), _PART)) if ready else b""
            if not part:
                self.is_closed = bool(ready)
                break
            parts += part
        return bytes(parts)

    def end(self) -> int:
        """End the process if still running. Return the exit status."""
        if self.owner != os.getpid():  # a forked process does not own the child
            return 0
        if self.is_closed:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_EXIT)
        if self.process.poll() is None:
            self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        return self.process.wait()


_child: _Child | None = None
_one_call = threading.Lock()
os.register_at_fork(after_in_child=lambda: _forget())


def _forget() -> None:
    global _child, _one_call
    _child, _one_call = None, threading.Lock()


@atexit.register
def end_child() -> None:
    """End the child process, if there is one."""
    global _child
    child, _child = _child, None
    if child is not None:
        child.end()


def call_bounded(
    function: str,
    *given: Any,
    label: str,
    size: int,
    error: type[HrpsimError],
    more_memory: int = 0,
) -> Any:
    """Return the result of a function, which a child process calls.

    The limits of this process hold in the child, too.

    Args:
        function: "module:function". Only the child imports the module. The function may raise any
            error.
        *given: arguments of the function.
        label: name of the decoded file in errors.
        size: size of the decoded file [bytes]. The allowed time grows with the size.
        error: class of the errors.
        more_memory: memory allowed in addition to DECODER_MEMORY [bytes].

    Raises:
        error: the function raises an error, or exceeds DECODER_MEMORY, DECODER_TIME, DECODER_WAIT
            or DECODER_RESULT, or the child process cannot be started.
    """
    allowed = limits.DECODER_TIME + size / limits.DECODER_RATE
    known = {name: value for name, value in vars(limits).items() if name.isupper()}
    request = pickle.dumps((function, given, known, allowed, more_memory))
    with _one_call:
        answer = _answer(request, label, allowed, error)
    kind, content = pickle.loads(answer)
    if kind == NO_MEMORY:
        end_child()  # its memory may be damaged
        raise error(
            f"{label}: decoding needs {limits.excess('DECODER_MEMORY', 'bytes')}. Export a smaller"
            " file"
        )
    if kind == REFUSED:
        raise error(f"{label}: {content}")
    return content


def _ask(child: _Child, request: bytes) -> bytes | None:
    """Send a request to a child, and return the reply or None, as `receive` does."""
    try:
        with contextlib.suppress(BrokenPipeError):
            child.send(request)
        return child.receive(time.monotonic() + limits.DECODER_WAIT)
    except BaseException:
        end_child()  # an interrupted call leaves its answer in the pipe
        raise


def _answer(request: bytes, label: str, allowed: float, error: type[HrpsimError]) -> bytes:
    """Return the child's reply to a request.

    A child that has ended since the last call is replaced.
    """
    global _child
    status = 0
    if _child is not None and _child.process.poll() is not None:
        end_child()
    for _ in range(2):
        try:
            _child = _child or _Child()
        except OSError as cause:
            raise error(f"{label}: no process could be started to decode it: {cause}") from cause
        answer = _ask(_child, request)
        if answer is not None:
            return answer
        child, _child = _child, None
        status = child.end()
        if not child.is_closed or status != 0:
            break
    if status == -signal.SIGPROF:
        why = (
            f"decoding takes more than {allowed:.3g} s of processor time"
            " (limit DECODER_TIME in hrpsim.common.limits)"
        )
    else:
        why = (
            f"its decoder ended with status {status}. The file is damaged, or exceeds a limit in"
            " hrpsim.common.limits: DECODER_MEMORY, DECODER_WAIT or DECODER_RESULT"
        )
    raise error(f"{label}: {why}. Export a smaller or plainer file")
