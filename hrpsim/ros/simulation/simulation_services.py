# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Services and action of simulation_interfaces: state, steps, reset, features, worlds, poses."""

from __future__ import annotations

import time

from geometry_msgs.msg import Vector3
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import Bounds, Result, SimulationState, SimulatorFeatures

from hrpsim.ros.base import parameters
from hrpsim.ros.base.entities import Refusal
from hrpsim.ros.base.faults import fill_result, resource_of
from hrpsim.ros.base.geometry_values import fill, vector_of
from hrpsim.ros.base.guarded_node import GuardedNode
from hrpsim.ros.core.simulation import Simulation
from hrpsim.ros.core.simulation_contents import (
    LoadedWorld,
    find_spawnables,
    find_worlds,
    load_source,
)
from hrpsim.ros.core.turns import TURN, NextTurn, make_steps, when_compiled
from hrpsim.ros.simulation.entity_services import offer, tag_filter
from hrpsim.ros.simulation.world_setup import world_of
from hrpsim.world.file.world_notes import PoseBounds, WorldNotes

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
    "no_world": 4,  # release 1.0 of the standard lacks names for this and the next
}
_LOADING_WORLD = 5
_DISCOVERY = 0.5  # [s, wall] to discover a new client's feedback subscription
_SETTLING = 0.05  # [s, wall] from discovery to matching
_MOST_SOURCES = 100


class SimulationServices:
    """Offers the services, which act as ~/pause, ~/resume, ~/step and ~/reset."""

    def __init__(self, node: Node, simulation: Simulation) -> None:
        self._node = node
        self._simulation = simulation
        self._services = offer(
            node,
            {
                "GetSimulatorFeatures": self._get_features,
                "GetSimulationState": self._get_state,
                "SetSimulationState": self._set_state,
                "ResetSimulation": self._reset,
                "StepSimulation": self._step,
            },
        )

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
                "INCORRECT_TRANSITION", "call ~/unload_world or ~/load_world to reach this state"
            )
        if not name:
            possible = ", ".join(f"{name} ({number})" for name, number in _STATES.items())
            raise Refusal(
                "FEATURE_UNSUPPORTED", f"state {target} does not exist. Available: {possible}"
            )
        if name == simulation.state:
            raise Refusal("ALREADY_IN_TARGET_STATE", f"the simulation is already {name}")
        if simulation.state in ("no_world", "quitting") and name != "quitting":
            raise Refusal(
                "INCORRECT_TRANSITION", f"the state {simulation.state} cannot change to {name}"
            )
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
                f"{request.steps} steps are requested at once. The parameter step_limit allows "
                f"{most}. Use ~/simulate_steps, which can be cancelled",
            )
        await make_steps(self._simulation, request.steps)
        return self._at(f"made {request.steps} steps")

    def _reset(self, request, response) -> str:
        scope = request.scope or request.SCOPE_ALL
        known = request.SCOPE_STATE | request.SCOPE_SPAWNED | request.SCOPE_TIME
        if scope != request.SCOPE_ALL and scope & ~known:
            raise Refusal(
                "FEATURE_UNSUPPORTED", f"scope {scope} is not defined by simulation_interfaces"
            )
        if scope == request.SCOPE_TIME:
            raise Refusal("FEATURE_UNSUPPORTED", "simulated time never runs backwards")
        done = []
        if scope & request.SCOPE_SPAWNED:
            done.append(f"{self._simulation.contents.delete_spawned()} spawned entities deleted")
        if scope & request.SCOPE_STATE:
            self._simulation.reset()
            done.append("everything is back in its initial state")
        return self._at("; ".join(done))

    def _at(self, text: str) -> str:
        return f"{text}; time {self._simulation.clock.seconds:.9g} s"


