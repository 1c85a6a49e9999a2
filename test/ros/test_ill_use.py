# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What users and controllers do wrong: floods, rivals, kills, nonsense; nothing hangs or leaks."""

import re
import signal
import time

import numpy as np
import pytest
from rclpy.qos import QoSProfile
from ros.conftest import LIMIT
from ros.messages import nanoseconds
from ros.spawning import rotor_without_limits
from sensor_msgs.msg import JointState

from hrpsim.ros.base.child_process import own_shared_memory

STATE, DIAGNOSTICS = "sensor_msgs/msg/JointState", "diagnostic_msgs/msg/DiagnosticArray"
HEAD = "HEAD_JOINT0"
OK, WARN, ERROR = b"\x00", b"\x01", b"\x02"


class Running:
    """A simulation at a constant rate, watched."""

    def __init__(self, node, listener):
        self.node = node
        self.listener = listener
        self.states = listener.collect(STATE, "joint_states")
        self.diagnostics = listener.collect(DIAGNOSTICS, "/diagnostics")
        assert listener.wait_for(lambda: self.states)

    def head(self):
        message = self.states[-1]
        return message.position[list(message.name).index(HEAD)]

    def rest(self):
        """Return where the head is once it stands still."""

        def velocity():
            self.states.clear()
            assert self.listener.wait_for(lambda: self.states)
            message = self.states[-1]
            return message.velocity[list(message.name).index(HEAD)]

        assert self.listener.wait_for(lambda: abs(velocity()) < 1e-3)
        return self.head()

    def status(self, number, level, text=""):
        """Return the first status of that level, with that text, since the last look."""
        found = []

        def look():
            found.extend(m.status[number] for m in self.diagnostics)
            self.diagnostics.clear()
            return any(is_wanted(status) for status in found)

        def is_wanted(status):
            return status.level == level and text in status.message

        assert self.listener.wait_for(look, LIMIT), [status.message for status in found]
        return next(status for status in found if is_wanted(status))

    def is_well(self):
        """Whether time goes on and the robot's state is finite and that of one who stands."""
        self.states.clear()
        assert self.listener.wait_for(lambda: len(self.states) > 10, LIMIT)
        assert np.isfinite([m.position for m in self.states]).all()
        return max(np.abs(m.velocity).max() for m in self.states) < 20.0


@pytest.fixture(scope="module")
def running(module_simulations, module_listener):
    # So slow that a busy machine keeps up: where it does not the status says so, and is not ok.
    return Running(module_simulations.start(real_time_factor=0.2), module_listener)


def values_of(status):
    return {v.key: v.value for v in status.values}


def flood(publisher, message, duration):
    """Publish as fast as it goes for `duration` [s, wall]."""
    end = time.monotonic() + duration
    while time.monotonic() < end:
        for _ in range(100):
            publisher.publish(message)


def test_commands_far_faster_than_steps(running):
    publisher = running.listener.publisher(STATE, "joint_commands")

    def is_flooded():
        flood(publisher, JointState(name=[HEAD], position=[-0.3]), 0.5)
        running.listener.spin(0.2)
        told = [m.status[1] for m in running.diagnostics]
        return any(
            status.level == WARN
            and "commands arrive faster than they are read" in status.message
            and int(values_of(status)["dropped"]) > 100
            for status in told
        )

    assert running.listener.wait_for(is_flooded)
    running.listener.send(publisher, JointState(name=[HEAD], position=[0.3]))
    assert running.is_well()
    assert running.listener.wait_for(lambda: running.head() == pytest.approx(0.3, abs=0.01))
    assert not [line for line in running.node.lines if "rejected" in line]
    running.listener.node.destroy_publisher(publisher)


