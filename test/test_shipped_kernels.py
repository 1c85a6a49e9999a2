# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kernels that come with the package: used where they fit, otherwise as if they were not there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hrpsim.engine.compile.machine_code import COMMON_TARGETS, common_target, runs

ROOT = Path(__file__).resolve().parent.parent
TARGET = "x86-64-v3"
KERNEL = """
from hrpsim.engine.compile.compiled import kernel

@kernel
def third(x):
    return x / 3.0
"""
PROGRAM = """
import sys
from hrpsim.engine.compile import machine_code
from hrpsim.engine.compile.compiled import is_cached
import third
if "without" in sys.argv:  # a processor that lacks something
    machine_code.COMMON_TARGETS["x86-64-v3"] = "sse9"
there = is_cached(third.third)
print(there, third.third(0.7).hex(), third.third.compiled, "numba" in sys.modules)
"""
GATHER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from ship_kernels import gather
gather(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
"""
VALUE = (0.7 / 3.0).hex()
SHIPPED, MADE = ["True", VALUE, "0", "False"], ["False", VALUE, "1", "True"]

pytestmark = [
    pytest.mark.skipif(not runs(TARGET), reason=f"what is shipped is for {TARGET}"),
    pytest.mark.long,
]


def run(folder: Path, program: str, *arguments: str, **environment: str) -> list[str]:
    """Run a program with the package of a folder and an empty cache; return its words."""
    own = {"PYTHONPATH": str(folder), "HRPSIM_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env={**os.environ, **own, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    shutil.rmtree(folder / "cache", ignore_errors=True)
    return done.stdout.split()


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    """Return a folder with the package, and a kernel that was compiled into it for TARGET."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(
        ROOT / "hrpsim", folder / "hrpsim", ignore=shutil.ignore_patterns("__pycache__", "kernels")
    )
    (folder / "third.py").write_text(KERNEL)
    built = folder / "built"
    asked = {"NUMBA_CPU_NAME": TARGET, "NUMBA_CPU_FEATURES": "", "HRPSIM_CACHE_DIR": str(built)}
    assert run(folder, PROGRAM, **asked) == MADE
    run(folder, GATHER, str(ROOT / "tools"), str(built), str(folder / "hrpsim/kernels"), TARGET)
    return folder


def test_shipped_kernels_need_no_numba_and_no_cache(package):
    """Law: with an empty cache they are loaded; nothing is compiled, and the bits are the same."""
    assert run(package, PROGRAM) == SHIPPED
    nowhere = str(package / "third.py" / "cache")  # which cannot be made
    assert run(package, PROGRAM, HRPSIM_CACHE_DIR=nowhere) == SHIPPED


def test_a_processor_that_lacks_something_has_its_kernels_compiled(package):
    assert run(package, PROGRAM, "without") == MADE


@pytest.mark.parametrize("asked", ["NUMBA_CPU_NAME=generic", "NUMBA_OPT=1"])
def test_one_who_asks_numba_for_other_code_gets_it(package, asked):
    name, _, value = asked.partition("=")
    assert run(package, PROGRAM, **{name: value})[1:] == MADE[1:]


def test_kernels_of_other_sources_are_not_looked_at(package):
    """Law: who edits what was installed runs what he wrote."""
    path = package / "hrpsim/common/constants.py"
    before = path.read_text()
    path.write_text(before + "\n")
    try:
        assert run(package, PROGRAM) == MADE
    finally:
        path.write_text(before)
    assert run(package, PROGRAM) == SHIPPED


def test_a_damaged_one_is_compiled(package, tmp_path):
    folder = tmp_path / "installed"
    shutil.copytree(package, folder)
    (file,) = folder.rglob("kernels/**/*.nbc")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert run(folder, PROGRAM)[1:] == MADE[1:]


def test_the_best_target_is_taken(monkeypatch):
    monkeypatch.delenv("NUMBA_CPU_NAME", raising=False)
    monkeypatch.setitem(COMMON_TARGETS, "x86-64-v4", "sse2")
    assert common_target(["x86-64-v3", "x86-64-v4"]) == "x86-64-v4"
    assert common_target(["x86-64-v3", "another"]) == "x86-64-v3"
    assert common_target([]) == common_target(["another"]) == ""
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert common_target(["x86-64-v3"]) == ""
