# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A step that waits for a kernel: time stands still, and everybody is answered."""

import os
import sys

import pytest
from ros.conftest import LIMIT
from std_srvs.srv import Trigger
from test_compiler_beside import linked_cache

from hrpsim.ros.base.child_process import ChildProcess

KERNEL = "write_direct_system"  # what the first locked joint asks for
NODE = """
import sys
from functools import partial
from hrpsim.engine.compile.compiler_beside import CompilerBeside
from hrpsim.ros.simulation import node, simulation_node

WAITS = '''
import os, sys, time
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
os.execv(sys.executable, [sys.executable, "-m", "hrpsim", "warm-up", *sys.argv[2:]])
'''
command = sys.executable, "-c", WAITS, sys.argv.pop(1)
simulation_node.CompilerBeside = partial(CompilerBeside, command=command)
sys.exit(node.main())
"""


@pytest.fixture
def held(tmp_path, listener):
    """A node that lacks a kernel, and the file that lets the process beside begin."""
    release = tmp_path / "release"
    environment = {**os.environ, "HRPSIM_CACHE_DIR": str(linked_cache(tmp_path, [KERNEL]))}
    command = [sys.executable, "-c", NODE, str(release), "--ros-args", "-p", "step_count:=5"]
    node = ChildProcess("held", command, tmp_path / "held.log", environment)
    try:
        assert node.wait_for_line("ready", LIMIT), node.lines
        yield node, release
    finally:
        node.stop()


@pytest.mark.long
def test_everybody_is_answered_while_a_kernel_is_compiled(held, listener):
    """Law: the clock is repeated, ~/reset is done, a step waits; then time goes on.

    The kernel is not compiled before the test lets it: no answer can have waited for it.
    """
    node, release = held
    clock = listener.collect("rosgraph_msgs/msg/Clock", "/clock")
    reports = listener.collect("diagnostic_msgs/msg/DiagnosticArray", "/diagnostics")
    assert listener.set_parameter("modes.RARM_JOINT3", "locked").successful
    assert node.wait_for_line(f"compiling {KERNEL}: time stands still", LIMIT), node.lines

    def stands_still():
        return reports and "time stands still" in reports[-1].status[0].message

    assert listener.wait_for(stands_still)

    def is_repeated():
        return len(clock) > 2 and len({(m.clock.sec, m.clock.nanosec) for m in clock[-3:]}) == 1

    assert listener.wait_for(is_repeated)  # while time goes on each stamp comes once
    assert listener.call("/hrpsim/reset").success
    assert listener.call("/hrpsim/pause").success
    client = listener.node.create_client(Trigger, "/hrpsim/step")
    assert listener.wait_for(client.service_is_ready)
    step = client.call_async(Trigger.Request())
    for _ in range(3):  # what came before is begun in the turn before the last answer
        listener.meet(listener.node.get_publishers_info_by_topic, "/clock")
    reports.clear()
    assert listener.wait_for(stands_still)
    assert not step.done()
    assert listener.call("/hrpsim/reset").success
    assert listener.wait_for(step.done)
    assert not step.result().success
    assert "made 0 of 5 steps: another state of the world was set" in step.result().message
    step = client.call_async(Trigger.Request())
    listener.spin(0.2)
    assert not step.done()
    release.touch()
    assert listener.wait_for(step.done) and step.result().success, step.result()
    assert listener.call("/hrpsim/resume").success
    stamp = clock[-1].clock
    assert listener.wait_for(lambda: clock[-1].clock.sec > stamp.sec)


@pytest.mark.long
def test_a_signal_ends_a_node_that_waits_and_its_process(held, listener):
    """Law: nothing is left of either."""
    node, _ = held
    assert listener.set_parameter("modes.RARM_JOINT3", "locked").successful
    assert node.wait_for_line(f"compiling {KERNEL}", LIMIT), node.lines
    assert listener.wait_for(lambda: children_of(node.pid))
    children = children_of(node.pid)
    assert node.stop() == 0
    assert not any(os.path.exists(f"/proc/{child}") for child in children)


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return file.read().split()
