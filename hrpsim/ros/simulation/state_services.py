# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""~/save_state, ~/load_state, and the latched topic that tells what is simulated."""

from __future__ import annotations

import json

from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger

from hrpsim.ros.base import parameters, qos
from hrpsim.ros.core.description import describe
from hrpsim.ros.core.simulation import Simulation

_SETTINGS = (
    *("lockstep", "control_period", "interpolate_commands", "wrench_duration", "wrench_ramp"),
)


class StateServices:
    """Offers the services on the node; the parameter `state_name` says which state is meant."""

    def __init__(self, node: Node, simulation: Simulation):
        self._node = node
        self._simulation = simulation
        self._services = [
            node.create_service(Trigger, "~/save_state", self._save),
            node.create_service(Trigger, "~/load_state", self._load),
        ]

    def _save(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        name = parameters.value_of(self._node, "state_name")
        self._simulation.save_state(name)
        return self._done(response, f"saved {name!r}")

    def _load(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        name = parameters.value_of(self._node, "state_name")
        self._simulation.load_state(name)
        return self._done(response, f"the world is in the state {name!r}")

    def _done(self, response: Trigger.Response, text: str) -> Trigger.Response:
        response.success = True
        response.message = f"{text}; time {self._simulation.clock.seconds:.9g} s"
        return response


class DescriptionPublisher:
    """Publishes simulation_description, JSON, latched: at first and whenever something changes."""

    def __init__(self, node: Node, simulation: Simulation):
        self._node = node
        self._simulation = simulation
        self._told = ""
        self._publisher = node.create_publisher(String, "simulation_description", qos.LATCHED)
        simulation.contents.changed.append(self.publish)
        self.publish()

    def publish(self) -> None:
        """Publish what is simulated now, if that is not what was told last."""
        simulation = self._simulation
        settings = {name: parameters.value_of(self._node, name) for name in _SETTINGS}
        data = describe(simulation.world, simulation.contents.loaded, simulation.robots, settings)
        text = json.dumps(data, indent=1)
        if text != self._told:
            self._told = text
            self._publisher.publish(String(data=text))
