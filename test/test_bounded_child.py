# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The child process of decoders: one for all calls, errors by name, an end with its parent."""

import os
import signal
import subprocess
import sys
import time

import pytest

from hrpsim import ModelError
from hrpsim.common import limits
from hrpsim.common.foreign import bounded_child
from hrpsim.common.foreign.bounded_child import call_bounded, end_child


def call(function, *given, size=0):
    return call_bounded(function, *given, label="box.glb", size=size, error=ModelError)


def test_one_child_serves_all_calls():
    """Law: results come back from one other process, also after a call was refused."""
    first = call("os:getpid")
    with pytest.raises(ModelError, match=r"box\.glb: .*could not convert|invalid literal"):
        call("builtins:int", "x")
    assert first == call("os:getpid") != os.getpid()


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_a_child_that_has_ended_is_replaced(sign):
    first = call("os:getpid")
    os.kill(first, sign)
    while os.path.exists(f"/proc/{first}") and _is_running(first):
        time.sleep(0.01)
    assert call("os:getpid") != first


def test_a_call_that_meets_an_ending_child_is_made_again():
    """Law: a child that ends by itself, as after a pause, loses no call, however slowly it ends."""
    first = call("os:getpid")
    child = bounded_child._child
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, child.process.stdin.fileno())  # the child sees the end of its input
    os.close(nowhere)
    assert call("os:getpid") != first
    assert child.process.returncode == 0


@pytest.mark.parametrize(
    ("function", "given", "cause"),
    [
        (
            "builtins:bytearray",
            10**10,
            r"box\.glb: decoding needs more than \d+ bytes \(limit DECODER_MEMORY",
        ),
        ("os:_exit", 0, r"box\.glb: its decoder ended with status 0"),
        ("os:_exit", 3, r"box\.glb: its decoder ended with status 3"),
        ("os:kill", None, r"box\.glb: its decoder ended with status -11"),
        ("builtins:exec", "f = lambda: f()\nglobals()['f'] = f\nf()", "box.glb: maximum recursion"),
    ],
)
def test_what_happens_in_the_child_is_an_error_here(function, given, cause):
    """Law: no exhausted memory, exit, crash or recursion ends this process, or the next call."""
    call("os:getpid")
    arguments = (call("os:getpid"), 11) if function == "os:kill" else (given,)
    with pytest.raises(ModelError, match=cause):
        call(function, *arguments)
    assert call("builtins:abs", -1) == 1


def test_the_time_grows_with_the_size_of_the_file(monkeypatch):
    """Law: DECODER_TIME is for a file without bytes, and DECODER_RATE gives more to others."""
    monkeypatch.setattr(limits, "DECODER_TIME", 1e-3)
    monkeypatch.setattr(limits, "DECODER_RATE", 1)
    with pytest.raises(
        ModelError, match=r"takes more than 0\.001 s of processor time \(limit DECODER"
    ):
        call("builtins:sum", range(5_000_000))
    assert call("builtins:sum", range(5_000_000), size=100) == 12499997500000


def test_the_limits_of_this_process_hold_in_the_child(monkeypatch):
    monkeypatch.setattr(limits, "JSON_VALUES", 3)
    with pytest.raises(ModelError, match="JSON_VALUES"):
        call("hrpsim.common.foreign.json_text:parse_json", "[1, 2, 3, 4]")


def test_a_forked_process_has_a_child_of_its_own():
    """Law: two processes never talk to one child."""
    child = call("os:getpid")
    reading, writing = os.pipe()
    if os.fork() == 0:
        own = call("os:getpid")
        end_child()
        os.write(writing, str(own).encode())
        os._exit(0)
    os.wait()
    assert int(os.read(reading, 20)) != child == call("os:getpid")


def test_the_child_ends_with_its_parent():
    """Law: no process is left, even if the parent is killed."""
    code = (
        "import os, sys; from test_bounded_child import call;"
        "print(call('os:getpid'), flush=True); os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    child = int(done.stdout)
    end = time.monotonic() + 20.0
    while os.path.exists(f"/proc/{child}") and _is_running(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{child}") or not _is_running(child)


def _is_running(process: int) -> bool:
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"
