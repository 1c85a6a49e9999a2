# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A controller outlives messages that tell no state: they are counted and named; it goes on."""

import math
import re
from pathlib import Path

import pytest
from ros.conftest import LIMIT
from sensor_msgs.msg import JointState

CONTROLLER = f"{Path(__file__).with_name('feedback_controller.py')}:Feedback"
STATE = "sensor_msgs/msg/JointState"


@pytest.mark.long
def test_a_controller_outlives_joint_states_that_are_none(simulations, listener):
    """Law: in lockstep each tick is answered whatever somebody else publishes as joint_states."""
    controller = simulations.start_program(
        "hrpsim.ros.controller.controller_node",
        *("--ros-args", "-p", f"controller:={CONTROLLER}", "-p", "lockstep:=true"),
    )
    node = simulations.start(lockstep=True, lockstep_timeout=LIMIT, real_time_factor=0.2)
    states = listener.collect(STATE, "/joint_states")
    assert controller.wait_for_line("ready", LIMIT), controller.lines
    publisher = listener.publisher(STATE, "/joint_states")
    assert listener.wait_for(lambda: states and states[-1].header.stamp.nanosec > 50_000_000)
    sound = states[-1]
    count = len(sound.name)
    values = sound.position.tolist()
    for message in (
        JointState(),
        JointState(name=["nobody"], position=[1.0]),
        JointState(name=sound.name, position=values),
        JointState(name=sound.name, position=values * 2, velocity=values, effort=values),
        JointState(name=sound.name, position=[math.nan] * count, velocity=values, effort=values),
        JointState(name=["é" * 1000] * 50, position=values, velocity=[math.inf] * 3),
    ):
        message.header.stamp = states[-1].header.stamp
        for _ in range(5):
            listener.send(publisher, message)
    last = states[-1].header.stamp
    after = last.sec + 1e-9 * last.nanosec + 0.1
    assert listener.wait_for(
        lambda: states[-1].header.stamp.sec + 1e-9 * states[-1].header.stamp.nanosec > after, LIMIT
    ), controller.lines
    assert node.stop() == 0
    assert controller.exit_code is None, controller.lines
    assert controller.stop() == 0
    rejected = int(re.search(r"rejected (\d+) messages", controller.lines[-1])[1])
    assert rejected == 30
    told = [line for line in controller.lines if "/joint_states rejected" in line]
    assert 5 <= len(told) <= rejected and not any("Traceback" in line for line in controller.lines)
