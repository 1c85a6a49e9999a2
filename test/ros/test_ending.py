"""Signals end the programs within a limit, and nothing stays behind."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from hrpsim.ros.base.child_process import ChildProcess, own_shared_memory

LIMIT = 30.0  # [s]


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


def test_an_interrupt_during_the_start_ends_it(simulations):
    node = simulations.start_program("hrpsim.ros.simulation.node")
    time.sleep(0.8)
    node.send_signal(signal.SIGINT)
    assert node.wait(60.0) not in (None, 0)


def test_a_killed_child_leaves_no_shared_memory(simulations):
    node = simulations.start()
    segments = own_shared_memory(node.pid)
    node.send_signal(signal.SIGSTOP)  # deaf to SIGINT and SIGTERM
    start = time.monotonic()
    assert node.stop(timeout=0.5) == -signal.SIGKILL
    assert time.monotonic() - start < LIMIT
    assert not [segment for segment in segments if segment.exists()]


def test_a_child_ends_with_its_parent(tmp_path):
    script = (
        "import os, sys, time, pathlib\n"
        "from hrpsim.ros.base.child_process import ChildProcess\n"
        "child = ChildProcess('child', ['sleep', '60'], pathlib.Path(sys.argv[1]), os.environ)\n"
        "print('child', child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = ChildProcess(
        "parent",
        [sys.executable, "-c", script, str(tmp_path / "child.log")],
        tmp_path / "parent.log",
        os.environ,
    )
    assert parent.wait_for_line("child", timeout=30.0)
    child = int(parent.lines[-1].split()[1])
    parent.send_signal(signal.SIGKILL)
    parent.wait(LIMIT)
    deadline = time.monotonic() + LIMIT
    while is_alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(child)


def data_segments(pid):
    """Return the shared-memory files that hold what a process sends; ports can be shared."""
    found = [path for path in own_shared_memory(pid) if "port" not in path.name]
    assert any(path.exists() for path in found)
    return found


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
