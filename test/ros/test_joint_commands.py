# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What commands do, and what happens to those that are wrong."""

import math
import time

import pytest
from ros.messages import seconds, time_told
from ros.stepped import SteppedSimulation
from sensor_msgs.msg import JointState

from hrpsim.ros.base.faults import RepeatFilter

JOINT_STATE = "sensor_msgs/msg/JointState"


class Commander(SteppedSimulation):
    """A simulation that is commanded, and makes 500 steps at a call."""

    def __init__(self, listener):
        super().__init__(listener)
        self.publisher = listener.publisher(JOINT_STATE, "joint_commands")
        listener.set_parameter("step_count", 500)

    def send(self, **fields):
        self.listener.send(self.publisher, JointState(**fields))

    def step(self):
        """Make the steps of one call and return {joint: (position, velocity, effort)}."""
        self.call("step")
        return self.joints()


@pytest.fixture(scope="module")
def shared_commander(paused_simulation, module_listener):
    return Commander(module_listener)


@pytest.fixture
def commander(shared_commander):
    shared_commander.listener.call("/hrpsim/reset")
    shared_commander.log.clear()
    return shared_commander


def test_positions_of_a_subset(commander):
    before = commander.step()
    head = before["HEAD_JOINT0"][0]
    commander.send(name=["HEAD_JOINT0", "RARM_JOINT0"], position=[0.4, -0.3])
    after = commander.step()
    assert after["HEAD_JOINT0"][0] == pytest.approx(0.4, abs=0.01)
    assert after["RARM_JOINT0"][0] == pytest.approx(-0.3, abs=0.02)
    assert after["LARM_JOINT0"][0] == pytest.approx(before["LARM_JOINT0"][0], abs=0.01)
    assert abs(head) < 0.01

    later = commander.step()  # no further command: it holds
    assert later["HEAD_JOINT0"][0] == pytest.approx(0.4, abs=0.01)


def test_effort_and_velocity(commander):
    commander.send(name=["HEAD_JOINT0"], effort=[0.05])
    assert commander.step()["HEAD_JOINT0"][2] == pytest.approx(0.05, abs=1e-12)
    commander.send(name=["HEAD_JOINT0"], position=[0.0])
    commander.step()
    commander.send(name=["HEAD_JOINT0"], velocity=[0.2])
    position, velocity, _ = commander.step()["HEAD_JOINT0"]
    assert velocity == pytest.approx(0.2, abs=0.02)
    assert position > 0.03


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"name": ["NO_SUCH_JOINT"], "position": [1.0]}, "NO_SUCH_JOINT"),
        ({"name": ["HEAD_JOINT0", "nose"], "position": [1.0, 1.0]}, "nose"),
        ({"name": ["HEAD_JOINT0"], "position": [math.nan]}, "HEAD_JOINT0"),
        ({"name": ["HEAD_JOINT0", "HEAD_JOINT1"], "effort": [1.0, math.inf]}, "HEAD_JOINT1"),
        ({"name": ["HEAD_JOINT0", "HEAD_JOINT1"], "position": [1.0]}, "'position'"),
        ({"name": ["HEAD_JOINT0"], "position": [1.0], "velocity": [0.0] * 2}, "'velocity'"),
        ({"name": ["HEAD_JOINT0", "HEAD_JOINT0"], "position": [1.0, 1.0]}, "HEAD_JOINT0"),
        ({"name": ["HEAD_JOINT0"]}, "HEAD_JOINT0"),
        ({"position": [1.0]}, "no joint"),
    ],
    ids=lambda value: None if isinstance(value, dict) else value,
)
def test_bad_commands_are_named_and_change_nothing(commander, fields, named):
    commander.send(name=["HEAD_JOINT0", "HEAD_JOINT1"], position=[0.3, 0.1])
    commander.step()
    commander.log.clear()
    commander.send(**fields)
    after = commander.step()
    assert after["HEAD_JOINT0"][0] == pytest.approx(0.3, abs=0.01)
    assert after["HEAD_JOINT1"][0] == pytest.approx(0.1, abs=0.02)
    assert commander.listener.wait_for(commander.warnings)
    (warning,) = commander.warnings()
    assert named in warning
    assert "joint_commands" in warning


def test_a_command_ahead_of_time_waits_for_its_stamp(commander):
    listener, head = commander.listener, "HEAD_JOINT0"
    start = time_told(listener.call("/hrpsim/reset").message)
    for lead, target in ((0.2, 0.4), (0.3, -0.2), (0.1, 0.3)):  # in any order
        message = JointState(name=[head], position=[target])
        nanoseconds = round((start + lead) * 1e9)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(nanoseconds, 10**9)
        listener.send(commander.publisher, message)
    commander.step()
    course = {
        round(seconds(m) - start, 6): m.position[list(m.name).index(head)]
        for m in commander.states
        if seconds(m) >= start
    }
    assert abs(course[0.1]) < 1e-3
    assert course[0.11] > 1e-3
    assert course[0.2] == pytest.approx(0.3, abs=0.03)
    assert course[0.3] == pytest.approx(0.4, abs=0.03)
    assert course[0.5] == pytest.approx(-0.2, abs=0.03)


@pytest.mark.parametrize("stamp", [0, 1_795_000_000])
def test_stamps_of_other_clocks_mean_now(commander, stamp):
    message = JointState(name=["HEAD_JOINT0"], position=[0.35])
    message.header.stamp.sec = stamp
    commander.listener.send(commander.publisher, message)
    assert commander.step()["HEAD_JOINT0"][0] == pytest.approx(0.35, abs=0.01)


def test_a_flood_of_bad_commands_warns_once_a_second(commander):
    start = time.monotonic()
    for _ in range(10):
        commander.send(name=["nobody"], position=[1.0])
    commander.step()
    assert commander.listener.wait_for(commander.warnings)
    commander.listener.spin(0.3)
    elapsed = time.monotonic() - start
    assert 1 <= len(commander.warnings()) <= 1 + elapsed


def test_a_text_passes_once_a_period():
    clock = iter([0.0, 0.5, 0.6, 1.1])
    repeat_filter = RepeatFilter(period=1.0, clock=lambda: next(clock))
    assert [repeat_filter.passes(text) for text in "aaba"] == [True, False, True, True]


def test_a_reset_returns_to_the_first_command(commander):
    commander.send(name=["HEAD_JOINT0"], position=[0.4])
    commander.step()
    commander.listener.call("/hrpsim/reset")
    assert abs(commander.step()["HEAD_JOINT0"][0]) < 0.01
