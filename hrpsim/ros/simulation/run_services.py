# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""~/pause, ~/resume, ~/step and ~/reset: each answers when the thing is done."""

from __future__ import annotations

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from std_srvs.srv import Trigger

from hrpsim.errors import WorldError
from hrpsim.ros.base import parameters
from hrpsim.ros.core.simulation import Simulation
from hrpsim.ros.core.turns import make_steps


class RunServices:
    """Offers the services on the node; they run between two steps of its loop.

    While ~/step makes many, or waits for kernels, the others are answered.
    """

    def __init__(self, node: Node, simulation: Simulation):
        self._node = node
        self._simulation = simulation
        actions = {"pause": self._pause, "resume": self._resume, "reset": self._reset}
        self._services = [
            node.create_service(Trigger, f"~/{name}", self._answer(action))
            for name, action in actions.items()
        ]
        self._services.append(
            node.create_service(
                Trigger, "~/step", self._step, callback_group=MutuallyExclusiveCallbackGroup()
            )
        )

    def _answer(self, action):
        def handle(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            return self._done(response, action())

        return handle

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

    async def _step(self, request, response: Trigger.Response) -> Trigger.Response:
        if not self._simulation.paused:
            raise WorldError("the simulation is running: call ~/pause before ~/step")
        steps = parameters.value_of(self._node, "step_count")
        await make_steps(self._simulation, steps)
        return self._done(response, f"made {steps} steps")

    def _reset(self) -> str:
        self._simulation.reset()
        return "the world is back in its first state"
