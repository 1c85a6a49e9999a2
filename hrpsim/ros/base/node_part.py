# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A part of a node that can be removed: topics and parameters that belong together."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node


class NodePart:
    """Makes topics and declares parameters of a node, until `destroy`; forwards all else to it.

    Use and destroy it in the thread that spins the node's executor, while no callback of another
    member runs.
    """

    def __init__(self, node: Node):
        self._node = node
        self._publishers: list = []
        self._subscriptions: list = []
        self._parameters: list[str] = []

    def __getattr__(self, name: str) -> Any:
        """Return the node's attribute of that name."""
        return getattr(self._node, name)

    def create_publisher(self, *arguments, **options):
        """Make a publisher on the node."""
        publisher = self._node.create_publisher(*arguments, **options)
        self._publishers.append(publisher)
        return publisher

    def create_subscription(self, *arguments, **options):
        """Make a subscription on the node."""
        subscription = self._node.create_subscription(*arguments, **options)
        self._subscriptions.append(subscription)
        return subscription

    def declare_parameter(self, name: str, *arguments, **options):
        """Declare a parameter of the node; raises what rclpy raises."""
        parameter = self._node.declare_parameter(name, *arguments, **options)
        self._parameters.append(name)
        return parameter

    def destroy(self) -> None:
        """Remove its topics and parameters from the node."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        for publisher in self._publishers:
            self._node.destroy_publisher(publisher)
        for name in self._parameters:
            self._node.undeclare_parameter(name)
        self._subscriptions, self._publishers, self._parameters = [], [], []
