"""Services of simulation_interfaces that run the simulation: state, steps, reset, features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation_interfaces.msg import SimulationState, SimulatorFeatures
from simulation_interfaces.srv import (
    GetSimulationState,
    GetSimulatorFeatures,
    ResetSimulation,
    SetSimulationState,
    StepSimulation,
)

from hrpsim.ros.base import parameters
from hrpsim.ros.base.entities import Refusal
from hrpsim.ros.base.service_results import answering

if TYPE_CHECKING:
    from hrpsim.ros.simulation.simulation_node import SimulationNode

_FEATURES = (
    *("SPAWNING", "DELETING", "ENTITY_BOUNDS", "ENTITY_BOUNDS_BOX", "ENTITY_CATEGORIES"),
    *("SPAWNING_RESOURCE_STRING", "ENTITY_STATE_GETTING", "ENTITY_STATE_SETTING"),
    *("ENTITY_INFO_GETTING", "SIMULATION_RESET", "SIMULATION_RESET_STATE"),
    *("SIMULATION_RESET_SPAWNED", "SIMULATION_STATE_GETTING", "SIMULATION_STATE_SETTING"),
    *("SIMULATION_STATE_PAUSE", "STEP_SIMULATION_SINGLE", "STEP_SIMULATION_MULTIPLE"),
    "STEP_SIMULATION_ACTION",
)
_STATES = {
    SimulationState.STATE_STOPPED: "stopped",
    SimulationState.STATE_PLAYING: "playing",
    SimulationState.STATE_PAUSED: "paused",
}


class SimulationServices:
    """Offers the services; they make the same calls as ~/pause, ~/resume, ~/step and ~/reset."""

    def __init__(self, simulation: SimulationNode):
        self._simulation = simulation
        self._stopped_at = simulation.clock.steps if simulation.paused else -1
        create = simulation.node.create_service
        self._services = [
            create(GetSimulatorFeatures, "~/get_simulator_features", self._get_features),
            create(GetSimulationState, "~/get_simulation_state", answering(self._get_state)),
            create(SetSimulationState, "~/set_simulation_state", answering(self._set_state)),
            create(StepSimulation, "~/step_simulation", answering(self._step)),
            create(ResetSimulation, "~/reset_simulation", answering(self._reset)),
        ]

    @property
    def state(self) -> int:
        """The state as SimulationState numbers it: stopped is paused in the first state."""
        if not self._simulation.paused:
            return SimulationState.STATE_PLAYING
        if self._simulation.clock.steps == self._stopped_at:
            return SimulationState.STATE_STOPPED
        return SimulationState.STATE_PAUSED

    def _get_features(self, request, response):
        response.features = SimulatorFeatures(
            features=[getattr(SimulatorFeatures, name) for name in _FEATURES],
            spawn_formats=list(self._simulation.entities.formats),
            custom_info="hrpsim: docs/ros_interface.md; simulated time is never reset",
        )
        return response

    def _get_state(self, request, response) -> None:
        response.state.state = self.state

    def _set_state(self, request, response) -> str:
        target = request.state.state
        if target not in _STATES:
            possible = ", ".join(f"{name} ({code})" for code, name in _STATES.items())
            raise Refusal("FEATURE_UNSUPPORTED", f"no state {target} here; there are: {possible}")
        if target == self.state:
            raise Refusal("ALREADY_IN_TARGET_STATE", f"already {_STATES[target]}")
        if target == SimulationState.STATE_PLAYING:
            self._simulation.resume()
        else:
            self._simulation.pause()
        if target == SimulationState.STATE_STOPPED:
            self._simulation.delete_spawned()
            self._simulation.reset()
            self._stopped_at = self._simulation.clock.steps
        else:
            self._stopped_at = -1
        return self._at(_STATES[target])

    def _step(self, request, response) -> str:
        refuse_unless_paused(self._simulation)
        most = parameters.value_of(self._simulation.node, "step_limit")
        if request.steps > most:
            raise Refusal(
                "OPERATION_FAILED",
                f"{request.steps} steps at once are too many: {most} at most, or "
                "~/simulate_steps, which can be cancelled",
            )
        self._simulation.step_and_publish(request.steps)
        return self._at(f"made {request.steps} steps")

    def _reset(self, request, response) -> str:
        scope = request.scope or ResetSimulation.Request.SCOPE_ALL
        known = (
            ResetSimulation.Request.SCOPE_STATE
            | ResetSimulation.Request.SCOPE_SPAWNED
            | ResetSimulation.Request.SCOPE_TIME
        )
        if scope != ResetSimulation.Request.SCOPE_ALL and scope & ~known:
            raise Refusal("FEATURE_UNSUPPORTED", f"scope {scope} is not one of the standard's")
        if scope == ResetSimulation.Request.SCOPE_TIME:
            raise Refusal("FEATURE_UNSUPPORTED", "simulated time never runs backwards")
        done = []
        if scope & ResetSimulation.Request.SCOPE_SPAWNED:
            done.append(f"{self._simulation.delete_spawned()} spawned entities deleted")
        if scope & ResetSimulation.Request.SCOPE_STATE:
            was_stopped = self.state == SimulationState.STATE_STOPPED
            self._simulation.reset()
            done.append("everything is back in its first state")
            if was_stopped:
                self._stopped_at = self._simulation.clock.steps
        return self._at("; ".join(done))

    def _at(self, text: str) -> str:
        return f"{text}; time {self._simulation.clock.seconds:.9g} s"


def refuse_unless_paused(simulation: SimulationNode) -> None:
    """Raise the Refusal that the standard wants of steps while the simulation runs by itself."""
    if not simulation.paused:
        raise Refusal("OPERATION_FAILED", "the simulation is playing: pause it before stepping")
