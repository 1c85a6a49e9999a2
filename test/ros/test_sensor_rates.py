# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sensors at rates of their own, by description and parameter; mimic joints in joint_states."""

import numpy as np
import pytest
from ros.conftest import LIMIT
from ros.messages import nanoseconds, stamps

ROBOT = """<robot name="arm">
<link name="world"/>
<link name="upper"><inertial><mass value="1"/><origin xyz="0 0 -0.2"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="slide"><inertial><mass value="1"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="world"/><child link="upper"/>
  <axis xyz="0 1 0"/></joint>
<joint name="rail" type="prismatic"><parent link="world"/><child link="slide"/><axis xyz="1 0 0"/>
  <origin xyz="0 2 0"/><limit lower="-1" upper="1" effort="100" velocity="10"/>
  <mimic joint="hinge" multiplier="0.1" offset="0.02"/></joint>
<hrpsim reference="hinge"><gains kp="50" kd="5"/></hrpsim>
<hrpsim reference="upper"><sensor name="fast" type="imu"/></hrpsim>
<hrpsim reference="upper"><sensor name="slow" type="imu" rate="100"/></hrpsim>
<hrpsim reference="hinge"><sensor name="force" type="force_torque" rate="70"/></hrpsim>
</robot>"""


@pytest.fixture
def started(simulations, tmp_path):
    """Return how to start a node with the arm at 500 Hz, paused; a call of ~/step is 0.1 s."""
    (tmp_path / "arm.urdf").write_text(ROBOT)
    world = tmp_path / "world.yaml"
    world.write_text(
        f"robots: [{{name: arm, urdf: {tmp_path}/arm.urdf, base: fixed, "
        "joints: {hinge: 0.3, rail: 0.05}}]\n"
    )

    def start(**more):
        return simulations.start(
            world_file=world, start_paused=True, publish_rate=500.0, step_count=100, **more
        )

    return start


def steps_of(listener, topics, end):
    """Return the stamps [ms] of each topic over calls of ~/step up to a time [ms]."""
    begin = max(nanoseconds(messages[-1]) for messages in topics.values()) // 1_000_000
    for messages in topics.values():
        messages.clear()
    for _ in range(begin, end, 100):
        assert listener.call("/hrpsim/step").success
    last = 1_000_000 * end
    assert listener.wait_for(lambda: all(m and nanoseconds(m[-1]) == last for m in topics.values()))
    return {topic: np.unique(stamps(messages)) // 1_000_000 for topic, messages in topics.items()}


def test_each_sensor_has_its_rate(started, listener):
    """Law: stamps are the whole multiples of a sensor's period, itself one of the state's."""
    started(**{"rates.fast": 250.0})
    topics = {
        "joint_states": listener.collect("sensor_msgs/msg/JointState", "joint_states"),
        "fast/data": listener.collect("sensor_msgs/msg/Imu", "fast/data"),
        "slow/data": listener.collect("sensor_msgs/msg/Imu", "slow/data"),
        "force": listener.collect("geometry_msgs/msg/WrenchStamped", "force"),
    }
    assert listener.wait_for(lambda: all(topics.values()))
    found = steps_of(listener, topics, 200)
    stands = np.arange(0, 201, 100)  # where time stands still all is told, sooner or later
    periods = {"joint_states": 2, "fast/data": 4, "slow/data": 10, "force": 14}
    for topic, period in periods.items():
        expected = np.arange(period, 200, period)
        assert set(found[topic]) <= set(expected) | set(stands), topic
        assert set(expected) <= set(found[topic]), topic

    assert listener.set_parameter("rates.slow", 0.0).successful
    assert not listener.set_parameter("rates.slow", -1.0).successful
    assert not listener.set_parameter("rates.nose", 10.0).successful
    found = steps_of(listener, topics, 300)
    assert set(np.arange(202, 301, 2)) <= set(found["slow/data"])


def test_mimic_joints_are_among_the_states_in_their_units(started, listener):
    """Law: a rail that mimics a hinge is told in m and m/s: ratio times rad, and the offset."""
    started()
    states = listener.collect("sensor_msgs/msg/JointState", "joint_states")
    assert listener.call("/hrpsim/step").success
    assert listener.wait_for(lambda: states and nanoseconds(states[-1]) == 100_000_000)
    told = states[-1]
    assert sorted(told.name) == ["hinge", "rail"]
    position, velocity = (dict(zip(told.name, v)) for v in (told.position, told.velocity))
    assert abs(position["hinge"]) > 0.01
    assert position["rail"] == pytest.approx(0.1 * position["hinge"] + 0.02, abs=1e-6)
    assert velocity["rail"] == pytest.approx(0.1 * velocity["hinge"], abs=1e-5)
    assert len(told.effort) == 2


def test_rates_of_a_sensor_that_does_not_exist_are_refused_by_name(simulations, tmp_path):
    node = simulations.start_program(
        "hrpsim.ros.simulation.node", "--ros-args", "-p", "rates.rfsenor:=10.0"
    )
    assert node.wait(LIMIT) == 1
    assert any("Did you mean 'rfsensor'" in line for line in node.lines)
