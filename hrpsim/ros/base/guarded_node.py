# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A node that goes on whatever its callbacks raise, and whose publishers count what they send."""

from __future__ import annotations

from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.publisher import Publisher

from hrpsim.ros.base.faults import Faults


class CountingPublisher(Publisher):
    """A publisher; `sent` holds how many messages went out, in a list that templates share."""

    def __init__(self, *arguments, **options):
        self.sent = [0]
        super().__init__(*arguments, **options)

    def publish(self, message) -> None:
        """Publish a message and count it."""
        super().publish(message)
        self.sent[0] += 1


class GuardedNode(Node):
    """Wraps every callback where it is made: services, subscriptions, timers.

    A service answers an error with what it says, the services of parameters too; a message or a
    turn of a timer that cannot be dealt with is left out. `faults` counts what was the node's own
    doing and logs it with its traceback.
    """

    def __init__(self, name: str, **options):
        self.faults = Faults(self.get_logger, ending=(ExternalShutdownException,))
        super().__init__(name, **options)

    def create_service(self, srv_type, srv_name, callback, **options):
        """Make a service that answers whatever `callback` raises."""
        answer = self.faults.answering(srv_type, srv_name, callback)
        return super().create_service(srv_type, srv_name, answer, **options)

    def create_subscription(self, msg_type, topic, callback, qos_profile, **options):
        """Make a subscription that passes over messages that `callback` cannot bear."""
        hear = self.faults.hearing(topic, callback)
        return super().create_subscription(msg_type, topic, hear, qos_profile, **options)

    def create_publisher(self, msg_type, topic, qos_profile, **options):
        """Make a publisher that counts what it sends."""
        options.setdefault("publisher_class", CountingPublisher)
        return super().create_publisher(msg_type, topic, qos_profile, **options)

    def create_timer(self, timer_period_sec, callback, *arguments, **options):
        """Make a timer whose turns that fail are left out."""
        turn = self.faults.hearing("a timer", callback)
        return super().create_timer(timer_period_sec, turn, *arguments, **options)