def test_nonsense_far_faster_than_steps(running):
    publisher = running.listener.publisher(STATE, "joint_commands")
    before = running.rest()
    start = time.monotonic()
    flood(publisher, JointState(name=["nobody"], position=[1.0]), 1.5)
    assert running.is_well()
    assert running.head() == pytest.approx(before, abs=0.01)
    assert running.node.wait_for_line("rejected", LIMIT)
    lines = [line for line in running.node.lines if "rejected" in line]
    assert len(lines) <= 1 + time.monotonic() - start
    assert "joint 'nobody' does not exist" in lines[0]
    running.listener.node.destroy_publisher(publisher)


def test_of_two_controllers_the_last_one_counts(running):
    first, second = (running.listener.publisher(STATE, "joint_commands") for _ in range(2))
    for target, publisher in ((0.2, first), (-0.2, second), (0.1, first)):
        running.listener.send(publisher, JointState(name=[HEAD], position=[target]))
    assert running.listener.wait_for(lambda: running.head() == pytest.approx(0.1, abs=0.01))
    assert running.status(1, WARN, "2 publishers; the last counts")
    for publisher in (first, second):
        running.listener.node.destroy_publisher(publisher)

    def is_alone():
        told = [m.status[1] for m in running.diagnostics if m.status[1].level == OK]
        return any(values_of(status)["publishers of joint_commands"] == "0" for status in told)

    assert running.listener.wait_for(is_alone)


def test_a_command_that_no_step_can_follow_pauses(running):
    with rotor_without_limits(running.listener) as commands:
        running.listener.send(commands, JointState(name=["spin"], effort=[1e12]))
        assert running.node.wait_for_line("paused: the step from", LIMIT)
    assert "'spin' of 'rotor' is commanded" in running.status(0, ERROR).message
    assert np.isfinite(running.states[-1].position).all()
    assert "already paused" in running.listener.call("/hrpsim/pause").message
    assert running.listener.call("/hrpsim/reset").success
    assert running.listener.call("/hrpsim/resume").success
    assert running.is_well()
    assert running.status(0, OK, "ok").message == "ok"


@pytest.mark.long
def test_a_node_that_was_killed_can_be_started_again(simulations, listener):
    node = simulations.start(namespace="/again")
    states = listener.collect(STATE, "/again/joint_states")
    publisher = listener.publisher(STATE, "/again/joint_commands")
    assert listener.wait_for(lambda: states and states[-1].header.stamp.nanosec > 200_000_000)
    segments = own_shared_memory(node.pid)
    node.send_signal(signal.SIGKILL)
    assert node.wait(LIMIT) == -signal.SIGKILL
    for segment in segments:
        segment.unlink(missing_ok=True)
    listener.spin(0.2)
    states.clear()

    begin = time.monotonic()
    node = simulations.start(namespace="/again")
    assert listener.wait_for(lambda: len(states) > 5)
    assert nanoseconds(states[0]) < 1e9 * (time.monotonic() - begin)  # time begins anew
    listener.send(publisher, JointState(name=[HEAD], position=[0.3]))

    def head():
        return states[-1].position[list(states[-1].name).index(HEAD)]

    def keeps_up():
        publisher.publish(JointState(name=[HEAD], position=[0.3]))  # it may find it late
        return head() == pytest.approx(0.3, abs=0.01)

    assert listener.wait_for(keeps_up)
    segments = [path for path in own_shared_memory(node.pid) if "port" not in path.name]
    assert node.stop() == 0
    assert not [segment for segment in segments if segment.exists()]


def test_a_world_without_its_robot_description(simulations, tmp_path):
    file = tmp_path / "world.yaml"
    file.write_text("robots: [{name: ghost, urdf: no_such_robot.urdf}]\n")
    node = simulations.start_program(
        "hrpsim.ros.simulation.node", "--ros-args", "-p", f"world_file:={file}"
    )
    assert node.wait(LIMIT) == 1
    fatal = [line for line in node.lines if "FATAL" in line]
    assert len(fatal) == 1
    assert "no_such_robot.urdf" in fatal[0]
    assert not any("Traceback" in line for line in node.lines)


