# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topic cmd_vel, for controllers that walk or drive by velocity."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import Twist, TwistStamped
from rclpy.node import Node

from hrpsim.constants import NANOSECONDS
from hrpsim.control.framework.controller_host import seconds_of
from hrpsim.control.pattern.velocity_footsteps import Velocity
from hrpsim.errors import HrpsimError
from hrpsim.ros.base import qos
from hrpsim.ros.base.faults import Faults, Rejections
from hrpsim.ros.base.polling import PolledSubscription
from hrpsim.ros.base.stamps import Stamp

_LONGEST_LEAD = NANOSECONDS  # a stamp further ahead is of another clock


class VelocityListener:
    """Hands the velocities of cmd_vel to a controller's `command_velocity`.

    Of a Twist it takes linear.x, linear.y and angular.z. One counts from the time of its stamp on,
    if that lies at most 1 s of simulated time ahead; any other, and one without a stamp, from now.

    Args:
        node: of the controller.
        controller: that has `command_velocity(velocity, time)`.
        stamped: whether the topic has TwistStamped in place of Twist.
    """

    def __init__(self, node: Node, controller: Any, stamped: bool):
        kind = TwistStamped if stamped else Twist
        self._subscription = PolledSubscription(node, kind, "cmd_vel", qos.COMMAND)
        self._controller, self._stamped = controller, stamped
        self.rejections = Rejections(node.get_logger(), Faults(node.get_logger))

    def poll(self, now: Stamp) -> None:
        """Take what has arrived; invalid messages are counted and logged."""
        for message, _ in self._subscription.take_all():
            try:
                twist = message.twist if self._stamped else message
                velocity = Velocity(twist.linear.x, twist.linear.y, twist.angular.z)
                if not np.isfinite(velocity).all():
                    raise HrpsimError("it has values that are not finite")
                self._controller.command_velocity(velocity, seconds_of(self._time(message, now)))
            except Exception as error:
                self.rejections.note(error, self._subscription.topic, "the walk continues")

    def _time(self, message, now: Stamp) -> int:
        """Return the time from which a message counts [ns]."""
        if not self._stamped:
            return now.total
        stamp = Stamp(message.header.stamp.sec, message.header.stamp.nanosec).total
        return stamp if 0 < stamp - now.total <= _LONGEST_LEAD else now.total
