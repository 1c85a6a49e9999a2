# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Nodes whose answers reach who asked, and that go on whatever their callbacks raise."""

from __future__ import annotations

import threading
import warnings
from functools import partial

from rclpy.clock import Clock, ClockType
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.service import Service

from hrpsim.ros.base.faults import Faults

_AGAIN_AFTER = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # from one try to send an answer to the next [s]
_UNSENT = "failed to send response"
_watching_warnings = threading.Lock()


class CountingPublisher(Publisher):
    """A publisher; `sent` holds how many messages went out, in a list that templates share."""

    def __init__(self, *arguments, **options):
        self.sent = [0]
        super().__init__(*arguments, **options)

    def publish(self, message) -> None:
        """Publish a message and count it."""
        super().publish(message)
        self.sent[0] += 1


class AnsweringNode(Node):
    """Sends an answer again while the middleware does not know where to.

    DDS matches a client's reader apart from its writer. Where a datagram of discovery is lost, a
    request can come first by seconds; the middleware then gives the answer up after 0.1 s, and
    rclpy warns only: https://github.com/ros2/rmw_fastrtps/issues/842.
    """

    def create_service(self, srv_type, srv_name, callback, **options):
        """Make a service whose answers are sent until the client is known."""
        service = super().create_service(srv_type, srv_name, callback, **options)
        service.send_response = partial(self._answer, service, _AGAIN_AFTER)
        return service

    def _answer(self, service: Service, delays: tuple[float, ...], response, header) -> None:
        if _is_sent(service, response, header):
            return
        if not delays:
            self.get_logger().warning(
                f"{service.srv_name}: an answer is lost: the middleware does not find who asked"
            )
            return

        def again() -> None:
            self.destroy_timer(timer)
            self._answer(service, delays[1:], response, header)

        timer = self.create_timer(delays[0], again, clock=Clock(clock_type=ClockType.STEADY_TIME))


def _is_sent(service: Service, response, header) -> bool:
    """Send an answer; return whether there was somebody to send it to."""
    with _watching_warnings, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        Service.send_response(service, response, header)
    return not any(_UNSENT in str(one.message) for one in told)


class GuardedNode(AnsweringNode):
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
