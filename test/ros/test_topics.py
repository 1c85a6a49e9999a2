# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Every topic of the running node: type, frame, quality of service, rate and meaning."""

import numpy as np
import pytest
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy, qos_profile_sensor_data
from ros.messages import nanoseconds, stamps, vector

import hrpsim
from hrpsim.ros.base import qos

STATE_PERIOD = 5_000_000  # [ns] 200 Hz
TF_PERIOD = 20_000_000  # [ns] 50 Hz

FORCE_SENSORS = {"lf": "l_sole", "rf": "r_sole", "lh": "LARM_LINK5", "rh": "RARM_LINK5"}
STATE_TOPICS = {
    "/joint_states": ("sensor_msgs/msg/JointState", ""),
    **{f"/{k}sensor": ("geometry_msgs/msg/WrenchStamped", at) for k, at in FORCE_SENSORS.items()},
    "/imu/data": ("sensor_msgs/msg/Imu", "BODY"),
    "/odom": ("nav_msgs/msg/Odometry", "odom"),
}


@pytest.fixture(scope="module")
def settled(paused_simulation, module_listener):
    """The messages of every state topic from the last 5 of 20 s of standing."""
    listener = module_listener
    listener.set_parameter("step_count", 15_000)
    assert listener.call("/hrpsim/step").success
    received = {t: listener.collect(kind, t) for t, (kind, _) in STATE_TOPICS.items()}
    received["/clock"] = listener.collect("rosgraph_msgs/msg/Clock", "/clock")
    listener.set_parameter("step_count", 500)
    # In bursts of 100 messages: one that gets lost on the way is sent again within 3 s.
    for end in range(15_500_000_000, 20_000_000_001, 500_000_000):
        assert listener.call("/hrpsim/step").success
        assert listener.wait_for(lambda: have_reached(end, received))  # noqa: B023
    return received


def have_reached(end, received):
    return all(messages and nanoseconds(messages[-1]) == end for messages in received.values())


@pytest.mark.parametrize("topic", STATE_TOPICS)
def test_frame_and_rate(settled, topic):
    assert {m.header.frame_id for m in settled[topic]} == {STATE_TOPICS[topic][1]}
    assert set(np.diff(stamps(settled[topic]))) <= {0, STATE_PERIOD}  # 0: repeated in a pause
    assert nanoseconds(settled[topic][0]) <= 15 * 10**9 + STATE_PERIOD


def test_clock_keeps_step_with_the_states(settled):
    assert set(np.diff(stamps(settled["/clock"]))) <= {0, STATE_PERIOD}


@pytest.mark.parametrize("topic", [*STATE_TOPICS, "/clock", "/tf"])
def test_state_topics_are_reliable_and_volatile(paused_simulation, module_listener, topic):
    offers = module_listener.node.get_publishers_info_by_topic
    assert module_listener.wait_for(lambda: offers(topic))
    (offer,) = offers(topic)
    assert offer.qos_profile.reliability == ReliabilityPolicy.RELIABLE
    assert offer.qos_profile.durability == DurabilityPolicy.VOLATILE


@pytest.mark.parametrize("topic", ["/robot_description", "/tf_static"])
def test_latched_topics_reach_late_listeners(paused_simulation, listener, topic):
    kind = {"/robot_description": "std_msgs/msg/String", "/tf_static": "tf2_msgs/msg/TFMessage"}
    received = listener.collect(kind[topic], topic, qos.LATCHED)
    assert listener.wait_for(lambda: received)
    (offer,) = listener.node.get_publishers_info_by_topic(topic)
    assert offer.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL


def test_best_effort_listeners_match_too(paused_simulation, listener):
    received = listener.collect(
        "geometry_msgs/msg/WrenchStamped", "lfsensor", qos_profile_sensor_data
    )
    assert listener.call("/hrpsim/step").success
    assert listener.wait_for(lambda: received)


def test_description_and_joint_states_name_the_same_joints(settled, listener):
    received = listener.collect("std_msgs/msg/String", "robot_description", qos.LATCHED)
    assert listener.wait_for(lambda: received)
    model = hrpsim.load_model(received[0].data)
    state = settled["/joint_states"][-1]
    assert tuple(state.name) == model.joint_names
    assert len(state.position) == len(state.velocity) == len(state.effort) == len(state.name)


def test_imu_reads_plus_g_at_rest(settled):
    imu = settled["/imu/data"][-1]
    acceleration = vector(imu.linear_acceleration)
    turn = imu.orientation
    up = rotate_back((turn.x, turn.y, turn.z, turn.w), [0.0, 0.0, 1.0])
    assert acceleration == pytest.approx(9.80665 * up, abs=1e-4)
    assert vector(imu.angular_velocity) == pytest.approx(np.zeros(3), abs=1e-5)
    assert imu.orientation_covariance[0] > 0


def test_feet_carry_the_weight(settled, listener):
    received = listener.collect("std_msgs/msg/String", "robot_description", qos.LATCHED)
    assert listener.wait_for(lambda: received)
    weight = hrpsim.load_model(received[0].data).mass * 9.80665
    left, right = (settled[t][-1].wrench for t in ("/lfsensor", "/rfsensor"))
    assert left.force.z + right.force.z == pytest.approx(weight, rel=1e-6)
    assert left.force.z == pytest.approx(right.force.z, rel=0.05)


def test_odometry_is_the_base_in_the_world(settled):
    odometry = settled["/odom"][-1]
    assert odometry.child_frame_id == "base_link"
    assert odometry.pose.pose.position.z == pytest.approx(0.6487, abs=0.02)
    assert vector(odometry.twist.twist.linear) == pytest.approx(np.zeros(3), abs=1e-3)


def rotate_back(quaternion, v):
    """Return R^T v for a quaternion xyzw."""
    x, y, z, w = quaternion
    axis, v = -np.array([x, y, z]), np.array(v)
    return v + 2 * w * np.cross(axis, v) + 2 * np.cross(axis, np.cross(axis, v))
