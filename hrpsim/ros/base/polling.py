# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Subscriptions that the caller reads, without an executor.

A call of an executor takes 100 to 200 us, which is too slow before every step of a loop at 1 kHz.
Reading one subscription without messages costs about 2 us.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile


class PolledGroup(CallbackGroup):
    """A callback group that no executor serves. Only `take` reads the subscriptions."""

    def can_execute(self, entity) -> bool:
        """Return False, so that executors skip every member."""
        return False

    def beginning_execution(self, entity) -> bool:
        """Return False, because executors may not run a member."""
        return False

    def ending_execution(self, entity) -> None:
        """Do nothing, because no member is ever run."""


def _unused(message) -> None:
    raise AssertionError("a polled subscription must not be served by an executor")


class PolledSubscription:
    """A subscription with messages that wait in the middleware until `take`.

    With `raw` the messages are bytes.
    """

    def __init__(
        self,
        node: Node,
        message_type: type,
        topic: str,
        qos: QoSProfile | int,
        *,
        raw: bool = False,
    ) -> None:
        self._node = node
        self.subscription = node.create_subscription(
            message_type, topic, _unused, qos, callback_group=PolledGroup(), raw=raw
        )
        self.topic = self.subscription.topic_name  # full name
        self.publisher_count = self.subscription.get_publisher_count  # number of matched publishers
        self._handle = self.subscription.handle
        self._message_type, self._raw = message_type, raw

    def take(self) -> tuple[Any, dict[str, int]] | None:
        """Return the oldest waiting message with info, or None.

        The info has `source_timestamp` and `received_timestamp` [ns, wall clock]. If the middleware
        counts messages, the info also has `publication_sequence_number`.
        """
        return self._handle.take_message(self._message_type, self._raw)

    def wait(self, longest: float, *others: PolledSubscription) -> None:
        """Wait for a message of this or another topic, at most for `longest` [s, wall].

        The other subscriptions belong to the same node.
        """
        context = self._node.context.handle
        handles = [self._handle, *(other._handle for other in others)]
        with ExitStack() as in_use:
            for handle in (*handles, context):
                in_use.enter_context(handle)
            wait_set = rclpy_implementation.WaitSet(len(handles), 0, 0, 0, 0, 0, context)
            wait_set.clear_entities()
            for handle in handles:
                wait_set.add_subscription(handle)
            wait_set.wait(round(longest * 1e9))

    def take_all(self) -> Iterator[tuple[Any, dict[str, int]]]:
        """Yield the waiting messages, oldest first. Messages that cannot be decoded are skipped."""
        while True:
            try:
                taken = self.take()
            except Exception as error:
                self._node.get_logger().warning(
                    f"{self.topic}: a message cannot be decoded: {type(error).__name__}: {error}",
                    throttle_duration_sec=1.0,
                )
                continue
            if taken is None:
                return
            yield taken

    def destroy(self) -> None:
        """Remove the subscription from the node."""
        self._node.destroy_subscription(self.subscription)
