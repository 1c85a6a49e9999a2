# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Subscriptions that the caller reads, without an executor.

An executor turn (100 to 200 us) before every step is too slow for a stepping loop at 1 kHz; reading
one subscription without messages costs about 2 us.
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
    """A callback group that no executor serves; its subscriptions are read by `take` only."""

    def can_execute(self, entity) -> bool:
        """Return False: executors skip every member."""
        return False

    def beginning_execution(self, entity) -> bool:
        """Return False: executors may not run a member."""
        return False

    def ending_execution(self, entity) -> None:
        """Do nothing: no member is ever run."""


def _unused(message) -> None:
    raise AssertionError("a polled subscription must not be served by an executor")


class PolledSubscription:
    """A subscription whose messages, with `raw` as bytes, wait in the middleware until `take`."""

    def __init__(
        self,
        node: Node,
        message_type: type,
        topic: str,
        qos: QoSProfile | int,
        *,
        raw: bool = False,
    ):
        self._node = node
        self.subscription = node.create_subscription(
            message_type, topic, _unused, qos, callback_group=PolledGroup(), raw=raw
        )
        self.topic = self.subscription.topic_name  # in full
        self.publisher_count = self.subscription.get_publisher_count  # of matched ones
        self._handle = self.subscription.handle
        self._message_type, self._raw = message_type, raw

    def take(self) -> tuple[Any, dict[str, int]] | None:
        """Return the oldest waiting message and its info, or None.

        The info holds `source_timestamp` and `received_timestamp` [ns, wall clock] and, where the
        middleware counts, `publication_sequence_number`.
        """
        return self._handle.take_message(self._message_type, self._raw)

    def wait(self, longest: float, *others: PolledSubscription) -> None:
        """Return once a message of this or another topic has arrived, or after `longest` [s, wall].

        The other subscriptions are of the same node.
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
        """Yield the waiting messages, oldest first; those that cannot be decoded are skipped."""
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
        """Remove the subscription from its node."""
        self._node.destroy_subscription(self.subscription)
