# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Publish a command for each message of joint_states. Print the missing messages at the end."""

from __future__ import annotations

import sys
import time

import rclpy
from sensor_msgs.msg import JointState

from hrpsim import load_model, share_path
from hrpsim.control import controlled_joints
from hrpsim.ros.base.polling import PolledSubscription
from hrpsim.ros.base.program import StopSignal, run_program

PERIOD_NS = 1_000_000


def control(stop: StopSignal) -> int:
    """Command the initial positions until a signal arrives."""
    node = rclpy.create_node("plain_controller")
    states = PolledSubscription(node, JointState, "joint_states", 10)
    publisher = node.create_publisher(JointState, "joint_commands", 10)
    while not (states.publisher_count() and publisher.get_subscription_count()):
        time.sleep(0.01)
    stop.loop_started()
    print("ready", flush=True)
    model = load_model(share_path("urdf/hrp2_like.urdf.xacro"))
    command = JointState(name=controlled_joints(model))
    last, count, disorder = None, 0, 0
    while not stop():
        states.wait(0.1)
        for state, _ in states.take_all():
            stamp = state.header.stamp.sec * 1_000_000_000 + state.header.stamp.nanosec
            if last is None:
                places = [state.name.index(name) for name in command.name]
                command.position = [state.position[place] for place in places]
            elif stamp not in (last, last + PERIOD_NS):
                disorder += 1
            count += stamp != last
            last = stamp
            command.header.stamp = state.header.stamp
            publisher.publish(command)
    node.destroy_node()
    print(f"heard {count} states, {disorder} out of order", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(run_program(control, []))
