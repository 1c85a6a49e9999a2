# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Laws about worlds: list, load, unload, named poses, spawnables."""

from __future__ import annotations

from typing import Any

from simulator_conformance.client import message
from simulator_conformance.session import NOT_FOUND, UNKNOWN, NotTried, Session, demand, resource_of


def reports_spawnables(session: Session) -> None:
    """GetSpawnables: each has a URI or a text; an unknown source is no obstacle."""
    found = session.expect(session.ask("GetSpawnables")).spawnables
    for one in found:
        resource = resource_of(one)
        demand(bool(resource.uri or resource.resource_string), "a spawnable without a resource")
    request = session.request("GetSpawnables", sources=[f"/{UNKNOWN}"])
    with_unknown = session.expect(session.ask("GetSpawnables", request)).spawnables
    demand(len(with_unknown) >= len(found), "with an unknown source there are fewer")


def reports_poses(session: Session) -> None:
    """GetNamedPoses: names are unique; an unused tag finds none."""
    names = [pose.name for pose in session.expect(session.ask("GetNamedPoses")).poses]
    demand(len(set(names)) == len(names), "two poses have one name")
    request = session.request("GetNamedPoses")
    request.tags.tags = [UNKNOWN]
    demand(not session.expect(session.ask("GetNamedPoses", request)).poses, "a tag does not filter")


def reports_pose_bounds(session: Session) -> None:
    """GetNamedPoseBounds: bounds of every named pose; an unknown name is NOT_FOUND."""
    for pose in session.expect(session.ask("GetNamedPoses")).poses:
        request = session.request("GetNamedPoseBounds", name=pose.name)
        bounds = session.expect(session.ask("GetNamedPoseBounds", request)).bounds
        counts = {0: (0,), 1: (2,), 2: range(3, 1_000_000), 3: (2,)}
        fits = bounds.type in counts and len(bounds.points) in counts[bounds.type]
        demand(fits, f"bounds of type {bounds.type} with {len(bounds.points)} points")
    request = session.request("GetNamedPoseBounds", name=UNKNOWN)
    session.expect(session.ask("GetNamedPoseBounds", request), NOT_FOUND)


def reports_worlds(session: Session) -> None:
    """GetAvailableWorlds: each has a resource."""
    for world in _worlds(session):
        resource = resource_of(world)
        demand(bool(resource.uri or resource.resource_string), f"{world.name!r} has no resource")


def finds_worlds_by_tags(session: Session) -> None:
    """GetAvailableWorlds: an unused tag finds none."""
    request = session.request("GetAvailableWorlds", offline_only=True)
    request.filter.tags = [UNKNOWN]
    found = session.expect(session.ask("GetAvailableWorlds", request)).worlds
    demand(not found, f"{len(found)} worlds with a tag that none has")


def reports_the_world(session: Session) -> None:
    """GetCurrentWorld: the loaded world has a name or a resource."""
    world = session.expect(session.ask("GetCurrentWorld")).world
    resource = resource_of(world)
    demand(bool(world.name or resource.uri or resource.resource_string), "it has neither")


def loads(session: Session) -> None:
    """LoadWorld: spawned entities are removed, the simulation is stopped, the world is current."""
    request = session.request("LoadWorld")
    resource = resource_of(request)
    resource.uri, resource.resource_string = _loadable(session)
    name = session.entity() if session.claims("SPAWNING") else ""
    session.expect(session.ask("LoadWorld", request, session.options.load_timeout))
    demand(name not in session.names(), "what was spawned is still there")
    if session.claims("SIMULATION_STATE_GETTING"):
        state = session.state()
        demand(state == 0, f"then it is in state {state}, not STOPPED (0)")
    if session.claims("WORLD_INFO_GETTING"):
        current = resource_of(session.expect(session.ask("GetCurrentWorld")).world)
        same = (current.uri, current.resource_string) == (resource.uri, resource.resource_string)
        demand(same, f"GetCurrentWorld reports another: {current.uri!r}")


def refuses_no_world(session: Session) -> None:
    """LoadWorld: neither uri nor resource_string is NO_RESOURCE."""
    session.expect(session.ask("LoadWorld"), "NO_RESOURCE")


def refuses_what_is_no_world(session: Session) -> None:
    """LoadWorld: a text that is not a world is UNSUPPORTED_FORMAT or RESOURCE_PARSE_ERROR."""
    request = session.request("LoadWorld")
    resource_of(request).resource_string = "<this is no world"
    answer = session.ask("LoadWorld", request, session.options.load_timeout)
    session.expect(answer, "UNSUPPORTED_FORMAT", "RESOURCE_PARSE_ERROR")


def unloads(session: Session) -> None:
    """UnloadWorld: then NO_WORLD_LOADED, no entities, not playing; a world can be loaded."""
    if not session.claims("WORLD_LOADING"):
        raise NotTried("a world that is unloaded could not be loaded again")
    back = session.request("LoadWorld")
    resource = resource_of(back)
    resource.uri, resource.resource_string = _loadable(session)
    session.expect(session.ask("UnloadWorld"))
    try:
        session.expect(session.ask("UnloadWorld"), "NO_WORLD_LOADED")
        if session.claims("WORLD_INFO_GETTING"):
            session.expect(session.ask("GetCurrentWorld"), "NO_WORLD_LOADED")
        if session.claims("SIMULATION_STATE_GETTING"):
            state = session.state()
            demand(state == 4, f"then it is in state {state}, not NO_WORLD (4)")
        if session.claims("SIMULATION_STATE_SETTING"):
            request = session.request("SetSimulationState")
            request.state.state = message("SimulationState").STATE_PLAYING
            session.refused(session.ask("SetSimulationState", request))
        demand(not session.simulator.call("GetEntities").entities, "there are entities left")
    finally:
        session.expect(session.ask("LoadWorld", back, session.options.load_timeout))


def _worlds(session: Session) -> list[Any]:
    request = session.request("GetAvailableWorlds", offline_only=True)
    return list(session.expect(session.ask("GetAvailableWorlds", request)).worlds)


def _loadable(session: Session) -> tuple[str, str]:
    """Return URI and text of a world: the requested, the current, or any."""
    if session.options.world:
        return session.options.world, ""
    if session.claims("WORLD_INFO_GETTING"):
        current = resource_of(session.expect(session.ask("GetCurrentWorld")).world)
        if current.uri or current.resource_string:
            return current.uri, current.resource_string
    if session.claims("AVAILABLE_WORLDS"):
        for world in _worlds(session):
            return resource_of(world).uri, resource_of(world).resource_string
    raise NotTried("no world is known: give --world URI")
