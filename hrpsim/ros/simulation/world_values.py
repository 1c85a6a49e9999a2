# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Publisher of solver results and energies of the whole world."""

from __future__ import annotations

from types import ModuleType

from rclpy.node import Node

from hrpsim.bag.world_signals import OF_WORLD, sources_of_whole
from hrpsim.ros.base import qos
from hrpsim.ros.base.serialized_template import SerializedTemplate
from hrpsim.ros.base.stamps import Stamp
from hrpsim.ros.robot.named_values import named_values


class WorldValues:
    """Publishes `solver` and `energy` of the last step, each if there is a subscription."""

    def __init__(self, node: Node, world, types: ModuleType) -> None:
        self._types = types
        kind = types.DynamicJointState
        self._publishers = {
            topic: node.create_publisher(kind, topic, qos.STATE) for topic in OF_WORLD
        }
        self.hold(world)

    def hold(self, world) -> None:
        """Switch to the numbers of another world."""
        self._sources = []
        for source in sources_of_whole(world):
            message, fill = named_values(self._types, source, "")
            publisher, count = self._publishers[source.topic], len(source.columns)
            template = SerializedTemplate(publisher, message, fill, count)
            self._sources.append((template, source.read))

    def publish(self, stamp: Stamp) -> None:
        """Publish the present numbers."""
        for template, read in self._sources:
            if template.is_heard:
                template.numbers[:] = read()
                template.publish(stamp)
