# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Services of simulation_interfaces that run the simulation: state, steps, reset, features."""

from __future__ import annotations

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
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
from hrpsim.ros.core.simulation import Simulation
from hrpsim.ros.core.turns import make_steps

_FEATURES = (
    *("SPAWNING", "DELETING", "NAMED_POSES", "POSE_BOUNDS", "ENTITY_TAGS", "ENTITY_BOUNDS"),
    *("ENTITY_BOUNDS_BOX", "ENTITY_BOUNDS_CONVEX", "ENTITY_CATEGORIES"),
    *("SPAWNING_RESOURCE_STRING", "ENTITY_STATE_GETTING", "ENTITY_STATE_SETTING"),
    *("ENTITY_INFO_GETTING", "ENTITY_INFO_SETTING", "SPAWNABLES", "SIMULATION_RESET"),
    *("SIMULATION_RESET_STATE", "SIMULATION_RESET_SPAWNED", "SIMULATION_STATE_GETTING"),
    *("SIMULATION_STATE_SETTING", "SIMULATION_STATE_PAUSE", "STEP_SIMULATION_SINGLE"),
    *("STEP_SIMULATION_MULTIPLE", "STEP_SIMULATION_ACTION", "WORLD_LOADING"),
    *("WORLD_RESOURCE_STRING", "WORLD_TAGS", "WORLD_UNLOADING", "WORLD_INFO_GETTING"),
    *("AVAILABLE_WORLDS", "SPAWNING_ENTITIES"),
)
_STATES = {
    "stopped": SimulationState.STATE_STOPPED,
    "playing": SimulationState.STATE_PLAYING,
    "paused": SimulationState.STATE_PAUSED,
    "quitting": SimulationState.STATE_QUITTING,
    "no_world": 4,  # release 1.0 of the standard had no names for this and the next
}
_LOADING_WORLD = 5


class SimulationServices:
    """Offers the services; they act as ~/pause, ~/resume, ~/step and ~/reset."""

    def __init__(self, node: Node, simulation: Simulation):
        self._node = node
        self._simulation = simulation
        create = node.create_service
        self._services = [
            create(GetSimulatorFeatures, "~/get_simulator_features", self._get_features),
            create(GetSimulationState, "~/get_simulation_state", self._get_state),
            create(SetSimulationState, "~/set_simulation_state", self._set_state),
            create(ResetSimulation, "~/reset_simulation", self._reset),
            create(
                *(StepSimulation, "~/step_simulation", self._step),
                callback_group=MutuallyExclusiveCallbackGroup(),
            ),
        ]

    def _get_features(self, request, response):
        known = [name for name in _FEATURES if hasattr(SimulatorFeatures, name)]
        response.features = SimulatorFeatures(
            features=[getattr(SimulatorFeatures, name) for name in known],
            spawn_formats=list(self._simulation.entities.formats),
            custom_info="hrpsim: docs/reference/ros_interface.md; simulated time is never reset",
        )
        return response

    def _get_state(self, request, response) -> None:
        response.state.state = _STATES[self._simulation.state]

    def _set_state(self, request, response) -> str:
        simulation, target = self._simulation, request.state.state
        name = next((name for name, number in _STATES.items() if number == target), "")
        if target == _LOADING_WORLD or name == "no_world" != simulation.state:
            raise Refusal(
                "INCORRECT_TRANSITION", "~/unload_world and ~/load_world lead to this state"
            )
        if not name:
            possible = ", ".join(f"{name} ({number})" for name, number in _STATES.items())
            raise Refusal("FEATURE_UNSUPPORTED", f"no state {target} here; there are: {possible}")
        if name == simulation.state:
            raise Refusal("ALREADY_IN_TARGET_STATE", f"already {name}")
        if simulation.state in ("no_world", "quitting") and name != "quitting":
            raise Refusal("INCORRECT_TRANSITION", f"{simulation.state}: it cannot be {name}")
        {
            "playing": simulation.resume,
            "paused": simulation.pause,
            "stopped": simulation.stop,
            "quitting": simulation.quit,
        }[name]()
        return self._at(name)

    async def _step(self, request, response) -> str:
        refuse_unless_paused(self._simulation)
        most = parameters.value_of(self._node, "step_limit")
        if request.steps > most:
            raise Refusal(
                "OPERATION_FAILED",
                f"{request.steps} steps at once are too many: {most} at most, or "
                "~/simulate_steps, which can be cancelled",
            )
        await make_steps(self._simulation, request.steps)
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
            done.append(f"{self._simulation.contents.delete_spawned()} spawned entities deleted")
        if scope & ResetSimulation.Request.SCOPE_STATE:
            self._simulation.reset()
            done.append("everything is back in its first state")
        return self._at("; ".join(done))

    def _at(self, text: str) -> str:
        return f"{text}; time {self._simulation.clock.seconds:.9g} s"


def refuse_unless_paused(simulation: Simulation) -> None:
    """Raise the standard's Refusal of steps if the simulation is not paused."""
    if simulation.contents.loaded is None:
        raise Refusal("INCORRECT_STATE", "no world is loaded: load one first")
    if not simulation.paused:
        raise Refusal("OPERATION_FAILED", "the simulation is playing: pause it before stepping")
