# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A ROS 2 node steps a simulator in a separate process, and weighs the robot."""

import subprocess
import sys
from functools import partial

import rclpy
from geometry_msgs.msg import WrenchStamped
from std_srvs.srv import Trigger

NODE = "hrpsim.ros.simulation.node"  # what the command hrpsim_node runs
PARAMETERS = ["-p", "start_paused:=true", "-p", "step_count:=100"]


def wait_for(node, condition, limit=60.0):
    """Spin the node until the condition is true."""
    for _ in range(round(limit / 0.1)):
        if condition():
            return
        rclpy.spin_once(node, timeout_sec=0.1)
    raise TimeoutError("the simulator does not answer")


def is_measured_at(time, messages):
    """Return whether all messages have this time stamp [ns]."""
    return all(message.header.stamp.nanosec == time for message in messages.values())


simulator = subprocess.Popen([sys.executable, "-m", NODE, "--ros-args", *PARAMETERS])
rclpy.init()
node = rclpy.create_node("weigher")
try:
    latest: dict[str, WrenchStamped] = {}
    for foot in ("lfsensor", "rfsensor"):
        node.create_subscription(WrenchStamped, foot, partial(latest.__setitem__, foot), 10)
    step = node.create_client(Trigger, "/hrpsim/step")
    wait_for(node, lambda: step.service_is_ready() and len(latest) == 2)
    for count in range(1, 4):
        answer = step.call_async(Trigger.Request())
        wait_for(node, answer.done)
        assert answer.result().success, answer.result().message
        end = 100_000_000 * count  # [ns]: a hundred steps of 1 ms each time
        wait_for(node, partial(is_measured_at, end, latest))
        load = sum(m.wrench.force.z for m in latest.values())
        print(f"{answer.result().message}: the feet bear {load:.2f} N")
        assert abs(load - 58.0 * 9.80665) < 0.01
finally:
    node.destroy_node()
    rclpy.shutdown()
    simulator.terminate()
assert simulator.wait(30) == 0
