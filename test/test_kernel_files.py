# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The cache of compiled kernels: damaged, half written or not writable, it costs time only."""

import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hrpsim.common import stored_files
from hrpsim.common.stored_files import (
    cache_home,
    make_folder,
    read_whole,
    remove_abandoned,
    trusted,
    why_not,
    write_whole,
)
from hrpsim.engine.compile import kernel_folders
from hrpsim.engine.compile.kernel_folders import keep, load_cached, made_by_one

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = """
import sys
import numpy as np
from hrpsim.engine.compile.compiled import is_cached
import twice
there = is_cached(twice.twice)
print(there, twice.twice(np.float64(21.0)), twice.twice.compiled, "numba" in sys.modules)
"""
KERNEL = """
from hrpsim.engine.compile.compiled import kernel

@kernel
def twice(x):
    return 2.0 * x
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_folders, "_is_writable", True)
    monkeypatch.setattr(stored_files, "_said", set())
    return tmp_path / "cache"


def test_what_is_kept_is_found(folder):
    """Law: each file has its own code, and a later one leaves the others."""
    keep(folder / "a.nbc", ((b"first",), "f", ""))
    keep(folder / "b.nbc", ((b"second",), "g", "call"))
    assert load_cached(folder / "a.nbc") == ((b"first",), "f", "")
    assert load_cached(folder / "b.nbc") == ((b"second",), "g", "call")
    assert load_cached(folder / "c.nbc") is None


@settings(max_examples=200)
@given(data=st.data())
def test_a_damaged_file_is_removed(tmp_path_factory, data):
    """Law: a file that lost, gained or changed any byte is not read, and is gone afterwards."""
    path = tmp_path_factory.mktemp("cache") / "file.nbc"
    content = data.draw(st.binary(max_size=64))
    write_whole(path, content)
    assert read_whole(path) == content
    whole = path.read_bytes()
    damaged = bytearray(whole)
    kind = data.draw(st.sampled_from(["flip", "cut", "grow", "zero"]))
    place = data.draw(st.integers(0, len(whole) - 1))
    if kind == "flip":
        damaged[place] ^= 1 << data.draw(st.integers(0, 7))
    elif kind == "cut":
        del damaged[place:]
    elif kind == "grow":
        damaged += b"\0"
    else:
        damaged[place:] = bytes(len(whole) - place)
    if bytes(damaged) == whole:
        return
    path.write_bytes(damaged)
    assert read_whole(path) is None and not path.exists()


def test_a_write_that_fails_leaves_nothing(folder, capfd, monkeypatch):
    """Law: a disk that is full is said once, with what to set; no part of a file stays."""

    def full(path, *arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    keep(folder / "a", (b"1",))
    keep(folder / "b", (b"2",))
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert "No space left on device" in said and "HRPSIM_CACHE_DIR" in said
    assert list(folder.iterdir()) == []


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_files, "_said", set())
    monkeypatch.setattr(stored_files, "_judged", {})
    folder = tmp_path / "way" / "cache"
    make_folder(folder)
    return folder


def opened_to_all(folder):
    folder.chmod(0o777)


def opened_on_the_way(folder):
    folder.parent.chmod(0o777)


def given_to_another(folder):
    """Give the folder to another user; without the right to, become another user oneself."""
    try:
        os.chown(folder, os.geteuid() + 12345, -1)
    except PermissionError:
        mine = os.geteuid()
        return pytest.MonkeyPatch().setattr(os, "geteuid", lambda: mine + 12345)


@pytest.mark.parametrize(
    "open_up, why",
    [
        (opened_to_all, "others may write there"),
        (opened_on_the_way, "all may write to"),
        (given_to_another, "owns it, not you"),
    ],
)
def test_a_cache_where_others_may_write_is_not_used(own_folder, open_up, why, monkeypatch, capfd):
    """Law: no code is run from a folder that another user can fill; one line says why."""
    asked = os.geteuid
    monkeypatch.setenv("HRPSIM_CACHE_DIR", str(own_folder))
    assert cache_home() == own_folder
    keep(own_folder / "planted.nbc", (b"code",))
    open_up(own_folder)
    stored_files._judged.clear()
    try:
        assert cache_home() == cache_home() == stored_files.NOWHERE
    finally:
        monkeypatch.setattr(os, "geteuid", asked)
    assert load_cached(cache_home() / "planted.nbc") is None
    keep(cache_home() / "new.nbc", (b"code",))
    said = capfd.readouterr().err
    assert said.count("\n") == 1 and why in said and "HRPSIM_CACHE_DIR" in said


def test_a_cache_below_a_sticky_folder_is_used(own_folder):
    """Law: in /tmp all may write, but nobody can replace the folder of another."""
    own_folder.parent.chmod(0o1777)
    assert trusted(own_folder) == own_folder


def test_folders_are_made_that_others_may_not_write_to(tmp_path):
    before = os.umask(0)
    try:
        make_folder(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert not why_not(tmp_path / "a" / "b")


def test_what_a_killed_process_left_is_swept_up(tmp_path):
    """Law: half-written files go when they are an hour old; those of living processes stay."""
    old, new = tmp_path / ".a.nbc.1.tmp", tmp_path / ".b.nbc.2.tmp"
    for path in (old, new):
        path.write_bytes(b"")
    os.utime(old, (0, 0))
    remove_abandoned(tmp_path)
    assert not old.exists() and new.exists()


def test_of_processes_that_need_a_file_one_makes_it(tmp_path):
    """Law: the others wait until it is there; those that make another file do not."""
    program = """
