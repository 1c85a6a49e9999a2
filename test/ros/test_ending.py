# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Signals end the programs within a limit, and nothing stays behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ros.conftest import LIMIT
from ros.processes import command_line, descendants, have_ended, until

from hrpsim.ros import programs
from hrpsim.ros.base.child_process import ChildProcess, mapped_shared_memory, own_shared_memory


@pytest.mark.quick_cases("parameters0")
@pytest.mark.parametrize("parameters", [{}, {"start_paused": True}, {"real_time_factor": 0.0}])
def test_two_interrupts_end_the_node_cleanly(simulations, parameters):
    node = simulations.start(**parameters)
    time.sleep(0.2)
    node.send_signal(signal.SIGINT)
    time.sleep(0.02)
    node.send_signal(signal.SIGINT)
    assert node.wait(LIMIT) == 0
    assert any("simulated" in line for line in node.lines)
    assert not any("Traceback" in line for line in node.lines)


def test_terminate_ends_the_node_cleanly(simulations):
    node = simulations.start()
    segments = data_segments(node.pid)
    node.send_signal(signal.SIGTERM)
    assert node.wait(LIMIT) == 0
    assert not [segment for segment in segments if segment.exists()]


BLOCKING = """
import time
from hrpsim.control import Command, Controller

class Blocking(Controller):
    def configure(self, model, parameters):
        self.wait("configure", parameters)

    def control(self, state):
        self.wait("control", parameters={"where": "control"})

    def wait(self, where, parameters):
        if parameters["where"] == where:
            print("blocks", flush=True)
            while True:
                time.sleep(0.01)
"""


@pytest.mark.quick_cases("control-SIGTERM")
@pytest.mark.parametrize("where, number", [("configure", "SIGINT"), ("control", "SIGTERM")])
def test_a_controller_that_never_returns_can_be_ended(simulations, tmp_path, where, number):
    """Law: one SIGINT or SIGTERM ends the program, whatever the controller's code does."""
    (tmp_path / "blocking.py").write_text(BLOCKING)
    simulations.start(lockstep=True)
    program = simulations.start_program(
        *("hrpsim.ros.controller.controller_node", "--ros-args", "-p", "lockstep:=true"),
        *("-p", f"controller:={tmp_path}/blocking.py:Blocking"),
        *("-p", f"parameters:=['where:={where}']"),
    )
    assert program.wait_for_line("blocks", LIMIT), program.lines
    program.send_signal(getattr(signal, number))
    assert program.wait(LIMIT) == 130
    assert not any("Traceback" in line for line in program.lines)


def test_an_interrupt_during_the_start_ends_it(simulations):
    command = sys.executable, "-m", "hrpsim.ros.simulation.node"
    node = simulations.start_child("starting", *command)
    while "numpy" not in Path(f"/proc/{node.pid}/maps").read_text():
        assert node.exit_code is None
        time.sleep(0.001)
    node.send_signal(signal.SIGINT)
    assert node.wait(LIMIT) not in (None, 0)


