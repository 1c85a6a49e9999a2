# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The node as hardware of ros2_control: what its topic hardware interface sends and expects."""

import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from rclpy.qos import DurabilityPolicy, QoSProfile
from ros.stepped import SteppedSimulation
from ros.topic_hardware import TopicHardware
from sensor_msgs.msg import JointState

from hrpsim import load_model
from hrpsim.control.motion.motion_sequence import smooth_step
from hrpsim.ros.robot.joint_commands import split_by_nan
from robots import HRP2_LIKE

ROOT = Path(__file__).resolve().parents[2]
ARM = [f"RARM_JOINT{k}" for k in range(7)]
NAN = math.nan


class Rig(SteppedSimulation):
    """A paused simulation, and a hardware interface made from the description that it publishes."""

    def __init__(self, listener):
        super().__init__(listener)
        listener.set_parameter("step_count", 20)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        texts = listener.collect("std_msgs/msg/String", "robot_description", latched)
        assert listener.wait_for(lambda: texts)
        self.hardware = TopicHardware(listener.node, texts[0].data)
        publisher = self.hardware.publisher
        assert listener.wait_for(lambda: publisher.get_subscription_count() > 0)
        listener.meet(listener.node.get_subscriptions_info_by_topic, publisher.topic_name)
        self.plain = listener.publisher("sensor_msgs/msg/JointState", "joint_commands")

    def start_over(self):
        self.listener.call("/hrpsim/reset")
        for key in self.hardware.commands:
            self.hardware.commands[key] = NAN
        self.log.clear()

    def step(self):
        """Let the node make its steps and the interface read; return {joint: position}."""
        self.call("step")
        assert self.listener.wait_for(lambda: self.hardware.latest == self.states[-1])
        self.hardware.read()
        return dict(zip(self.states[-1].name, self.states[-1].position))

    def write(self):
        """Let the interface write; return whether it sends. What it sends is taken in its order."""
        return self.hardware.write()


@pytest.fixture(scope="module")
def shared_rig(paused_simulation, module_listener):
    return Rig(module_listener)


@pytest.fixture
def rig(shared_rig):
    shared_rig.start_over()
    return shared_rig


def test_the_interface_finds_all_that_it_looks_for(rig):
    rig.step()
    assert rig.hardware.parameters["joint_commands_topic"] == "joint_commands"
    assert rig.hardware.parameters["joint_states_topic"] == "joint_states"
    assert len(rig.hardware.joints) == 30
    assert all(math.isfinite(value) for value in rig.hardware.states.values())
    knee = rig.states[-1].name.index("RLEG_JOINT3")
    assert rig.hardware.states["RLEG_JOINT3/position"] == rig.states[-1].position[knee]
    assert rig.hardware.states["RLEG_JOINT3/effort"] == rig.states[-1].effort[knee]


def test_before_any_controller_runs_the_robot_holds_its_posture(rig):
    """Commands that nobody set are NaN, and they are sent in every cycle."""
    expected = [rig.step() for _ in range(5)]
    rig.start_over()
    for posture in expected:
        assert rig.write()
        assert rig.step() == posture
    assert rig.listener.wait_for(rig.warnings)
    (warning,) = rig.warnings()
    assert "NaN" in warning
    assert "RLEG_JOINT0" in warning


def test_a_controller_of_one_arm_leaves_the_other_joints_alone(rig):
    """NaN for all but the arm is, to the bit, a message that names the arm only."""
    targets = [0.1, -0.2, 0.1, -0.5, 0.1, 0.1, 0.05]

    def course(send):
        rig.start_over()
        rig.step()
        send()
        return [rig.step() for _ in range(10)]

    def by_hardware():
        for name, target in zip(ARM, targets):
            rig.hardware.commands[f"{name}/position"] = target
        assert rig.write()

    def by_name():
        rig.listener.send(rig.plain, JointState(name=ARM, position=targets))

    assert course(by_hardware) == course(by_name)
    arm = [rig.hardware.states[f"{name}/position"] for name in ARM]
    assert arm == pytest.approx(targets, abs=0.05)


