# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kernels that a process beside compiles: the step that waits, and what it does afterwards."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hrpsim
from hrpsim.engine.compile import announcement, compiler_beside, lazy_kernels
from hrpsim.engine.compile.compiler_beside import CompilerBeside
from hrpsim.engine.compile.kernel_folders import cache_directory

ABSENT = "write_direct_system", "count_rest"  # quickly compiled: asked for by a step; used for sure

PROGRAM = """
import json, sys
import numpy as np
from test_compiler_beside import ABSENT, locked, resting
from hrpsim.engine.compile import lazy_kernels
from hrpsim.engine.compile.compiler_beside import CompilerBeside, use_compiler_beside

said = []
def compiled_here():
    kernels = [declared.kernel for declared in lazy_kernels._declared.values()]
    return [kernel.__name__ for kernel in kernels if kernel.compiled]

"""


def linked_cache(folder, absent):
    """Return a cache like this process's, but without some kernels."""
    kernels = folder / "cache" / cache_directory.name
    kernels.mkdir(parents=True)
    for file in cache_directory.glob("[!.]*"):
        if file.is_file() and not any(f".{name}-" in file.name for name in absent):
            shutil.copy2(file, kernels / file.name)
    return kernels.parent


@pytest.fixture
def lacking(tmp_path):
    """Return how to run a program with the cache of this process, but for two kernels."""
    for make in (locked, resting):
        make().step(5)
    folder = linked_cache(tmp_path, ABSENT)
    tests = str(Path(__file__).parent)
    environment = {**os.environ, "HRPSIM_CACHE_DIR": str(folder)}
    environment["PYTHONPATH"] = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])

    def run(program):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM + program],
            capture_output=True,
            env=environment,
            timeout=500,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def locked():
    """Return a world after ten steps whose robot's joint is now locked."""
    world = hrpsim.World(solver=[dict(solver="iterative", kind="contact")])
    robot = world.add_robot(hrpsim.load_model(ARM, base="fixed"))
    world.step(10)
    robot.lock("joint")
    return world


def resting():
    """Return a world with a cube that may fall asleep, before its first step."""
    world = hrpsim.World(sleeping=True)
    world.add_ground()
    world.add_body(hrpsim.Box((0.1, 0.1, 0.1)), 1.0, position=(0.0, 0.0, 0.05))
    return world


ARM = """<robot name="arm"><link name="base"/><link name="link"><inertial><mass value="1"/>
  <origin xyz="0.3 0 0"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="joint" type="continuous"><parent link="base"/><child link="link"/>
  <axis xyz="0 1 0"/></joint></robot>"""


@pytest.mark.long
@pytest.mark.parametrize("make, kernel", [(locked, ABSENT[0]), (resting, ABSENT[1])])
def test_a_step_waits_and_is_then_what_it_would_have_been(lacking, make, kernel):
    """Law: waiting changes nothing of the state; afterwards nothing is compiled in this process."""
    told = lacking(f"""
beside = CompilerBeside(said.append)
use_compiler_beside(beside)
world = {make.__name__}()
before = world.scene.q.copy()
waits = 0
while True:
    try:
        world.step(5)
        break
    except lazy_kernels.KernelsAbsent as absent:
        waits += 1
        assert absent.names == ({kernel!r},) and beside.is_busy
        assert world.scene.q.tobytes() == before.tobytes()
        while beside.is_busy:
            beside.wait(1.0)
print(json.dumps([waits, compiled_here(), said, world.scene.q.tolist(), world.time]))
""")
    waits, compiled, said, q, time = told
    assert waits == 1 and compiled == []
    assert said == [f"compiling {kernel}: time stands still meanwhile", f"compiled {kernel}"]
    world = make()
    world.step(5)
    assert np.array(q).tobytes() == world.scene.q.tobytes() and time == world.time


@pytest.mark.long
@pytest.mark.parametrize(
    "command, compiled",
    [("beside._command", []), ('(sys.executable, "-c", "raise SystemExit(1)")', [ABSENT[1]])],
)
def test_a_step_of_a_program_waits_for_what_was_begun(lacking, command, compiled):
    """Law: a process beside that fails or not, the first call makes its steps; none is given up."""
    told = lacking(f"""
from hrpsim.engine.compile import announcement
from hrpsim.engine.compile.lazy_kernels import compiles_elsewhere
class Chosen(CompilerBeside):
    def __init__(beside, **options):
        super().__init__(said.append, **options)
        beside._command = {command}
import hrpsim.engine.compile.compiler_beside
hrpsim.engine.compile.compiler_beside.CompilerBeside = Chosen
world = resting()
announcement._compile_beside(ABSENT[1:])
assert compiles_elsewhere()
world.step(5)
print(json.dumps([compiled_here(), said, world.scene.q.tolist(), world.time]))
""")
    world = resting()
    world.step(5)
    assert told[0] == compiled
    assert told[1][0] == f"compiling {ABSENT[1]}: time stands still meanwhile"
    assert np.array(told[2]).tobytes() == world.scene.q.tobytes() and told[3] == world.time


@pytest.mark.long
def test_what_is_compiled_ahead_is_there_when_it_is_asked_for(lacking):
    """Law: after the process ahead has ended, no step waits and none compiles."""
    told = lacking("""
import hrpsim.engine.step.step
from hrpsim.engine.compile import announcement, compiler_beside, lazy_kernels
absent = lazy_kernels.absent_kernels
compiler_beside.absent_kernels = lambda: tuple(n for n in absent() if n in ABSENT)
beside = CompilerBeside(said.append)
use_compiler_beside(beside)
names = beside.compile_ahead()
assert not beside.is_busy  # no step waits for it
beside.wait(200.0)
for world in (locked(), resting()):
    world.step(5)
print(json.dumps([names, compiled_here(), said]))
""")
    assert told == [sorted(ABSENT), [], []]