@pytest.mark.quick_cases("parameters0*")
@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"gains.HEAD_JOINT0": "[-1.0, 2.0]"}, "must be [kp, kd]"),
        ({"wrench_duration": ".nan"}, "wrench_duration out of range Min: 0.0, Max: 1000.0"),
        ({"lockstep_policy": "hope"}, "one of: 'pause', 'hold', 'abort'"),
    ],
)
def test_a_bad_parameter_at_the_start(simulations, parameters, complaint):
    arguments = ["--ros-args"]
    for name, value in parameters.items():
        arguments += ["-p", f"{name}:={value}"]
    node = simulations.start_program("hrpsim.ros.simulation.node", *arguments)
    assert node.wait(LIMIT) == 1
    assert any(complaint in line for line in node.lines), node.lines
    assert not any("Traceback" in line for line in node.lines)


def stamped(time, position):
    message = JointState(name=[HEAD], position=[position])
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(time, 10**9)
    return message


HOLD_PERIOD = 0.25  # [s]: an answer is waited for as long, on the wall, at each tick


@pytest.mark.long
def test_lockstep_can_hold_the_last_command(simulations, listener):
    node = simulations.start(
        namespace="/hold",
        remap=["/diagnostics:=diagnostics"],
        lockstep=True,
        lockstep_policy="hold",
        lockstep_timeout=0.5,
        control_period=HOLD_PERIOD,
        publish_rate=1.0 / HOLD_PERIOD,
    )
    states = listener.collect(STATE, "/hold/joint_states")
    diagnostics = listener.collect(DIAGNOSTICS, "/hold/diagnostics")
    assert node.wait_for_line("the last command holds", LIMIT)
    assert listener.wait_for(lambda: states and nanoseconds(states[-1]) > 500_000_000, LIMIT)
    assert np.isfinite(states[-1].position).all()
    assert listener.wait_for(lambda: diagnostics and diagnostics[-1].status[1].level == ERROR)
    assert diagnostics[-1].status[1].message == "the last command holds: none arrives"

    def ticks_without():
        return int(values_of(diagnostics[-1].status[1])["ticks without a command"])

    assert listener.wait_for(lambda: ticks_without() > 10)

    # A controller that answers in time is followed again, tick by tick.
    publisher = listener.publisher(STATE, "/hold/joint_commands")
    answered = 0

    def answers():
        nonlocal answered
        stamp = nanoseconds(states[-1])
        if stamp != answered:
            publisher.publish(stamped(stamp, 0.3))
            answered = stamp
        return any("lockstep continues after" in line for line in node.lines)

    assert listener.wait_for(answers, LIMIT)
    lines = node.lines  # where answers stay away again that is said again, once
    goes_on = sum("lockstep continues after" in line for line in lines)
    assert sum("the last command holds" in line for line in lines) <= goes_on + 1


def test_lockstep_can_end_the_node(simulations):
    node = simulations.start(
        namespace="/abort", lockstep=True, lockstep_policy="abort", lockstep_timeout=0.5
    )
    assert node.wait(LIMIT) == 1
    assert re.search(r"FATAL.*lockstep waits for /abort/joint_commands", node.lines[-1])
    assert not any("Traceback" in line for line in node.lines)


def test_of_two_controllers_in_lockstep_the_first_counts(simulations, listener):
    simulations.start(namespace="/rivals", lockstep=True, real_time_factor=0.0)
    states = listener.collect(STATE, "/rivals/joint_states", QoSProfile(depth=100))
    first, second = (listener.publisher(STATE, "/rivals/joint_commands") for _ in range(2))
    for tick in range(15):
        stamp = 5_000_000 * tick
        assert listener.wait_for(lambda: states and nanoseconds(states[-1]) == stamp)  # noqa: B023
        listener.send(first, stamped(stamp, 0.3))
        second.publish(stamped(stamp, -0.3))
    head = states[-1].position[list(states[-1].name).index(HEAD)]
    assert head > 0.02
