# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""cmd_vel of a controller: the velocities, and warnings of doubtful messages and publishers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from rclpy.node import Node

from hrpsim.common.constants import NANOSECONDS
from hrpsim.common.errors import HrpsimError
from hrpsim.control.framework.controller_host import seconds_of
from hrpsim.control.pattern.velocity_footsteps import Velocity
from hrpsim.engine.step.scene.status import LARGEST_COMMAND
from hrpsim.model.readers.plausibility import if_degrees
from hrpsim.ros.base import qos
from hrpsim.ros.base.faults import Faults, Rejections
from hrpsim.ros.base.graph_faults import PublisherWatch, astray, name_of, unheard
from hrpsim.ros.base.polling import PolledSubscription
from hrpsim.ros.base.stamps import Stamp

TOPIC = "cmd_vel"
_HINT = ". The parameter stamped_cmd_vel chooses between Twist and TwistStamped"
_LARGEST_LEAD = NANOSECONDS  # a stamp further from simulated time is of another clock
_FASTEST = 2.0 * np.pi  # largest plausible velocity of a walk [m/s, rad/s]
_FIXED = ("map", "odom", "earth", "world")  # frames of REP 105 that do not move with the robot


class VelocityListener:
    """Subscriber of cmd_vel that passes the velocities to a controller's `command_velocity`.

    Only linear.x, linear.y and angular.z of a Twist are used. A Twist applies from the time of its
    stamp, if the stamp is at most 1 s of simulated time ahead. Any other Twist, or a Twist without
    a stamp, applies at once. Doubtful messages and publishers are logged once for each kind.

    Args:
        node: node of the controller.
        controller: object with a method `command_velocity(velocity, time)`.
        stamped: whether the topic's type is TwistStamped instead of Twist.
    """

    def __init__(self, node: Node, controller: Any, stamped: bool) -> None:
        kind = TwistStamped if stamped else Twist
        self._subscription = PolledSubscription(node, kind, TOPIC, qos.COMMAND)
        self._controller, self._stamped, self._node = controller, stamped, node
        self._watch = PublisherWatch(node, self._unreceived)
        self.rejections = Rejections(node.get_logger(), Faults(node.get_logger))

    def poll(self, now: Stamp) -> None:
        """Take the messages that have arrived. Count and log invalid messages."""
        self._watch.poll()
        for message, _ in self._subscription.take_all():
            try:
                twist = message.twist if self._stamped else message
                velocity = Velocity(twist.linear.x, twist.linear.y, twist.angular.z)
                if not (np.abs(velocity) <= LARGEST_COMMAND).all():
                    raise HrpsimError(f"a velocity must be finite and at most {LARGEST_COMMAND:g}")
                for kind, text in self._doubts(message, twist, now):
                    self._watch.log_once(kind, f"{self._subscription.topic}: {text}")
                self._controller.command_velocity(velocity, seconds_of(self._time(message, now)))
            except Exception as error:
                self.rejections.note(error, self._subscription.topic, "the walk continues")

    def _doubts(self, message, twist: Twist, now: Stamp) -> Iterator[tuple[str, str]]:
        """Yield (kind, text) for each sign of a mistake in a message."""
        linear, angular = twist.linear, twist.angular
        others = {"linear.z": linear.z, "angular.x": angular.x, "angular.y": angular.y}
        if idle := [name for name, value in others.items() if value]:
            has = "has" if len(idle) == 1 else "have"
            used = "linear.x, linear.y and angular.z"
            yield "idle", f"{' and '.join(idle)} {has} no effect. A walk uses {used}"
        if (fastest := max(abs(linear.x), abs(linear.y))) > _FASTEST:
            yield "fast", f"{fastest:g} m/s is too fast for a walk. The steps cannot follow"
        if abs(angular.z) > _FASTEST:
            yield "turn", f"{angular.z:g} rad/s is too fast for a walk ({if_degrees(angular.z)})"
        if self._stamped:
            yield from self._doubts_of_header(message.header, now)

    def _doubts_of_header(self, header, now: Stamp) -> Iterator[tuple[str, str]]:
        if header.frame_id in _FIXED:
            frame = header.frame_id
            yield "frame", f"frame_id {frame!r} has no effect. Velocities are in the robot's frame"
        stamp = Stamp(header.stamp.sec, header.stamp.nanosec).total
        if stamp and abs(stamp - now.total) > _LARGEST_LEAD:
            away = (stamp - now.total) / NANOSECONDS
            yield (
                "stamp",
                f"the stamp is {away:.3g} s from simulated time, so the velocity applies at once."
                " Zero means now (does the sender lack use_sim_time?)",
            )

    def _unreceived(self) -> list[str]:
        """Return a text for each publisher that is not received here."""
        topic = self._subscription.topic
        texts = [text + (_HINT if "/Twist" in text else "") for text in unheard(self._node, topic)]
        return texts + astray(self._node, [topic])

    def _time(self, message, now: Stamp) -> int:
        """Return the time from which a velocity applies [ns]."""
        if not self._stamped:
            return now.total
        stamp = Stamp(message.header.stamp.sec, message.header.stamp.nanosec).total
        return stamp if 0 < stamp - now.total <= _LARGEST_LEAD else now.total


def unused_velocities(node: Node) -> list[str]:
    """Return a text for each publisher of cmd_vel if nobody receives the topic."""
    topic = node.resolve_topic_name(TOPIC)
    if node.count_subscribers(topic):
        return []
    return [
        f"{name_of(info)} publishes {topic}, which nobody receives: this controller does not walk "
        "by velocity (VelocityWalk does)"
        for info in node.get_publishers_info_by_topic(topic)
    ]
