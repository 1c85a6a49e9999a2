# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The latched topic simulation_description: a description of the simulation."""

from __future__ import annotations

import json

from rclpy.node import Node
from std_msgs.msg import String

from hrpsim.ros.base import parameters, qos
from hrpsim.ros.core.description import describe
from hrpsim.ros.core.simulation import Simulation

_SETTINGS = (
    *("lockstep", "control_period", "interpolate_commands", "wrench_duration", "wrench_ramp"),
)


class DescriptionPublisher:
    """Publishes simulation_description, JSON, latched: at first and after each change."""

    def __init__(self, node: Node, simulation: Simulation):
        self._node = node
        self._simulation = simulation
        self._last = ""
        self._publisher = node.create_publisher(String, "simulation_description", qos.LATCHED)
        simulation.contents.changed.append(self.publish)
        self.publish()

    def publish(self) -> None:
        """Publish the description, if it has changed."""
        simulation = self._simulation
        settings = {name: parameters.value_of(self._node, name) for name in _SETTINGS}
        data = describe(simulation.world, simulation.contents.loaded, simulation.robots, settings)
        text = json.dumps(data, indent=1)
        if text != self._last:
            self._last = text
            self._publisher.publish(String(data=text))
