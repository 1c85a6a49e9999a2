# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Groups of tests that run at the same time do not meet in shared memory."""

import subprocess
import sys
from pathlib import Path

import pytest
from grouped import left_out, own_shared_memory

WORKER = """
import subprocess, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from grouped import own_shared_memory

assert own_shared_memory()
Path("/dev/shm", sys.argv[2]).touch()
print("made", flush=True)
input()
print(subprocess.check_output(["ls", "/dev/shm"], text=True))
"""


def test_workers_and_their_children_see_their_own_shared_memory_only():
    """Law: what a worker makes in /dev/shm is there for its children and for no other worker."""
    if not own_shared_memory():
        pytest.skip("a /dev/shm for each worker needs CAP_SYS_ADMIN")
    start = [sys.executable, "-c", WORKER, str(Path(__file__).parent)]
    pipe = subprocess.PIPE
    workers = [subprocess.Popen([*start, n], stdin=pipe, stdout=pipe, text=True) for n in "ab"]
    assert [worker.stdout.readline() for worker in workers] == ["made\n", "made\n"]
    assert [worker.communicate("\n")[0].split() for worker in workers] == [["a"], ["b"]]
    assert not {"a", "b"} & {path.name for path in Path("/dev/shm").iterdir()}


def test_quick_cases_are_never_none():
    """Law: patterns choose what stays; where they match nothing, all cases do."""
    cases = ["box-direct", "box-split", "ball-direct"]
    assert left_out(cases, ["*-direct"]) == ["box-split"]
    assert left_out(cases, ["box-*", "ball-*"]) == []
    assert left_out(cases, ["cylinder-*"]) == []
