# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The services of std_srvs, of which each answers when the thing is done."""

from __future__ import annotations

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from std_srvs.srv import Trigger

from hrpsim.errors import WorldError
from hrpsim.ros.base import parameters
from hrpsim.ros.core.simulation import Simulation
from hrpsim.ros.core.turns import make_steps


class TriggerServices:
    """Offers ~/pause, ~/resume, ~/reset, ~/save_state, ~/load_state and ~/step on the node.

    They run between two steps of its loop. While ~/step makes many, or waits for kernels, the
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
        }
        self._services = [
            node.create_service(Trigger, f"~/{name}", self._answering(action))
            for name, action in actions.items()
        ]
        self._services.append(
            node.create_service(
                Trigger, "~/step", self._step, callback_group=MutuallyExclusiveCallbackGroup()
            )
        )

    def _answering(self, action):
        return lambda request, response: self._done(response, action())

    def _done(self, response: Trigger.Response, what: str) -> Trigger.Response:
        response.message = f"{what}; time {self._simulation.clock.seconds:.9g} s"
        response.success = True
        return response

    def _pause(self) -> str:
        already = self._simulation.paused
        self._simulation.pause()
        return "already paused" if already else "paused"

    def _resume(self) -> str:
        already = not self._simulation.paused
        self._simulation.resume()
        return "already running" if already else "running"

    def _reset(self) -> str:
        self._simulation.reset()
        return "the world is back in its first state"

    def _save_state(self) -> str:
        name = parameters.value_of(self._node, "state_name")
        self._simulation.save_state(name)
        return f"saved {name!r}"

    def _load_state(self) -> str:
        name = parameters.value_of(self._node, "state_name")
        self._simulation.load_state(name)
        return f"the world is in the state {name!r}"

    async def _step(self, request, response: Trigger.Response) -> Trigger.Response:
        if not self._simulation.paused:
            raise WorldError("the simulation is running: call ~/pause before ~/step")
        steps = parameters.value_of(self._node, "step_count")
        await make_steps(self._simulation, steps)
        return self._done(response, f"made {steps} steps")