def test_an_interrupt_while_a_program_is_imported_ends_it_without_a_word(monkeypatch, capsys):
    """Law: of a launch that fails at once, those that were only starting say nothing."""

    def interrupted(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(programs, "import_module", interrupted)
    assert programs.controller() == programs.node() == 130
    assert capsys.readouterr() == ("", "")


def test_a_killed_child_leaves_no_shared_memory(simulations):
    node = simulations.start()
    segments = own_shared_memory(node.pid)
    node.send_signal(signal.SIGSTOP)  # deaf to SIGINT and SIGTERM
    assert node.stop(timeout=0.5) == -signal.SIGKILL
    assert not [segment for segment in segments if segment.exists()]


def test_a_child_ends_with_its_parent(tmp_path):
    script = (
        "import os, sys, time, pathlib\n"
        "from hrpsim.ros.base.child_process import ChildProcess\n"
        "child = ChildProcess('child', ['sleep', '1000'], pathlib.Path(sys.argv[1]), os.environ)\n"
        "print('child', child.pid, flush=True)\n"
        "time.sleep(1000)\n"
    )
    parent = ChildProcess(
        "parent",
        [sys.executable, "-c", script, str(tmp_path / "child.log")],
        tmp_path / "parent.log",
        os.environ,
    )
    assert parent.wait_for_line("child", LIMIT)
    child = int(parent.lines[-1].split()[1])
    parent.send_signal(signal.SIGKILL)
    parent.wait(LIMIT)
    assert have_ended([child])


@pytest.mark.long
@pytest.mark.parametrize("begun", ["starting", "ready"])
def test_a_killed_demonstration_leaves_no_process(tmp_path, begun):
    """Law: whatever kills the walk over ROS, its processes end."""
    pytest.importorskip("matplotlib", reason="no matplotlib")
    command = [sys.executable, "-m", "hrpsim", "walk", "--ros", "--output", str(tmp_path)]
    demo = ChildProcess("demo", command, tmp_path / "demo.log", os.environ)
    deadline = time.monotonic() + LIMIT
    log = tmp_path / "node.log"
    while len(found := descendants(demo.pid)) < 3 or (
        begun == "ready" and not (log.exists() and "ready" in log.read_text())
    ):
        assert demo.exit_code is None and time.monotonic() < deadline, demo.lines
        time.sleep(0.1)
    demo.send_signal(signal.SIGKILL)
    demo.wait(LIMIT)
    assert have_ended(found)


@pytest.mark.long
def test_a_node_that_dies_while_the_others_start_is_seen(tmp_path):
    """Law: the demonstration names it and ends at once; no process and no shared memory stays."""
    pytest.importorskip("matplotlib", reason="no matplotlib")
    command = [sys.executable, "-m", "hrpsim", "walk", "--ros", "--output", str(tmp_path)]
    demo = ChildProcess("demo", command, tmp_path / "demo.log", os.environ)
    deadline = time.monotonic() + LIMIT
    log, others, node = tmp_path / "node.log", [], None
    memory = set()
    while not (log.exists() and "ready" in log.read_text() and memory):
        assert demo.exit_code is None and time.monotonic() < deadline, demo.lines
        found = descendants(demo.pid)
        kinds = {pid: command_line(pid) for pid in found}
        node = next((pid for pid, line in kinds.items() if "simulation.node" in line), None)
        others = [mapped_shared_memory(pid) for pid in found if pid != node]
        memory = mapped_shared_memory(node or 0) & set().union(*others)
        time.sleep(0.02)
    os.kill(node, signal.SIGKILL)
    assert demo.wait(LIMIT) == 1
    assert any("node ended early" in line for line in demo.lines), "\n".join(demo.lines)
    assert have_ended(found)
    assert not [name for name in memory if "_port" not in name and Path("/dev/shm", name).exists()]


def test_a_node_ends_with_the_process_that_it_is_told(simulations, tmp_path):
    """Law: HRPSIM_END_WITH makes a node end with its launch, however that ends."""
    command = [sys.executable, "-m", "hrpsim.ros.simulation.node"]
    script = (
        "import os, subprocess, sys, time\n"
        "environment = {**os.environ, 'HRPSIM_END_WITH': str(os.getpid())}\n"
        f"subprocess.Popen({command!r}, env=environment)\n"
        "time.sleep(1000)\n"
    )
    launch = ChildProcess(
        "launch", [sys.executable, "-c", script], tmp_path / "launch.log", os.environ
    )
    assert launch.wait_for_line("ready", LIMIT), launch.lines
    started = descendants(launch.pid)
    assert len(started) == 1
    launch.send_signal(signal.SIGKILL)
    launch.wait(LIMIT)
    assert have_ended(started)


def test_a_node_whose_launch_has_ended_does_not_start(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    environment = {**os.environ, "HRPSIM_END_WITH": str(gone.pid)}
    command = [sys.executable, "-m", "hrpsim.ros.simulation.node"]
    assert subprocess.run(command, env=environment, timeout=LIMIT, check=False).returncode == 130


def test_a_closed_terminal_ends_the_node_cleanly(simulations):
    node = simulations.start()
    node.send_signal(signal.SIGHUP)
    assert node.wait(LIMIT) == 0
    assert any("simulated" in line for line in node.lines)


def data_segments(pid):
    """Return the shared-memory files that hold what a process sends; ports can be shared."""

    def data():
        found = [path for path in own_shared_memory(pid) if "port" not in path.name]
        return found if any(path.exists() for path in found) else []

    if found := until(data):
        return found
    others = {
        entry.name: (entry / "cmdline").read_text()
        for entry in Path("/proc").glob("[0-9]*")
        if mapped_shared_memory(int(entry.name)) & mapped_shared_memory(pid)
    }
    raise AssertionError(f"{mapped_shared_memory(pid)} of {pid} is mapped by {others}")