import sys
from pathlib import Path
from hrpsim.engine.compile.kernel_folders import made_by_one
path = Path(sys.argv[1])
print("waits", flush=True)
with made_by_one(path):
    print("makes" if not path.exists() else "finds", flush=True)
"""

    def start(name):
        command = [sys.executable, "-c", program, str(tmp_path / name)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    with made_by_one(tmp_path / "a"):
        waiting, other = start("a"), start("b")
        assert other.communicate(timeout=60)[0] == "waits\nmakes\n"
        assert waiting.stdout.readline() == "waits\n"
        (tmp_path / "a").touch()
    assert waiting.communicate(timeout=60)[0] == "finds\n"


class Process:
    """Runs a program that calls a kernel, with a cache folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "twice.py").write_text(KERNEL)
        self.cache = folder / "cache"

    def run(self, **environment):
        path = os.pathsep.join([str(ROOT), str(self.folder)])
        temporary = self.folder / "temporary"
        temporary.mkdir(exist_ok=True)
        own = {"PYTHONPATH": path, "HRPSIM_CACHE_DIR": str(self.cache), "TMPDIR": str(temporary)}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, **own, **environment},
            capture_output=True,
            text=True,
            timeout=500,
        )
        assert done.returncode == 0, done.stderr
        assert list(temporary.iterdir()) == []
        return done.stdout.split(), done.stderr


COMPILED, LOADED = ["42.0", "1", "True"], ["42.0", "0", "False"]


@pytest.mark.long
def test_damaged_machine_code_is_compiled_again(tmp_path):
    """Law: bytes lost in a file cost a line and a compilation; what is whole needs no numba."""
    process = Process(tmp_path)
    assert process.run() == (["False", *COMPILED], "")
    assert process.run() == (["True", *LOADED], "")
    (file,) = process.cache.rglob("*.nbc")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0x10
    file.write_bytes(data)
    said, warned = process.run()
    assert said[1:] == COMPILED
    assert warned.count("\n") == 1 and "damaged" in warned and file.name in warned
    assert process.run() == (["True", *LOADED], "")


@pytest.mark.long
def test_a_file_that_is_not_ours_is_not_read(tmp_path):
    """Law: what another format or anybody else has left there is not unpickled."""
    process = Process(tmp_path)
    process.run()
    (file,) = process.cache.rglob("*.nbc")
    file.write_bytes(pickle.dumps("0.1"))
    assert process.run()[0][1:] == COMPILED


