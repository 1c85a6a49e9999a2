# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The ROS node of the demo's own process: resumes the simulation and watches the base."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import rclpy
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import Trigger

from hrpsim.ros.base import qos
from hrpsim.world.objects.fall import FallWatch


class DemoMonitor:
    """Follows `odom` in a domain of this machine and measures simulated and wall time."""

    def __init__(self, domain_id: int):
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        self._context = Context()
        rclpy.init(
            context=self._context,
            domain_id=domain_id,
            signal_handler_options=SignalHandlerOptions.NO,
        )
        self._node = Node("demo_monitor", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._node.create_subscription(Odometry, "odom", self._on_odometry, qos.STATE)
        self.fall = FallWatch()
        self.simulated = 0.0  # [s]
        self.fell_at: float | None = None  # [s]
        self.last_progress = time.monotonic()
        self._first_progress: tuple[float, float] | None = None  # simulated, wall [s]

    @property
    def real_time_factor(self) -> float:
        """Simulated seconds for each second of wall time since the first progress."""
        if self._first_progress is None:
            return 0.0
        simulated, wall = self._first_progress
        return (self.simulated - simulated) / max(self.last_progress - wall, 1e-9)

    def resume(self, timeout: float, check: Callable[[], object]) -> bool:
        """Call ~/resume of the simulation and return whether it answered within `timeout` [s].

        check: called meanwhile; an exception that it raises ends the wait.
        """
        end = time.monotonic() + timeout
        client = self._node.create_client(Trigger, "hrpsim/resume")
        if not self._wait(client.service_is_ready, end, check):
            return False
        self.last_progress = time.monotonic()
        while (now := time.monotonic()) < end:  # an answer can get lost; a second call is harmless
            answer = client.call_async(Trigger.Request())
            if self._wait(answer.done, min(end, now + 5.0), check):
                return answer.result().success
        return False

    def _wait(self, condition: Callable[[], bool], end: float, check: Callable[[], object]) -> bool:
        """Return whether the condition becomes true before `end`."""
        while not condition():
            if time.monotonic() > end:
                return False
            check()
            self._executor.spin_once(timeout_sec=0.05)
        return True

    def update(self, timeout: float) -> None:
        """Process the messages that arrive within `timeout` [s]."""
        end = time.monotonic() + timeout
        while (remaining := end - time.monotonic()) > 0:
            self._executor.spin_once(timeout_sec=remaining)

    def close(self) -> None:
        """Leave the ROS graph."""
        self._executor.shutdown(timeout_sec=1.0)
        self._node.destroy_node()
        self._context.try_shutdown()
        self._context.destroy()

    def _on_odometry(self, message: Odometry) -> None:
        stamp, pose = message.header.stamp, message.pose.pose
        simulated = stamp.sec + 1e-9 * stamp.nanosec
        if simulated > self.simulated:
            self.last_progress = time.monotonic()
            self._first_progress = self._first_progress or (simulated, self.last_progress)
        self.simulated = simulated
        turn = pose.orientation
        self.fall.add(pose.position.z, (turn.x, turn.y, turn.z, turn.w))
        if self.fell_at is None and self.fall.fallen:
            self.fell_at = simulated