def refuse_unless_paused(simulation: Simulation) -> None:
    """Raise Refusal, with the code of the standard, if the simulation cannot make single steps.

    Steps need a world and a paused simulation.
    """
    if simulation.contents.loaded is None:
        raise Refusal("INCORRECT_STATE", "no world is loaded. Load one first")
    if not simulation.paused:
        raise Refusal("OPERATION_FAILED", "the simulation is playing. Pause it before stepping")


class SimulateStepsAction:
    """Offers the action, one goal at a time. Other goals are rejected meanwhile."""

    def __init__(self, node: GuardedNode, simulation: Simulation) -> None:
        self._node = node
        self._simulation = simulation
        self._busy = False
        self._known_listeners = 0
        self._server = ActionServer(
            node,
            SimulateSteps,
            "~/simulate_steps",
            execute_callback=self._execute,
            goal_callback=self._consider,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )

    def _consider(self, goal: SimulateSteps.Goal) -> GoalResponse:
        if self._busy:
            return GoalResponse.REJECT
        self._busy = True
        return GoalResponse.ACCEPT

    async def _execute(self, goal) -> SimulateSteps.Result:
        try:
            done = await self._advance(goal)
            text = f"made {done} of {goal.request.steps} steps"
            code = Result.RESULT_OK
            if goal.is_cancel_requested:
                goal.canceled()
                code = Result.RESULT_OPERATION_FAILED
            else:
                goal.succeed()
            return SimulateSteps.Result(result=Result(result=code, error_message=text))
        except Exception as error:
            goal.abort()
            result = SimulateSteps.Result()
            text = self._simulation.faults.explain(error, "~/simulate_steps")
            fill_result(result.result, error, text)
            return result
        finally:
            self._busy = False

    async def _advance(self, goal) -> int:
        """Make the requested steps, or fewer after a cancellation. Return the number of steps."""
        requested, done = goal.request.steps, 0
        feedback = SimulateSteps.Feedback()
        refuse_unless_paused(self._simulation)
        world = self._simulation.world
        await self._meet_listeners()
        try:
            end_of_turn = time.monotonic() + TURN
            while done < requested and not goal.is_cancel_requested:
                await when_compiled(self._simulation, lambda: self._simulation.advance(1))
                done += 1
                feedback.completed_steps, feedback.remaining_steps = done, requested - done
                ends_turn = time.monotonic() > end_of_turn
                if done in (1, requested) or ends_turn:
                    goal.publish_feedback(feedback)
                if ends_turn:
                    await NextTurn()
                    refuse_unless_paused(self._simulation)
                    if self._simulation.world is not world:
                        raise Refusal("INCORRECT_STATE", "the world was unloaded in the meantime")
                    end_of_turn = time.monotonic() + TURN
        finally:
            if self._simulation.world is world:
                self._simulation.publish_last()
        return done

    async def _meet_listeners(self) -> None:
        """Wait until the feedback subscription of a new client is matched, up to a time limit.

        Otherwise the client would miss the first feedback.
        """
        topic = f"{self._node.get_fully_qualified_name()}/simulate_steps/_action/feedback"
        begun = time.monotonic()
        while not self._node.count_subscribers(topic) and time.monotonic() < begun + _DISCOVERY:
            await NextTurn()
        listeners = self._node.count_subscribers(topic)
        if listeners > self._known_listeners:
            found_at = time.monotonic()
            while time.monotonic() < found_at + _SETTLING:
                await NextTurn()
        self._known_listeners = listeners


