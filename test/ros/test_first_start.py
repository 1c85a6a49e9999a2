# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a user meets first: help, wrong arguments, a long compilation, a sender nobody hears."""

import os
import subprocess
import sys

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import QoSProfile, ReliabilityPolicy
from ros.conftest import LIMIT
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from hrpsim.ros.base.child_process import ChildProcess

PROGRAMS = {
    "simulation.node": "real_time_factor",
    "controller.controller_node": "parameters_file",
    "recording.analysis_node": "cutoff",
}

COMPILES_WHEN_A_FILE_IS_THERE = """
import os, sys, time
from hrpsim.ros.simulation import node, simulation_node

def compile_slowly(world, compile_step=simulation_node.compile_step):
    while not os.path.exists(os.environ["MAY_COMPILE"]):
        time.sleep(0.05)
    compile_step(world)

simulation_node.compile_step = compile_slowly
sys.exit(node.main())
"""


def run(module, *arguments):
    command = [sys.executable, "-m", f"hrpsim.ros.{module}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)


@pytest.mark.parametrize("module, parameter", PROGRAMS.items())
def test_help_is_printed_and_nothing_is_run(module, parameter):
    done = run(module, "--help")
    assert done.returncode == 0 and parameter in done.stdout
    said = (done.stdout + done.stderr).splitlines()
    assert not any(line.startswith("ready") for line in said)


def test_help_that_is_not_read_to_its_end_is_no_fault():
    """Law: `hrpsim_node --help | head` says nothing of a broken pipe."""
    command = [sys.executable, "-m", "hrpsim.ros.simulation.node", "--help"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        program.stdout.close()
        assert program.stderr.read() == b""
    assert program.returncode == 0


@pytest.mark.parametrize("module", PROGRAMS)
def test_arguments_without_ros_args_are_refused(module):
    """Law: an argument that is not followed is not passed over."""
    done = run(module, "-p", "world_file:=config/walking_demo.yaml")
    assert done.returncode == 2
    assert "'-p'" in done.stderr and "--ros-args" in done.stderr


def test_a_misspelt_parameter_of_the_controller_is_named(simulations):
    node = simulations.start_program(
        *("hrpsim.ros.controller.controller_node", "--ros-args", "-p", "lock_step:=true"),
        *("-p", "controller:=hrpsim.control:StandController"),
    )
    assert node.wait_for_line("Did you mean 'lockstep'", LIMIT), node.lines


def test_a_missing_world_is_told_with_the_places_that_were_searched(tmp_path):
    done = run("simulation.node", "--ros-args", "-p", "world_file:=nope.yaml")
    assert done.returncode == 1
    assert f"{os.getcwd()}/nope.yaml" in done.stderr and "Searched" in done.stderr


@pytest.mark.long
def test_while_it_compiles_the_node_is_heard(listener, tmp_path):
    """Law: clock and diagnostics come while kernels are compiled, so that a recorder can wait."""
    clocks, reports = [], []
    listener.node.create_subscription(Clock, "/clock", clocks.append, 100)
    listener.node.create_subscription(DiagnosticArray, "/diagnostics", reports.append, 100)
    arguments = ["--ros-args", "-p", "start_paused:=true"]
    command = [sys.executable, "-c", COMPILES_WHEN_A_FILE_IS_THERE, *arguments]
    may_compile = tmp_path / "may_compile"
    environment = {**os.environ, "MAY_COMPILE": str(may_compile)}
    node = ChildProcess("slow", command, tmp_path / "slow.log", environment)
    try:
        assert listener.wait_for(lambda: clocks and reports)
        assert not any("ready" in line for line in node.lines)
        assert clocks[0].clock.sec == clocks[0].clock.nanosec == 0
        assert reports[0].status[0].message.startswith("starting: kernels have been compiling")
        assert node.wait_for_line("the kernels of this world have been compiling", LIMIT)
        may_compile.touch()
        assert node.wait_for_line("ready", LIMIT)
    finally:
        node.stop()


def test_who_cannot_be_heard_and_who_disturbs_is_said(simulations, listener):
    """Law: commands that this node cannot receive, and rivals of its topics, are named."""
    node = simulations.start(start_paused=True)
    reports = listener.collect("diagnostic_msgs/msg/DiagnosticArray", "/diagnostics")
    best_effort = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    listener.node.create_publisher(JointState, "joint_commands", best_effort)
    listener.node.create_publisher(Clock, "/clock", 10)
    listener.node.create_publisher(JointState, "set_base_pose", 10)
    for topic in ("joint_states", "/robot/joint_command"):
        listener.node.create_publisher(JointState, topic, 10)

    def told():
        return "; ".join(status.message for report in reports for status in report.status)

    assert listener.wait_for(lambda: "/test_listener publishes /clock, too" in told())
    assert listener.wait_for(lambda: "/test_listener sends /joint_commands as best" in told())
    wrong = (
        "/test_listener sends /set_base_pose as sensor_msgs/msg/JointState, but this node receives"
    )
    assert listener.wait_for(lambda: wrong in told())
    assert listener.wait_for(lambda: "/test_listener publishes /joint_states, too" in told())
    astray = "publishes /robot/joint_command, which nobody receives. This node receives /joint_com"
    assert listener.wait_for(lambda: astray in told())
    assert node.wait_for_line("geometry_msgs/msg/PoseStamped only", LIMIT)
    assert node.wait_for_line("/test_listener publishes /clock, too", LIMIT)


def test_another_node_of_the_same_name_is_said_while_it_is_there(simulations, listener):
    """Law: a namesake is told in diagnostics; when it ends, so does that."""
    simulations.start(start_paused=True)
    reports = listener.collect("diagnostic_msgs/msg/DiagnosticArray", "/diagnostics")
    rclpy = pytest.importorskip("rclpy")
    namesake = rclpy.create_node("hrpsim", context=listener.context)

    def last():
        return reports[-1].status[0].message if reports else ""

    assert listener.wait_for(lambda: "another node has the name /hrpsim, too" in last())
    namesake.destroy_node()
    assert listener.wait_for(lambda: last() == "paused")
