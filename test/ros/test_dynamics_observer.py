# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The observer beside a running simulation: it expects what the sensors measure."""

import pytest
from ros.conftest import LIMIT
from ros.messages import nanoseconds, vector

TOPICS = {
    "expected/zmp": "geometry_msgs/msg/PointStamped",
    "expected/com": "geometry_msgs/msg/PointStamped",
    "expected/capture_point": "geometry_msgs/msg/PointStamped",
    "expected/l_sole": "geometry_msgs/msg/WrenchStamped",
    "expected/r_sole": "geometry_msgs/msg/WrenchStamped",
}


@pytest.fixture(scope="module")
def observed(module_simulations, module_listener):
    """A paused simulation, the observer, and lists of what both publish."""
    module_simulations.start(start_paused=True, step_count=200, publish_rate=200.0)
    observer = module_simulations.start_program("hrpsim.ros.recording.analysis_node")
    assert observer.wait_for_line("ready: hrp2_like, soles l_sole, r_sole", LIMIT)
    heard = {topic: module_listener.collect(kind, topic) for topic, kind in TOPICS.items()}
    for sensor in ("lfsensor", "rfsensor"):
        heard[sensor] = module_listener.collect("geometry_msgs/msg/WrenchStamped", sensor)
    return observer, heard


@pytest.mark.long
def test_at_rest_it_expects_what_the_foot_sensors_measure(observed, module_listener):
    _, heard = observed
    assert module_listener.call("/hrpsim/step").success
    assert module_listener.wait_for(
        lambda: all(at_end(heard[topic], 200_000_000) for topic in heard)
    )
    for sole, sensor in (("l_sole", "lfsensor"), ("r_sole", "rfsensor")):
        expected, measured = heard[f"expected/{sole}"][-1], heard[sensor][-1]
        assert expected.header.frame_id == sole == measured.header.frame_id
        # Not across: how much the feet push against each other, only sensors tell.
        assert expected.wrench.force.z == pytest.approx(measured.wrench.force.z, abs=2.0)
    total = sum(heard[f"expected/{sole}"][-1].wrench.force.z for sole in ("l_sole", "r_sole"))
    assert total == pytest.approx(58.0 * 9.80665, rel=1e-3)
    zmp, com = (vector(heard[f"expected/{name}"][-1].point) for name in ("zmp", "com"))
    assert heard["expected/zmp"][-1].header.frame_id == "base_link"
    assert zmp[:2] == pytest.approx(com[:2], abs=1e-3)
    assert zmp[2] == pytest.approx(-0.6487, abs=2e-3)
    point = vector(heard["expected/capture_point"][-1].point)
    assert point == pytest.approx(zmp, abs=1e-3)


def at_end(messages, stamp):
    return bool(messages) and nanoseconds(messages[-1]) >= stamp


@pytest.mark.long
def test_a_joint_state_of_another_robot_is_left_out(observed, module_listener):
    from sensor_msgs.msg import JointState

    observer, heard = observed
    publisher = module_listener.publisher("sensor_msgs/msg/JointState", "joint_states")
    count = len(heard["expected/zmp"])
    module_listener.send(publisher, JointState(name=["elbow_of_someone"], position=[1.0]))
    assert observer.wait_for_line("The robot has 0 of these names", LIMIT)
    assert observer.exit_code is None
    assert len(heard["expected/zmp"]) >= count


@pytest.mark.long
def test_it_ends_at_a_signal(observed):
    observer, _ = observed
    assert observer.stop() == 0
    assert any("observed" in line for line in observer.lines)
