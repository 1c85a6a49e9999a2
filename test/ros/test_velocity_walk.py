# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The walk by velocity over cmd_vel: the same bits as in process."""

from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import Twist, TwistStamped
from ros.messages import nanoseconds
from sensor_msgs.msg import JointState

import hrpsim
from hrpsim.control import ControlLoop, Velocity, VelocityWalk

STATE = "sensor_msgs/msg/JointState"
WORLD = Path(__file__).resolve().parents[2] / "config" / "walking_demo.yaml"
DURATION, EVERY, AHEAD = 6_000_000_000, 100_000_000, 600_000_000  # [ns]
CHANGE = 3_500_000_000  # after it nothing is sent: the walk stops


def velocity_at(time):
    """Return the velocity sent for `time` [ns]."""
    return Velocity(0.15, 0.0, 0.1 if time > 2_000_000_000 else 0.0)


def start(simulations, stamped, answers="joint_commands", **parameters):
    node = simulations.start(world_file=str(WORLD), lockstep=True, **parameters)
    controller = simulations.start_program(
        "hrpsim.ros.controller.controller_node",
        *("--ros-args", "-p", "lockstep:=true", "-p", f"stamped_cmd_vel:={stamped}"),
        *("-p", "controller:=hrpsim.control:VelocityWalk", "-r", f"joint_commands:={answers}"),
    )
    return node, controller


def in_process():
    """Return {time [ns]: joint positions} and how far the base went."""
    robot = next(iter(hrpsim.load_world(WORLD).robots.values()))
    walk, found = VelocityWalk(), {}
    with ControlLoop(robot, walk) as loop:
        for time in range(EVERY, CHANGE, EVERY):
            walk.command_velocity(velocity_at(time), time / 1e9)
        while (now := round(robot.world.time * 1e9)) <= DURATION:
            found[now] = robot.joint_positions
            loop.tick()
    return found, robot.q[:2]


@pytest.mark.long
def test_the_same_bits_over_cmd_vel_and_in_process(simulations, listener):
    """Commands act at their stamps, so that lockstep repeats the walk bit for bit.

    Answers reach the node through the test: time waits until velocities are sent, before they act.
    """
    start(simulations, "true", answers="answers", real_time_factor=0.0)
    states = listener.collect(STATE, "joint_states")
    sender = listener.publisher("geometry_msgs/msg/TwistStamped", "cmd_vel")
    commands = listener.publisher(STATE, "joint_commands")
    unsent = list(range(EVERY, CHANGE, EVERY))

    def hand_over(command):
        while unsent and unsent[0] < nanoseconds(command) + AHEAD:
            message = TwistStamped()
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(unsent[0], 10**9)
            velocity = velocity_at(unsent.pop(0))
            message.twist.linear.x, message.twist.linear.y, message.twist.angular.z = velocity
            sender.publish(message)
        if nanoseconds(command) < DURATION:
            commands.publish(command)

    listener.node.create_subscription(JointState, "answers", hand_over, 100)
    assert listener.wait_for(lambda: states and nanoseconds(states[-1]) == DURATION)
    expected, position = in_process()
    over_topic = {nanoseconds(state): list(state.position) for state in states}
    for time, positions in expected.items():
        assert over_topic[time] == positions.tolist(), time
    assert np.hypot(*position) > 0.2


@pytest.mark.long
def test_the_walk_follows_velocities_for_minutes(simulations, listener):
    """Random velocities, sent at 10 Hz without stamps: it does not fall in two minutes."""
    start(simulations, "false", real_time_factor=0.0)
    poses = listener.collect("nav_msgs/msg/Odometry", "odom")
    sender = listener.publisher("geometry_msgs/msg/Twist", "cmd_vel")
    rng, message, change = np.random.default_rng(1), Twist(), 0
    while not poses or nanoseconds(poses[-1]) < 120e9:
        if poses and nanoseconds(poses[-1]) > change:
            change = nanoseconds(poses[-1]) + 3_000_000_000
            message.linear.x, message.angular.z = rng.uniform((-0.15, -0.2), (0.2, 0.2))
        sender.publish(message)
        listener.spin(0.02)
    assert min(pose.pose.pose.position.z for pose in poses) > 0.6