@pytest.mark.long
def test_where_the_process_fails_the_kernel_is_compiled_in_place(lacking):
    """Law: a kernel that the child cannot compile is requested once only; the step is made."""
    told = lacking("""
beside = CompilerBeside(said.append, command=(sys.executable, "-c", "raise SystemExit(1)"))
use_compiler_beside(beside)
world, waits = resting(), 0
while True:
    try:
        world.step()
        break
    except lazy_kernels.KernelsAbsent:
        waits += 1
        while beside.is_busy:
            beside.wait(1.0)
print(json.dumps([waits, compiled_here(), said[1:]]))
""")
    assert told[0] <= 1  # none where the process has failed before the first step
    assert told[1:] == [["count_rest"], ["the child process could not compile: count_rest"]]


def test_where_nothing_can_be_kept_kernels_are_compiled_in_place(monkeypatch):
    monkeypatch.setattr(compiler_beside, "cache_directory", Path("/nonexistent"))
    beside = CompilerBeside()
    assert not beside.request(("count_rest",)) and not beside.is_busy
    assert beside.compile_ahead() == ()


def test_a_request_takes_the_place_of_what_is_compiled_ahead(monkeypatch):
    """Law: one process at a time, and what a step waits for comes first; closing ends it."""
    monkeypatch.setattr(compiler_beside, "absent_kernels", lambda: ("keep_momentum",))
    command = sys.executable, "-c", "import time; time.sleep(600)"
    beside = CompilerBeside(command=command)
    assert beside.compile_ahead() == ("keep_momentum",)
    ahead = beside._process
    assert beside.request(("count_rest",)) and beside.names == ("count_rest",)
    assert ahead.poll() is not None and beside._process is not ahead
    asked = beside._process
    assert beside.request(("count_rest",)) and beside._process is asked
    assert beside.request(("find_sleepers",)) and beside.names == ("count_rest", "find_sleepers")
    assert asked.poll() is not None
    asked = beside._process
    beside.close()
    assert asked.poll() is not None and not beside.is_busy


def test_a_step_waits_for_what_it_needs_only(monkeypatch):
    """Law: once a kernel is in the cache nobody waits for it, though the process goes on."""
    left = [("keep_momentum",), ("keep_momentum", "count_rest"), ("keep_momentum", "count_rest")]
    monkeypatch.setattr(
        compiler_beside, "absent_kernels", lambda: left.pop() if len(left) > 1 else left[0]
    )
    monkeypatch.setattr(compiler_beside, "_LOOK_PERIOD", 0.0)
    beside = CompilerBeside(command=(sys.executable, "-c", "import time; time.sleep(600)"))
    assert beside.request(("count_rest", "keep_momentum"))
    assert not beside.wait_for(("count_rest",)) and len(left) == 1 and beside.is_busy
    assert not beside.wait_for(("find_sleepers",))  # nobody compiles it: absent or not
    beside.close()


@pytest.mark.parametrize("is_cached, asked", [(True, []), (False, [("find_contacts",)])])
def test_whoever_compiles_is_asked_while_the_step_compiles(monkeypatch, is_cached, asked):
    """Law: what a first step calls is asked for before the step itself is compiled."""
    import hrpsim.engine.step.step  # noqa: F401  which declares the kernels

    found: list = []
    monkeypatch.setattr(announcement, "_looked", False)
    monkeypatch.setattr(announcement, "is_cached", lambda kernel: is_cached)
    monkeypatch.setattr(lazy_kernels, "is_cached", lambda kernel: "find" not in kernel.__name__)
    monkeypatch.setattr(lazy_kernels, "_addresses", {})
    monkeypatch.setattr(lazy_kernels, "_ask_elsewhere", lambda names: found.append(names) or True)
    began = announcement.announce_compilation(
        None, ("find_contacts", "prepare_rows"), ("solve_by_newton_method",)
    )
    assert (began is None) == is_cached and found == asked


@pytest.mark.parametrize("is_cached, begun", [(True, []), (False, [("keep_momentum",)])])
def test_the_process_beside_is_begun_once(monkeypatch, is_cached, begun):
    """Law: who reads a world begins it where the step is not there; the step begins no other."""
    found: list = []
    monkeypatch.setattr(announcement, "_looked", False)
    monkeypatch.setattr(announcement, "_is_begun", False)
    monkeypatch.setattr(announcement, "_processors", lambda: 2)
    monkeypatch.setattr(announcement, "is_cached", lambda kernel: is_cached)
    monkeypatch.setattr(announcement, "_compile_beside", found.append)
    monkeypatch.setattr(lazy_kernels, "_ask_elsewhere", None)
    for _ in range(2):
        announcement.begin_beside(None, ("keep_momentum",))
    began = announcement.announce_compilation(None, ("find_contacts",), ("keep_momentum",))
    assert found == begun and (began is None) == is_cached
    announcement.begin_beside(None, ("keep_momentum",))  # after the first step nothing is begun
    assert found == begun


def test_a_kernel_that_does_not_exist_is_refused_by_name():
    done = subprocess.run(
        [sys.executable, "-m", "hrpsim", "warm-up", "count_rst"],
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode != 0 and "Did you mean 'count_rest'" in done.stderr
