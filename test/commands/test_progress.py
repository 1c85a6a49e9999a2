# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A long run shows its progress on a terminal, and only there; its steps are the same."""

import io
import sys
from types import SimpleNamespace

import pytest

from hrpsim.commands.cli import main
from hrpsim.common import progress

BALL = "bodies: [{name: ball, shape: {sphere: 0.1}, mass: 1.0, position: [0, 0, 10]}]\n"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_run_shows_its_time_on_a_terminal(tmp_path, monkeypatch, capsys, is_terminal):
    (tmp_path / "ball.yaml").write_text(BALL, encoding="utf-8")
    monkeypatch.setattr(progress, "_QUIET", 0.0)
    monkeypatch.setattr(progress, "_PERIOD", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    assert main(["run", str(tmp_path / "ball.yaml"), "--duration", "0.5"]) == 0
    shown = capsys.readouterr()
    assert "simulated_time: 0.5\nsteps: 500\n" in shown.out
    full = f"hrpsim: simulating [{20 * '#'}] 0.5 of 0.5 s"
    assert (full in shown.err) == is_terminal
    assert is_terminal or "simulating" not in shown.err
    assert shown.err.endswith("\r\033[K") == is_terminal


@pytest.fixture
def terminal(monkeypatch):
    """A terminal that gets each line of progress at once. `getvalue` returns what it got."""
    shown = io.StringIO()
    shown.isatty = lambda: True
    monkeypatch.setattr(progress, "_QUIET", 0.0)
    monkeypatch.setattr(progress, "_PERIOD", 0.0)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=shown))
    return shown


def lines_of(text):
    return text.split("\r\033[K")


@pytest.mark.parametrize("share, full", [(0.0, 0), (0.5, 10), (1.0, 20), (-1.0, 0), (9.0, 20)])
def test_a_bar_is_as_full_as_the_share(share, full):
    assert progress.bar(share) == f"[{full * '#'}{(20 - full) * '-'}]"


def test_a_short_task_shows_nothing(monkeypatch, capsys):
    """Law: nothing is shown in the first two seconds, and then a line each fifth of a second."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress.Progress("counting", "sheep") as shown:
        for tenth in range(31):
            now[0] = 100.0 + 0.1 * tenth
            shown.show(tenth, 30)
            if tenth == 19:
                assert capsys.readouterr().err == ""
    lines = lines_of(capsys.readouterr().err)
    assert lines[1] == "hrpsim: counting [#############-------] 20 of 30 sheep"
    assert 4 <= len(lines) - 2 <= 6 and lines[-1] == ""


def test_a_kernel_that_is_compiled_shows_its_functions(terminal):
    """Law: the count begins at 1 and ends at the number of functions, the kernel included."""
    from hrpsim.engine.compile.compile_progress import functions_of
    from hrpsim.engine.compile.numba_code import KernelFunction
    from hrpsim.engine.compile.numba_compiler import _compile, fits_numba

    if not fits_numba():
        pytest.skip("numba itself compiles here, and tells no progress")

    def add_one(x):
        return x + 1.0

    def add_two(x):
        return one(one(x))

    one = KernelFunction(add_one, inner=True)
    two = KernelFunction(add_two)
    assert len(functions_of(two)) == 2
    terminal.truncate(0), terminal.seek(0)
    _compile(two, (1.0,))
    lines = [line for line in lines_of(terminal.getvalue()) if line]
    half = "[##########----------] 1 of 2 functions"
    assert lines[0] == f"hrpsim: compiling the kernel 'add two' {half}"
    assert lines[-1].endswith(f"[{20 * '#'}] 2 of 2 functions, then machine code")


def test_a_batch_shows_its_parts(terminal):
    """Law: as many parts as there are, and an empty line at the end."""
    from hrpsim import Batch, Sphere, World

    worlds = [World() for _ in range(4)]
    for world in worlds:
        world.add_body(Sphere(0.1), 1.0, (0.0, 0.0, 1.0))
    batch = Batch.of(worlds, threads=1)
    terminal.truncate(0), terminal.seek(0)
    batch.step(2)
    batch.close()
    lines = lines_of(terminal.getvalue())
    assert "hrpsim: stepping 4 worlds: [--------------------] 0 of" in lines[1]
    assert lines[-1] == ""


def test_experiments_say_what_is_being_done(terminal, tmp_path):
    """Law: the line names the experiment, and how many are done."""
    from evidence.experiments.framework.experiment import Experiment, Options, Result
    from evidence.experiments.framework.reproduce import run_all

    one = Experiment("E1", "a fall", "", lambda options: Result(), lambda result, axes: None)
    list(run_all([one, one], Options(True, None, False), tmp_path))
    told = [line for line in lines_of(terminal.getvalue()) if "reproducing" in line]
    assert [line.partition("] ")[2] for line in told] == [
        "0 of 2 experiments done, now E1: a fall",
        "1 of 2 experiments done, now E1: a fall",
    ]
