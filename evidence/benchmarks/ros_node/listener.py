# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Subscribe to one topic until a signal arrives.

Print the numbers of received and lost messages.
"""

from __future__ import annotations

import importlib
import json
import sys
import time

import numpy as np
import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message

from hrpsim.ros.base.polling import PolledSubscription
from hrpsim.ros.base.program import StopSignal, run_program

TIME_STEP_NS = 1_000_000
UNTIMED = ("/tf_static", "/robot_description", "/diagnostics")
LATCHED = ("/tf_static", "/robot_description")


def listen(topic: str, type_name: str, stop: StopSignal) -> int:
    """Count the messages of `topic` until a signal arrives."""
    package, _, name = type_name.split("/")
    kind = getattr(importlib.import_module(f"{package}.msg"), name)
    transient = topic in LATCHED
    durability = DurabilityPolicy.TRANSIENT_LOCAL if transient else DurabilityPolicy.VOLATILE
    node = rclpy.create_node("listener_" + topic.strip("/").replace("/", "_"))
    quality = QoSProfile(depth=5000, durability=durability)
    subscription = PolledSubscription(node, kind, topic, quality, raw=True)
    while not subscription.publisher_count() and not stop():
        time.sleep(0.01)
    stop.loop_started()
    print("ready", flush=True)
    numbers, sent, stamps = [], [], []
    while not stop():
        for data, info in subscription.take_all():
            numbers.append(info["publication_sequence_number"])
            sent.append(info["source_timestamp"])
            if topic not in UNTIMED:
                stamps.append(_stamp(deserialize_message(data, kind)))
        time.sleep(0.005)
    node.destroy_node()
    print(json.dumps(_missing(numbers, sent, stamps)), flush=True)
    return 0


def _stamp(message) -> int | None:
    """Return the stamp of a message [ns], or None if the message is a list without elements."""
    for field in ("transforms", "markers"):
        if hasattr(message, field):
            message = next(iter(getattr(message, field)), None)
    if message is None:
        return None
    stamp = message.clock if hasattr(message, "clock") else message.header.stamp
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def _missing(numbers: list[int], sent: list[int], stamps: list[int | None]) -> dict:
    """Return counts of lost messages and of irregular stamps, and the jitter [us].

    While the node is paused, stamps are repeated at 10 Hz. These intervals do not count.
    """
    steps = np.diff(np.array(numbers, dtype=np.int64))
    times = np.array([stamp for stamp in stamps if stamp], dtype=np.int64)
    periods = np.diff(times)
    moving = periods[periods != 0]
    regular = int(np.median(moving)) if moving.size else 0
    lost = int(np.sum(steps[steps > 1] - 1)) + int(np.sum(steps < 1))
    jitter = [0.0]
    if regular == TIME_STEP_NS:
        between = np.diff(np.array(sent, dtype=np.int64)[-len(times) :])[periods == TIME_STEP_NS]
        jitter = (np.abs(between[1000:] - TIME_STEP_NS) / 1e3).tolist()
    return {
        "count": len(numbers),
        "last": int(times[-1]) if times.size else 0,
        "period": regular,
        "lost": lost,
        "gaps": int(np.sum(moving != regular)),
        "jitter": jitter,
    }


if __name__ == "__main__":
    sys.exit(run_program(lambda stop: listen(*sys.argv[1:], stop), []))