def test_a_whole_body_trajectory_is_followed(rig):
    """A controller of all joints: from where they are, in half a second, and hold."""
    start = rig.step()
    goal = dict(start)
    goal.update({"RARM_JOINT3": -0.8, "LARM_JOINT3": -0.8, "CHEST_JOINT0": 0.2, "HEAD_JOINT1": 0.3})
    for cycle in range(1, 41):
        share = float(smooth_step(cycle * 0.02 / 0.5))
        for name in rig.hardware.joints:
            position = start[name] + share * (goal[name] - start[name])
            rig.hardware.commands[f"{name}/position"] = position
        rig.write()
        reached = rig.step()
    for name in ("RARM_JOINT3", "LARM_JOINT3", "CHEST_JOINT0", "HEAD_JOINT1"):
        assert reached[name] == pytest.approx(goal[name], abs=0.01), name
    assert abs(reached["RLEG_JOINT3"] - start["RLEG_JOINT3"]) < 0.02
    assert not rig.warnings()


def test_commands_that_the_states_have_reached_are_not_sent_and_still_hold(rig):
    rig.step()
    for name in rig.hardware.joints:
        key = f"{name}/position"
        rig.hardware.commands[key] = rig.hardware.states[key]
    assert not rig.write()
    rig.hardware.commands["HEAD_JOINT0/position"] += 0.2
    assert rig.write()
    for _ in range(20):
        reached = rig.step()
    assert reached["HEAD_JOINT0"] == pytest.approx(
        rig.hardware.commands["HEAD_JOINT0/position"], abs=0.01
    )


def test_joints_with_different_interfaces_make_messages_that_are_refused(rig):
    """The interface appends a value only where there is one: it is unclear whose it is."""
    rig.step()
    del rig.hardware.commands["HEAD_JOINT0/position"]
    rig.hardware.joints["HEAD_JOINT0"] = []
    try:
        rig.write()
        rig.step()
        assert rig.listener.wait_for(rig.warnings)
        assert "'position' has 29 values for 30 names" in rig.warnings()[-1]
    finally:
        rig.hardware.joints["HEAD_JOINT0"] = ["position"]
        rig.hardware.commands["HEAD_JOINT0/position"] = NAN


def test_infinity_in_a_message_with_nan_changes_nothing(rig):
    expected = [rig.step() for _ in range(3)]
    rig.start_over()
    assert rig.step() == expected[0]
    message = JointState(name=ARM[:3], position=[0.5, NAN, 0.5], velocity=[1.0, 1.0, math.inf])
    rig.listener.send(rig.plain, message)
    assert [rig.step(), rig.step()] == expected[1:]
    assert rig.listener.wait_for(rig.warnings)
    assert ARM[2] in rig.warnings()[0]


def test_joints_are_told_apart_by_their_nan():
    """Law: a joint with any value is commanded, one with some values and some NaN is named."""
    values = [np.array([1.0, NAN, 3.0, NAN]), np.array([5.0, NAN, NAN, 8.0])]
    assert split_by_nan("abcd", values) == (["a", "c", "d"], ["c", "d"])
    assert split_by_nan("ab", [np.array([1.0, 2.0])]) == (["a", "b"], [])


def test_controllers_of_the_file_have_the_joints_and_interfaces_of_the_robot():
    parameters = yaml.safe_load((ROOT / "config" / "ros2_control.yaml").read_text())
    parameters = {name.removeprefix("/**/"): p["ros__parameters"] for name, p in parameters.items()}
    manager = parameters.pop("controller_manager")
    declared = {name for name, value in manager.items() if isinstance(value, dict)}
    assert declared == set(parameters)
    model = load_model(HRP2_LIKE)
    commanded = [name for name, kinds in model.command_interfaces.items() if "position" in kinds]
    chains = [
        parameters[name]["joints"]
        for name in parameters
        if manager[name]["type"] == "position_controllers/JointGroupPositionController"
    ]
    assert sorted(name for chain in chains for name in chain) == sorted(commanded)
    assert parameters["joint_trajectory_controller"]["joints"] == commanded
    assert parameters["joint_state_broadcaster"]["use_local_topics"]


def test_the_launch_file_starts_controllers_of_the_file():
    text = (ROOT / "launch" / "ros2_control.launch.py").read_text()
    default = text.split('"controllers",\n        "')[1].split('"')[0].split()
    parameters = yaml.safe_load((ROOT / "config" / "ros2_control.yaml").read_text())
    assert {f"/**/{name}" for name in default} <= set(parameters)
    rate = float(text.split('publish_rate="')[1].split('"')[0])
    manager = parameters["/**/controller_manager"]["ros__parameters"]
    assert rate >= manager["update_rate"]