@pytest.mark.long
def test_machine_code_for_another_processor_is_left_alone(tmp_path):
    """Law: what numba is asked to compile for is part of where machine code is kept."""
    process = Process(tmp_path)
    process.run()
    assert process.run(NUMBA_CPU_NAME="generic")[0][1:] == COMPILED
    assert len(list(process.cache.rglob("*.nbc"))) == 2
    assert process.run()[0][1:] == LOADED


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="asks for a folder that cannot be made")
def test_an_unwritable_cache_is_said_once(tmp_path):
    """Law: with no place to write, kernels are compiled, which is said once; nothing is left."""
    process = Process(tmp_path)
    blocked = tmp_path / "file"
    blocked.write_text("")
    said, warned = process.run(HRPSIM_CACHE_DIR=str(blocked / "cache"))
    assert said == ["False", *COMPILED]
    assert warned.count("\n") == 1 and "Set HRPSIM_CACHE_DIR" in warned


@pytest.mark.long
def test_without_parts_that_are_not_public_numba_s_documented_cache_serves(tmp_path):
    """Law: kernels are then kept by numba, and found again."""
    process = Process(tmp_path)
    assert process.run(HRPSIM_PLAIN_COMPILER="1") == (["False", *COMPILED], "")
    assert process.run(HRPSIM_PLAIN_COMPILER="1") == (["True", *COMPILED], "")
    assert list(process.cache.rglob("*.nbi")) and not list(process.cache.glob("*/*.nbc"))


@pytest.mark.parametrize(
    "room, kernel",
    [
        ("control", "hrpsim.control.balance.stabilizing.stabilize"),
        ("world", "hrpsim.world.objects.robot_reader.read_link_poses"),
        ("analysis", "hrpsim.analysis.samples.analyse_samples"),
    ],
)
def test_a_room_above_the_step_has_a_cache_of_its_own(room, kernel):
    """Law: an edit of it gives its kernels another folder, and those of the step none."""
    from hrpsim.engine.compile import kernel_folders as folders
    from hrpsim.engine.step.step import advance

    module, name = kernel.rsplit(".", 1)
    folder = folders.cache_of(getattr(importlib.import_module(module), name).py_func)
    assert folder.parent == folders.cache_of(advance.py_func) == folders.cache_directory
    sources = sorted(map(str, (ROOT / "hrpsim" / room).rglob("*.py")))
    assert folder.name == f"{room}-{folders._hash_of(sources)}"
    assert folders._hash_of(sources) != folders._hash_of(sources[1:])
    assert not set(sources) & set(folders._sources(*folders._OF_STEP))


def test_edits_leave_the_last_folders_of_each_room(tmp_path):
    """Law: of folders whose names differ by their hash alone, six stay; other rooms keep theirs."""
    from hrpsim.engine.compile import kernel_folders as folders

    for k in range(9):
        for prefix in ("", "world-", "control-"):
            folders._prepare_cache(tmp_path, f"{prefix}{k:016x}")
            os.utime(tmp_path / f"{prefix}{k:016x}", (k, k))
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {f"{p}{k:016x}" for p in ("", "world-", "control-") for k in range(3, 9)}


@pytest.mark.long
def test_a_process_without_a_controller_reads_none_of_their_kernels():
    """Law: a world's first step neither imports nor hashes controllers."""
    program = """
import sys
import hrpsim
from hrpsim.engine.compile import kernel_folders
from hrpsim import World
World().step()
print(kernel_folders._name_for.cache_info().currsize)
print([name for name in sys.modules if name.startswith("hrpsim.control.balance")])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split("\n")[:2] == ["0", "[]"], done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.timeout(600)  # the first process may compile
def test_a_later_first_step_of_a_robot_needs_no_numba():
    """Law: what earlier processes compiled is loaded without numba, scipy or trimesh."""
    program = """
import sys
import hrpsim
from hrpsim import share_path
model = hrpsim.load_model(share_path("urdf/hrp2_like.urdf.xacro"))
world = hrpsim.World()
world.add_ground()
world.add_robot(model, position=(0, 0, 1))
world.step()
print([name for name in ("numba", "scipy", "trimesh") if name in sys.modules])
"""
    command = [sys.executable, "-c", program]
    for _ in range(2):  # what is not in the cache yet is there the second time
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n" and done.stderr == ""
