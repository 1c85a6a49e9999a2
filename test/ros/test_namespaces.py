# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Two nodes in two namespaces of one domain do not hear each other."""

import pytest
from sensor_msgs.msg import JointState

STATE = "sensor_msgs/msg/JointState"


def test_commands_and_services_reach_one_robot_only(simulations, listener):
    simulations.start(namespace="/left", start_paused=True, step_count=500)
    simulations.start(
        namespace="/right", remap=["/clock:=clock"], start_paused=True, step_count=500
    )
    states = {side: listener.collect(STATE, f"/{side}/joint_states") for side in ("left", "right")}
    commands = listener.publisher(STATE, "/left/joint_commands")
    listener.send(commands, JointState(name=["HEAD_JOINT0"], position=[0.4]))
    for time in (0.5, 1.0):
        for side in states:
            assert listener.call(f"/{side}/hrpsim/step").success
        assert listener.wait_for(lambda: all(time_of(ms) == time for ms in states.values()))  # noqa: B023
    heads = {side: head(messages[-1]) for side, messages in states.items()}
    assert heads["left"] == pytest.approx(0.4, abs=0.01)
    assert heads["right"] == pytest.approx(0.0, abs=0.01)

    assert listener.call("/left/hrpsim/step").success
    assert listener.wait_for(lambda: time_of(states["left"]) == 1.5)
    listener.spin(0.3)
    assert time_of(states["right"]) == 1.0

    def topics():
        return {name for name, _ in listener.node.get_topic_names_and_types()}

    expected = {"/left/tf", "/right/tf", "/clock", "/right/clock"}
    assert listener.wait_for(lambda: expected <= topics())
    assert not {"/tf", "/joint_states"} & topics()


def time_of(messages):
    """Return the stamp of the last message [s], None before the first."""
    stamp = messages[-1].header.stamp if messages else None
    return stamp and stamp.sec + 1e-9 * stamp.nanosec


def head(message):
    return message.position[list(message.name).index("HEAD_JOINT0")]
