# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The end of a controller: its last commands are heard, however long a listener takes."""

import os
import signal
import subprocess
import sys

import numpy as np
import rclpy
from ros.conftest import LIMIT

from hrpsim.control import Command
from hrpsim.ros.base.stamps import Stamp
from hrpsim.ros.controller import controller_topics
from hrpsim.ros.controller.controller_topics import CommandPublisher

COUNT = 900
LISTENER = f"""
import rclpy
from rclpy.event_handler import SubscriptionEventCallbacks
from sensor_msgs.msg import JointState
from hrpsim.ros.base import qos

rclpy.init()
node = rclpy.create_node("slow_recorder")
heard = []

def tell(publishers):
    if publishers.current_count_change > 0:
        print("listens", flush=True)

known = SubscriptionEventCallbacks(matched=tell)
node.create_subscription(
    JointState, "/last/joint_commands", heard.append, qos.STATE, event_callbacks=known
)
while len(heard) < {COUNT}:
    rclpy.spin_once(node)
print(heard[-1].header.stamp.sec, flush=True)
"""


def test_a_listener_that_sleeps_hears_the_last_commands(listener, monkeypatch):
    """Law: a publisher waits until who listens has all of its commands; then it may go."""
    monkeypatch.setattr(controller_topics, "_DELIVERY", LIMIT)
    node = rclpy.create_node("last", namespace="/last", context=listener.context)
    commands = CommandPublisher(node, ("hip", "knee"))
    recorder = subprocess.Popen(
        [sys.executable, "-c", LISTENER], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    wakes = None
    try:
        assert recorder.stdout.readline() == "listens\n"
        assert listener.wait_for(lambda: commands.listener_count, LIMIT)
        recorder.send_signal(signal.SIGSTOP)
        # By a process of its own: rclpy lets no other thread run while it waits.
        wakes = subprocess.Popen(["sh", "-c", f"sleep 0.6; kill -CONT {recorder.pid}"])
        for number in range(COUNT):
            commands.publish(Stamp(number + 1, 0), Command(np.zeros(2)))
        commands.wait_until_delivered()
        node.destroy_node()
        assert recorder.stdout.readline() == f"{COUNT}\n"
    finally:
        recorder.kill()
        recorder.wait()
        if wakes is not None:
            wakes.wait()
