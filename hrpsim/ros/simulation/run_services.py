"""~/pause, ~/resume, ~/step and ~/reset: each answers when the thing is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from std_srvs.srv import Trigger

from hrpsim.errors import WorldError
from hrpsim.ros.base import parameters

if TYPE_CHECKING:
    from hrpsim.ros.simulation.simulation_node import SimulationNode


class RunServices:
    """Offers the services on a SimulationNode; they run between two steps of its loop."""

    def __init__(self, simulation: SimulationNode):
        self._simulation = simulation
        self._services = [
            simulation.node.create_service(Trigger, f"~/{name}", self._answer(action))
            for name, action in (
                ("pause", self._pause),
                ("resume", self._resume),
                ("step", self._step),
                ("reset", self._reset),
            )
        ]

    def _answer(self, action):
        def handle(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            response.message = f"{action()}; time {self._simulation.clock.seconds:.9g} s"
            response.success = True
            return response

        return handle

    def _pause(self) -> str:
        already = self._simulation.paused
        self._simulation.pause()
        return "already paused" if already else "paused"

    def _resume(self) -> str:
        already = not self._simulation.paused
        self._simulation.resume()
        return "already running" if already else "running"

    def _step(self) -> str:
        if not self._simulation.paused:
            raise WorldError("the simulation is running: call ~/pause before ~/step")
        steps = parameters.value_of(self._simulation.node, "step_count")
        self._simulation.step_and_publish(steps)
        return f"made {steps} steps"

    def _reset(self) -> str:
        self._simulation.reset()
        return "the world is back in its first state"
