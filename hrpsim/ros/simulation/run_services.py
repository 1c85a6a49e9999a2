# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The services of std_srvs; each answers when its action is complete."""

from __future__ import annotations

from rclpy.node import Node
from std_srvs.srv import Trigger

from hrpsim.errors import WorldError
from hrpsim.ros.base import parameters
from hrpsim.ros.core.simulation import Simulation
from hrpsim.ros.core.turns import make_steps


class TriggerServices:
    """Offers ~/pause, ~/resume, ~/reset, ~/save_state, ~/load_state and ~/step on the node.

    They run between two steps of its loop. While ~/step makes many steps, or waits for kernels, the
    others are answered. The parameter `state_name` names the state to save or to load.
    """

    def __init__(self, node: Node, simulation: Simulation):
        self._node = node
        self._simulation = simulation
        actions = {
            "pause": self._pause,
            "resume": self._resume,
            "reset": self._reset,
            "save_state": self._save_state,
            "load_state": self._load_state,
            "step": self._step,
        }
        self._services = [
            node.create_service(Trigger, f"~/{name}", action) for name, action in actions.items()
        ]

    def _at(self, what: str) -> str:
        return f"{what}; time {self._simulation.clock.seconds:.9g} s"

    def _pause(self, request, response) -> str:
        already = self._simulation.paused
        self._simulation.pause()
        return self._at("already paused" if already else "paused")

    def _resume(self, request, response) -> str:
        already = not self._simulation.paused
        self._simulation.resume()
        return self._at("already running" if already else "running")

    def _reset(self, request, response) -> str:
        self._simulation.reset()
        return self._at("the world is back in its first state")

    def _save_state(self, request, response) -> str:
        name = parameters.value_of(self._node, "state_name")
        self._simulation.save_state(name)
        return self._at(f"saved {name!r}")

    def _load_state(self, request, response) -> str:
        name = parameters.value_of(self._node, "state_name")
        self._simulation.load_state(name)
        return self._at(f"the world is in the state {name!r}")

    async def _step(self, request, response) -> str:
        if not self._simulation.paused:
            raise WorldError("the simulation is running: call ~/pause before ~/step")
        steps = parameters.value_of(self._node, "step_count")
        await make_steps(self._simulation, steps)
        return self._at(f"made {steps} steps")
