# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Services of simulation_interfaces for worlds: list, load, unload, named poses."""

from __future__ import annotations

from geometry_msgs.msg import Vector3
from rclpy.node import Node
from simulation_interfaces.msg import Bounds

from hrpsim.ros.base.entities import Refusal
from hrpsim.ros.base.faults import resource_of
from hrpsim.ros.base.geometry_values import fill, vector_of
from hrpsim.ros.core.simulation import Simulation
from hrpsim.ros.core.simulation_contents import (
    LoadedWorld,
    find_spawnables,
    find_worlds,
    load_source,
)
from hrpsim.ros.core.turns import when_compiled
from hrpsim.ros.simulation.entity_services import offer, tag_filter
from hrpsim.ros.simulation.world_setup import world_of
from hrpsim.world.file.about import PoseBounds, WorldNotes

_MOST_SOURCES = 100


class WorldServices:
    """Offers the services on the node; a world is loaded between two steps of its loop.

    Messages that early releases lack are imported where they are used.
    """

    def __init__(self, node: Node, simulation: Simulation):
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
        found = find_worlds(sources)
        if found.problems and not request.continue_on_error:
            raise Refusal("NOT_FOUND", "; ".join(found.problems))
        for entry in found.entries:
            if has_tags(entry.notes.tags):
                response.worlds.append(WorldResource())
                _fill_world(response.worlds[-1], LoadedWorld(entry.notes, entry.uri))
        return "; ".join(found.problems)

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

        found = find_spawnables(_bounded(request.sources))
        for uri in found.entries:
            spawnable = Spawnable(description=f"robot description {uri.rpartition('/')[2]}")
            resource_of(spawnable).uri = uri
            response.spawnables.append(spawnable)
        return "; ".join(found.problems)

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
            raise Refusal("NOT_FOUND", f"no pose {request.name!r}; there are: {known}")
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
        raise Refusal("OPERATION_FAILED", f"{len(sources)} sources; {_MOST_SOURCES} at most")
    return list(sources)
