# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""SIGINT and SIGTERM end a command at once, whatever it is at, and leave nothing behind."""

import os
import signal
import subprocess
import sys
import time

import pytest

from hrpsim import share_path

LIMIT = 100.0  # [s]; it takes 0.2 s on a quiet machine, and what is ended would take far longer
COMPILING = """
import ctypes, signal
from hrpsim.common.interrupts import ends_while_computing

libc = ctypes.CDLL(None)
inside = {"__name__": "llvmlite.binding", "libc": libc}
exec('''
def compile_module():
    print("busy", flush=True)
    for _ in range(1200):
        libc.poll(None, 0, 500)
''', inside)
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: None)  # as if the call never came back to Python
with ends_while_computing(lambda: print("cleaned", flush=True)):
    inside["compile_module"]()
"""


COMPUTING = """
import hashlib, signal
from hrpsim.common.interrupts import ends_while_computing

signal.signal(signal.SIGTERM, lambda *_: None)  # as if the call never came back to Python
with ends_while_computing(lambda: print("cleaned", flush=True)):
    print("busy", flush=True)
    hashlib.pbkdf2_hmac('sha256', b'', b'', 2 * 10**9)
"""
WAITING = """
import signal, sys
from hrpsim.common.interrupts import ends_while_computing

signal.signal(signal.SIGTERM, lambda *_: print("served", flush=True))
with ends_while_computing(lambda: print("cleaned", flush=True)):
    print("busy", flush=True)
    sys.stdin.read(1)
    print("awake", flush=True)
"""
HANDING_OVER = """
import signal
import llvmlite.binding as llvm
from hrpsim.common.interrupts import signals_raise

library, number = llvm.ffi.lib, NUMBER

class Library:
    def __getattr__(self, name):
        return getattr(library, name)

    def LLVMPY_LinkModules(self, *modules):
        failed = library.LLVMPY_LinkModules(*modules)
        signal.raise_signal(number)
        return failed

llvm.ffi.lib = Library()
one = llvm.parse_assembly("define void @one() { ret void }")
two = llvm.parse_assembly("define void @two() { ret void }")
print("linking", end=" ")
with signals_raise():
    one.link_in(two)
"""
MANY_STEPS = """
import signal
import hrpsim
from hrpsim.common.interrupts import ends_while_computing

world = hrpsim.World(gravity=(0.0, 0.0, 0.0))  # at rest, so that no kernel is asked for
world.add_body(hrpsim.Sphere(1.0), 1.0)
world.step()
with ends_while_computing(lambda: print("cleaned", flush=True)):
    print("busy", flush=True)
    try:
        world.step(10**12)
    except KeyboardInterrupt:
        print("served", flush=True)
"""


def ended(command, number, line, **options):
    """Return status and output of a command that a signal ends, some time after `line`."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    ) as process:
        said = []
        for text in process.stdout:
            said.append(text)
            if line in text:
                break
        time.sleep(0.3)
        process.send_signal(number)
        try:
            rest = process.communicate(timeout=LIMIT)[0]
        finally:
            process.kill()
        return process.returncode, "".join(said) + rest


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_compiler_that_does_not_come_back_is_no_obstacle(number):
    """Law: a signal ends the process while code runs that never returns to Python's handlers."""
    status, said = ended([sys.executable, "-c", COMPILING], number, "busy")
    assert status == 128 + number and "cleaned" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_module_of_llvm_is_not_freed_twice(number):
    """Law: a signal between a module's handing over and the note of it ends the process cleanly."""
    command = [sys.executable, "-c", HANDING_OVER.replace("NUMBER", str(int(number)))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 128 + number, done.stderr
    assert done.stdout == "linking "


def test_a_call_that_does_not_come_back_is_no_obstacle():
    """Law: a single call is cut off with its process after 0.15 s of the processor's time."""
    status, said = ended([sys.executable, "-c", COMPUTING], signal.SIGTERM, "busy")
    assert status == 128 + signal.SIGTERM and "cleaned" in said


def test_a_call_that_waits_is_left_alone():
    """Law: what uses no processor may go on where the program's own handler lets it."""
    command, pipe = [sys.executable, "-c", WAITING], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout.readline() == "busy\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "served\n"
        time.sleep(1.0)  # of the wall: it uses none of the processor's
        assert process.communicate("x", timeout=LIMIT)[0] == "awake\n"
        assert process.returncode == 0


def test_many_steps_are_no_single_one():
    """Law: between steps a signal is served as Python does, and the process lives on."""
    status, said = ended([sys.executable, "-c", MANY_STEPS], signal.SIGINT, "busy")
    assert status == 0 and "served" in said and "cleaned" not in said


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_compilation_can_be_interrupted(number, tmp_path):
    """Law: while nothing is compiled yet a command ends as it does later, its cache whole."""
    command = [sys.executable, "-m", "hrpsim", "run", str(share_path("config/stand.yaml"))]
    environment = {**os.environ, "HRPSIM_CACHE_DIR": str(tmp_path)}
    status, said = ended(command, number, "compiling the kernels", env=environment)
    assert status == 128 + number and "Traceback" not in said
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.long
def test_the_viewer_closes_on_sigterm():
    """Law: SIGTERM is Ctrl-C to the viewer: it closes the page and ends with status 0."""
    pytest.importorskip("viser", reason="viser is not installed: hrpsim[viewer]")
    world = str(share_path("config/stand.yaml"))
    command = [sys.executable, "-m", "hrpsim", "run", world, "--viewer", "--port", "0"]
    status, said = ended(command, signal.SIGTERM, "shows the world")
    assert status == 0 and "Traceback" not in said
