# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Groups of tests that run at the same time do not meet over ROS."""

import subprocess
import sys
from pathlib import Path

WORKER = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from grouped import own_shared_memory
from hrpsim.ros.base.domain import PrivateDomain

own_shared_memory()
domain = PrivateDomain()
os.environ.update(domain.environment())

import rclpy
from std_msgs.msg import String

contexts = [rclpy.Context() for _ in range(2)]
for context in contexts:
    rclpy.init(context=context)
talker, listener = (
    rclpy.create_node(f"{sys.argv[2]}_{k}", context=context) for k, context in enumerate(contexts)
)
received = []
listener.create_subscription(String, "/said", lambda message: received.append(message.data), 10)
publisher = talker.create_publisher(String, "/said", 10)
executor = rclpy.executors.SingleThreadedExecutor(context=contexts[1])
executor.add_node(listener)

def hear(count):
    del received[:]
    while len(received) < count:
        publisher.publish(String(data=sys.argv[2]))
        executor.spin_once(timeout_sec=0.05)

hear(1)
print("met", flush=True)
input()
hear(20)
said, names = set(received), set()
while len(names) < 2:  # the names come by a topic of their own
    hear(1)
    names = set(listener.get_node_names())
print(*sorted(names), *said)
for context in contexts:
    rclpy.shutdown(context=context)
"""


def test_two_groups_at_once_hear_and_find_their_own_nodes_only():
    """Law: nodes and messages of another worker, on the same topic at the same time, are absent."""
    start = [sys.executable, "-c", WORKER, str(Path(__file__).parents[1])]
    pipe = subprocess.PIPE
    groups = [subprocess.Popen([*start, n], stdin=pipe, stdout=pipe, text=True) for n in "ab"]
    assert [group.stdout.readline() for group in groups] == ["met\n", "met\n"]
    said = [group.communicate("\n")[0].split() for group in groups]
    assert said == [["a_0", "a_1", "a"], ["b_0", "b_1", "b"]]
    assert [group.returncode for group in groups] == [0, 0]
