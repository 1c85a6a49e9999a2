# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Nodes that resend lost service responses and survive errors in callbacks."""

from __future__ import annotations

import inspect
import threading
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from rclpy.action import ActionServer, GoalResponse
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.service import Service

from hrpsim.ros.base.faults import Faults

_AGAIN_AFTER = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # between attempts to send an answer [s]
_LINGER = 2.0  # lifetime of a withdrawn action server [s, wall]
_UNSENT = "failed to send response"
_watching_warnings = threading.Lock()


class CountingPublisher(Publisher):
    """A publisher that counts messages in `sent[0]`. Serialised templates count there too."""

    def __init__(self, *arguments, **options) -> None:
        self.sent = [0]
        super().__init__(*arguments, **options)

    def publish(self, message) -> None:
        """Publish and count a message."""
        super().publish(message)
        self.sent[0] += 1


class AnsweringNode(Node):
    """A node that resends a service response until the middleware has discovered the client.

    DDS matches a client's reader and writer separately. If a discovery datagram is lost, a request
    can arrive seconds before the match. The middleware then drops the response after 0.1 s, and
    rclpy only warns: https://github.com/ros2/rmw_fastrtps/issues/842.
    """

    def create_service(self, srv_type, srv_name, callback, **options):
        """Create a service that resends each response until the middleware has found the client."""
        service = super().create_service(srv_type, srv_name, callback, **options)
        service.send_response = partial(self._answer, service, _AGAIN_AFTER)
        return service

    def _answer(self, service: Service, delays: tuple[float, ...], response, header) -> None:
        if _is_sent(service, response, header):
            return
        if not delays:
            self.get_logger().warning(
                f"{service.srv_name}: a response is lost, because the middleware does not know its "
                "client"
            )
            return

        def again() -> None:
            self.destroy_timer(timer)
            self._answer(service, delays[1:], response, header)

        timer = self.create_timer(delays[0], again, clock=Clock(clock_type=ClockType.STEADY_TIME))


def _is_sent(service: Service, response, header) -> bool:
    """Send a service response. Return whether the middleware had discovered the client."""
    with _watching_warnings, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Service.send_response(service, response, header)
    return not any(_UNSENT in str(warning.message) for warning in caught)


class DeferringActionServer(ActionServer):
    """An action server without execute callbacks. `answer` sends the result of a goal."""

    def __init__(self, node, action_type, action_name, **options) -> None:
        super().__init__(node, action_type, action_name, lambda goal: None, **options)

    def notify_execute(self, goal_handle, execute_callback) -> None:
        """Do nothing at the start of a goal's execution, because goals have no callbacks."""
        if execute_callback is not None:
            super().notify_execute(goal_handle, execute_callback)

    def answer(self, goal_handle, result) -> None:
        """Send the result of an ended goal.

        The result is sent before this method returns if rclpy permits, otherwise at the next turn
        of the executor.
        """
        if not self._send(goal_handle, result):
            self.notify_execute(goal_handle, lambda goal: result)  # too late for a server that ends

    def _send(self, goal_handle, result) -> bool:
        """Send a result before returning. Return False if rclpy has no such private members."""
        future = getattr(self, "_result_futures", {}).get(bytes(goal_handle.goal_id.uuid))
        if not hasattr(future, "_set_executor"):
            return False
        future._set_executor(None)  # which would send it later
        response = self.action_type.Impl.GetResultService.Response()
        response.status, response.result = goal_handle.status, result
        future.set_result(response)
        return True