class WorldServices:
    """Offers the services on the node. A world is loaded between two steps of the loop.

    Early releases of the standard lack some messages, so the methods import these messages.
    """

    def __init__(self, node: Node, simulation: Simulation) -> None:
        self._node = node
        self._simulation = simulation
        self._services = offer(
            node,
            {
                "GetAvailableWorlds": self._get_available,
                "GetCurrentWorld": self._get_current,
                "LoadWorld": self._load,
                "UnloadWorld": self._unload,
                "GetSpawnables": self._get_spawnables,
                "GetNamedPoses": self._get_poses,
                "GetNamedPoseBounds": self._get_pose_bounds,
            },
        )

    def _get_available(self, request, response) -> str:
        sources = _bounded(request.additional_sources)
        from simulation_interfaces.msg import WorldResource

        has_tags = tag_filter(request.filter)
        listing = find_worlds(sources)
        if listing.problems and not request.continue_on_error:
            raise Refusal("NOT_FOUND", "; ".join(listing.problems))
        for entry in listing.entries:
            if has_tags(entry.notes.tags):
                response.worlds.append(WorldResource())
                _fill_world(response.worlds[-1], LoadedWorld(entry.notes, entry.uri))
        return "; ".join(listing.problems)

    def _get_current(self, request, response) -> None:
        loaded = self._simulation.contents.loaded
        if loaded is None:
            raise Refusal("NO_WORLD_LOADED", "no world is loaded")
        _fill_world(response.world, loaded)

    async def _load(self, request, response) -> str:
        resource = resource_of(request)
        world, loaded = load_source(
            resource.uri,
            resource.resource_string,
            self._simulation.entities,
            lambda reader: world_of(self._node, reader),
        )
        simulation = self._simulation
        await when_compiled(simulation, lambda: simulation.load(world, loaded))
        _fill_world(response.world, loaded)
        return f"{loaded.notes.name!r} is loaded; time {self._simulation.clock.seconds:.9g} s"

    def _unload(self, request, response) -> str:
        self._simulation.unload()
        return f"unloaded; time {self._simulation.clock.seconds:.9g} s"

    def _get_spawnables(self, request, response) -> str:
        from simulation_interfaces.msg import Spawnable

        listing = find_spawnables(_bounded(request.sources))
        for uri in listing.entries:
            spawnable = Spawnable(description=f"robot description {uri.rpartition('/')[2]}")
            resource_of(spawnable).uri = uri
            response.spawnables.append(spawnable)
        return "; ".join(listing.problems)

    def _get_poses(self, request, response) -> None:
        from simulation_interfaces.msg import NamedPose

        has_tags = tag_filter(request.tags)
        for pose in self._notes.poses:
            if has_tags(pose.tags):
                message = NamedPose(name=pose.name, description=pose.description, tags=pose.tags)
                fill(message.pose.position, pose.position)
                fill(message.pose.orientation, pose.orientation)
                response.poses.append(message)

    def _get_pose_bounds(self, request, response) -> None:
        poses = {pose.name: pose for pose in self._notes.poses}
        if request.name not in poses:
            known = ", ".join(poses) or "none"
            raise Refusal("NOT_FOUND", f"pose {request.name!r} does not exist. Available: {known}")
        response.bounds = _bounds_of(poses[request.name].bounds)

    @property
    def _notes(self) -> WorldNotes:
        loaded = self._simulation.contents.loaded
        return loaded.notes if loaded else WorldNotes()


def _fill_world(message, loaded: LoadedWorld) -> None:
    message.name = loaded.notes.name
    message.description = loaded.notes.description
    message.tags = list(loaded.notes.tags)
    resource = resource_of(message)
    resource.uri, resource.resource_string = loaded.uri, loaded.text


def _bounds_of(bounds: PoseBounds | None) -> Bounds:
    if bounds is None:
        return Bounds(type=Bounds.TYPE_EMPTY)
    if bounds.radius:
        points = [Vector3(), Vector3(x=float(bounds.radius))]
        return Bounds(type=Bounds.TYPE_SPHERE, points=points)
    return Bounds(type=Bounds.TYPE_BOX, points=[vector_of(bounds.upper), vector_of(bounds.lower)])


def _bounded(sources) -> list[str]:
    if len(sources) > _MOST_SOURCES:
        raise Refusal(
            "OPERATION_FAILED",
            f"the request has {len(sources)} sources. At most {_MOST_SOURCES} are allowed",
        )
    return list(sources)