class GuardedNode(AnsweringNode):
    """A node that catches the errors of all callbacks: services, subscriptions, timers.

    After an error, a service replies with the error's message. The services of parameters do the
    same. A message or a timer event with a failing callback is skipped. `faults` counts the node's
    own errors and logs each error with the traceback.
    """

    def __init__(self, name: str, **options) -> None:
        self.faults = Faults(self.get_logger, ending=(ExternalShutdownException,))
        self._withdrawn: dict[str, DeferringActionServer] = {}  # by name
        super().__init__(name, **options)

    def create_service(self, srv_type, srv_name, callback, **options):
        """Make a service that replies with the error if `callback` fails.

        Other callbacks run while the service waits.
        """
        if inspect.iscoroutinefunction(callback):
            options.setdefault("callback_group", MutuallyExclusiveCallbackGroup())
        answer = self.faults.answering(srv_type, srv_name, callback)
        return super().create_service(srv_type, srv_name, answer, **options)

    def create_subscription(self, msg_type, topic, callback, qos_profile, **options):
        """Make a subscription that skips messages for which `callback` fails."""
        hear = self.faults.hearing(topic, callback)
        return super().create_subscription(msg_type, topic, hear, qos_profile, **options)

    def create_publisher(self, msg_type, topic, qos_profile, **options):
        """Make a publisher that counts messages."""
        options.setdefault("publisher_class", CountingPublisher)
        return super().create_publisher(msg_type, topic, qos_profile, **options)

    def create_action_server(self, action_type, action_name, **options) -> DeferringActionServer:
        """Make an action server. Destroy a withdrawn server of the same name first."""
        name = self.resolve_topic_name(action_name)
        if before := self._withdrawn.pop(name, None):
            before.destroy()
        return DeferringActionServer(self, action_type, action_name, **options)

    def withdraw(self, server: DeferringActionServer, name: str) -> None:
        """Make an action server reject goals. Destroy the server later.

        When a writer is removed, DDS drops data that were sent but not received, such as the last
        results.
        """
        server.register_goal_callback(lambda goal: GoalResponse.REJECT)
        self._withdrawn[name := self.resolve_topic_name(name)] = server

        def end() -> None:
            self.destroy_timer(timer)
            if self._withdrawn.get(name) is server:
                del self._withdrawn[name]
                server.destroy()

        timer = self.create_timer(_LINGER, end, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def create_timer(self, timer_period_sec, callback, *arguments, **options):
        """Make a timer that continues if the callback fails."""
        turn = self.faults.hearing("a timer", callback)
        return super().create_timer(timer_period_sec, turn, *arguments, **options)


class NodePart:
    """A group of a node's topics and parameters, which `destroy` removes together.

    All other attributes are forwarded to the node. Use and destroy the group in the thread that
    spins the node's executor, while no callback of the node runs.
    """

    def __init__(self, node: GuardedNode) -> None:
        self._node = node
        self._undo: list[Callable[[], object]] = []

    def __getattr__(self, name: str) -> Any:
        """Return the node's attribute of that name."""
        return getattr(self._node, name)

    def create_publisher(self, *arguments, **options):
        """Make a publisher on the node, which `destroy` removes."""
        publisher = self._node.create_publisher(*arguments, **options)
        self._undo.append(partial(self._node.destroy_publisher, publisher))
        return publisher

    def create_subscription(self, *arguments, **options):
        """Create a subscription on the node, which `destroy` removes."""
        subscription = self._node.create_subscription(*arguments, **options)
        self._undo.append(partial(self._node.destroy_subscription, subscription))
        return subscription

    def create_action_server(self, action_type, action_name, **options) -> DeferringActionServer:
        """Make an action server on the node, which `destroy` withdraws."""
        server = self._node.create_action_server(action_type, action_name, **options)
        self._undo.append(partial(self._node.withdraw, server, action_name))
        return server

    def before_destruction(self, callback: Callable[[], object]) -> None:
        """Call `callback` in `destroy`, before the topics and parameters are removed."""
        self._undo.append(callback)

    def declare_parameter(self, name: str, *arguments, **options):
        """Declare a parameter of the node. Raises the errors of rclpy."""
        parameter = self._node.declare_parameter(name, *arguments, **options)
        self._undo.append(partial(self._node.undeclare_parameter, name))
        return parameter

    def destroy(self) -> None:
        """Remove the part's topics and parameters from the node."""
        while self._undo:
            self._undo.pop()()
