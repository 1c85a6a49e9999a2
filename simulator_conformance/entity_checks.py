# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Laws about entities: spawn, find, query, move, delete."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import Vector3

from simulator_conformance.client import message
from simulator_conformance.session import (
    NOT_FOUND,
    OK,
    UNKNOWN,
    NotTried,
    Session,
    demand,
    near,
    resource_of,
)


def spawns(session: Session) -> None:
    """SpawnEntity: GetEntities then lists the entity under its name."""
    request = session.spawning()
    name = session.expect(session.ask("SpawnEntity", request)).entity_name
    demand(bool(name), "entity_name is empty")
    demand(name.rpartition("/")[2] == request.name, f"{request.name!r} is called {name!r}")
    demand(name in session.names(), f"{name!r} is not among the entities")


def refuses_a_taken_name(session: Session) -> None:
    """SpawnEntity: a taken name is NAME_NOT_UNIQUE; with allow_renaming another is found."""
    request = session.spawning()
    first = session.expect(session.ask("SpawnEntity", request)).entity_name
    request.initial_pose.pose.position.x += 3.0
    session.expect(session.ask("SpawnEntity", request), "NAME_NOT_UNIQUE")
    request.allow_renaming = True
    second = session.expect(session.ask("SpawnEntity", request)).entity_name
    demand(second != first, "two entities have one name")
    found = session.names()
    demand({first, second} <= set(found), f"{first!r} and {second!r} are not both there")


def refuses_no_resource(session: Session) -> None:
    """SpawnEntity: neither uri nor resource_string is NO_RESOURCE."""
    request = session.spawning()
    resource = resource_of(request)
    resource.uri = resource.resource_string = ""
    session.expect(session.ask("SpawnEntity", request), "NO_RESOURCE")


def refuses_what_is_no_model(session: Session) -> None:
    """SpawnEntity: a text that is not a model is UNSUPPORTED_FORMAT or RESOURCE_PARSE_ERROR."""
    request = session.spawning()
    resource = resource_of(request)
    resource.uri, resource.resource_string = "", "<this is no model"
    answer = session.ask("SpawnEntity", request)
    session.expect(answer, "UNSUPPORTED_FORMAT", "RESOURCE_PARSE_ERROR")
    demand(request.name not in session.names(), "something was spawned nevertheless")


def refuses_an_invalid_pose(session: Session) -> None:
    """SpawnEntity: a quaternion of length 0 is INVALID_POSE."""
    request = session.spawning()
    request.initial_pose.pose.orientation.w = 0.0
    session.expect(session.ask("SpawnEntity", request), "INVALID_POSE")


def stands_where_it_was_put(session: Session) -> None:
    """SpawnEntity: initial_pose is where the entity then is."""
    if not session.claims("ENTITY_STATE_GETTING"):
        raise NotTried("states cannot be got")
    session.pause()
    request = session.spawning()
    name = session.expect(session.ask("SpawnEntity", request)).entity_name
    wanted = request.initial_pose.pose
    demand(near(session.pose_of(name), wanted), "the entity is elsewhere")


def spawns_several(session: Session) -> None:
    """SpawnEntities: valid ones are spawned; with an invalid one it is ENTITIES_SPAWN_FAILED."""
    wrong = session.spawning("SpawnEntities")
    resource = resource_of(wrong)
    resource.uri = resource.resource_string = ""
    request = session.request("SpawnEntities")
    request.spawn_requests = [session.spawning("SpawnEntities"), wrong]
    answer = session.ask("SpawnEntities", request)
    session.expect(answer, "ENTITIES_SPAWN_FAILED")
    demand(len(answer.results) == 2, f"{len(answer.results)} results for 2 requests")
    good, bad = (one.result.result for one in answer.results)
    demand(good == OK, f"the good one has result {good}")
    demand(bad == message("SpawnResult").NO_RESOURCE, f"the bad one has result {bad}")
    demand(answer.results[0].entity_name in session.names(), "the good one is not there")


def finds_by_name(session: Session) -> None:
    """GetEntities: the filter is a regular expression of POSIX, and an empty one finds all."""
    name = session.entity()
    plain = name.rpartition("/")[2]
    demand(name in session.names(), "it is not among all")
    for pattern in (
        f"{plain[:3]}.*{plain[-1]}$",
        f"{plain[:3]}[[:alnum:]_]+$",
        f"{UNKNOWN}|{plain}",
    ):
        demand(name in session.names(filter=pattern), f"{pattern} does not find {name}")
    demand(session.names(filter=f"^{UNKNOWN}$") == [], "a name that nobody has is found")


def finds_by_category(session: Session) -> None:
    """GetEntities: categories exclude entities of other categories."""
    name = session.entity()
    answer = session.ask("GetEntityInfo", session.request("GetEntityInfo", entity=name))
    category = session.expect(answer).info.category
    demand(name in session.names(categories=[category]), "its own category leaves it out")
    other = message("EntityCategory")()
    other.category = 2 if category.category != 2 else 0
    demand(name not in session.names(categories=[other]), "another category does not")


def finds_by_tags(session: Session) -> None:
    """GetEntities: tags exclude entities without any of them."""
    name = session.entity()
    tags = message("TagsFilter")()
    tags.tags = [UNKNOWN]
    demand(name not in session.names(tags=tags), "a tag that it does not have finds it")


def finds_in_a_sphere(session: Session) -> None:
    """GetEntities: a sphere finds the entities that overlap it, and no others."""
    _finds_inside(session, 3, lambda x, y, z, r: [(x, y, z), (r, 0.0, 0.0)])


def finds_in_a_box(session: Session) -> None:
    """GetEntities: a box finds the entities that overlap it, and no others."""
    _finds_inside(session, 1, lambda x, y, z, r: [(x + r, y + r, z + r), (x - r, y - r, z - r)])


def finds_in_a_hull(session: Session) -> None:
    """GetEntities: a convex hull finds the entities that overlap it, and no others."""
    _finds_inside(
        session,
        2,
        lambda x, y, z, r: [
            (x + 3 * r, y, z),
            (x - r, y + 3 * r, z - r),
            (x - r, y - 3 * r, z - r),
            (x - r, y, z + 3 * r),
        ],
    )


def reports_states(session: Session) -> None:
    """GetEntityState: the state of an entity, in a frame; an unknown name is NOT_FOUND."""
    name = session.entity()
    session.expect(session.ask("GetEntityState", session.request("GetEntityState", entity=name)))
    unknown = session.request("GetEntityState", entity=UNKNOWN)
    session.expect(session.ask("GetEntityState", unknown), NOT_FOUND)


def reports_all_states(session: Session) -> None:
    """GetEntitiesStates: as many states as entities, those of GetEntities."""
    name = session.entity()
    answer = session.expect(session.ask("GetEntitiesStates"))
    demand(len(answer.states) == len(answer.entities), "states and entities are not as many")
    demand(name in answer.entities, f"{name!r} is not there")
    demand(sorted(answer.entities) == sorted(session.names()), "GetEntities reports others")


def sets_a_pose(session: Session) -> None:
    """SetEntityState: the entity is then where it was set."""
    session.pause()
    name, request = _moving(session)
    if hasattr(request, "set_pose"):
        request.set_pose = True
    session.expect(session.ask("SetEntityState", request))
    demand(near(session.pose_of(name), request.state.pose), "the entity is elsewhere")


def sets_only_what_is_flagged(session: Session) -> None:
    """SetEntityState: without set_pose the pose stays (release 2.1)."""
    name, request = _moving(session)
    if not hasattr(request, "set_pose"):
        raise NotTried("the installed release has no flags")
    session.pause()
    before = session.pose_of(name)
    request.set_twist = True
    session.expect(session.ask("SetEntityState", request))
    demand(near(session.pose_of(name), before), "the pose was set")


def refuses_states(session: Session) -> None:
    """SetEntityState: an unknown name is NOT_FOUND; a quaternion of length 0 is INVALID_POSE."""
    _, request = _moving(session)
    if hasattr(request, "set_pose"):
        request.set_pose = True
    request.state.pose.orientation.w = request.state.pose.orientation.z = 0.0
    request.state.pose.orientation.x = request.state.pose.orientation.y = 0.0
    session.expect(session.ask("SetEntityState", request), "INVALID_POSE")
    request.state.pose.orientation.w, request.entity = 1.0, UNKNOWN
    session.expect(session.ask("SetEntityState", request), NOT_FOUND)


def reports_infos(session: Session) -> None:
    """GetEntityInfo: a category of the standard; an unknown name is NOT_FOUND."""
    name = session.entity()
    answer = session.ask("GetEntityInfo", session.request("GetEntityInfo", entity=name))
    category = session.expect(answer).info.category.category
    demand(category in (0, 1, 2, 4, 5), f"category {category}")
    unknown = session.request("GetEntityInfo", entity=UNKNOWN)
    session.expect(session.ask("GetEntityInfo", unknown), NOT_FOUND)


def sets_infos(session: Session) -> None:
    """SetEntityInfo: the new info is returned, its tags are found; an unknown name is NOT_FOUND."""
    name = session.entity()
    request = session.request("SetEntityInfo", entity=name)
    request.info.category.category = 4
    request.info.description = "seen by a conformance check"
    request.info.tags = ["conformance_tag"]
    session.expect(session.ask("SetEntityInfo", request))
    answer = session.ask("GetEntityInfo", session.request("GetEntityInfo", entity=name))
    demand(session.expect(answer).info == request.info, "GetEntityInfo reports another")
    if session.claims("ENTITY_TAGS"):
        tags = message("TagsFilter")()
        tags.tags = ["conformance_tag"]
        demand(name in session.names(tags=tags), "its tag does not find it")
    request.entity = UNKNOWN
    session.expect(session.ask("SetEntityInfo", request), NOT_FOUND)


def reports_bounds(session: Session) -> None:
    """GetEntityBounds: a box whose first corner is the upper one; an unknown name is NOT_FOUND."""
    name = session.entity()
    answer = session.ask("GetEntityBounds", session.request("GetEntityBounds", entity=name))
    bounds = session.expect(answer).bounds
    if bounds.type == 1:
        demand(len(bounds.points) == 2, f"a box of {len(bounds.points)} points")
        upper, lower = bounds.points
        above = all(getattr(upper, k) >= getattr(lower, k) for k in "xyz")
        demand(above, "the first corner is not the upper one")
    unknown = session.request("GetEntityBounds", entity=UNKNOWN)
    session.expect(session.ask("GetEntityBounds", unknown), NOT_FOUND)


def deletes(session: Session) -> None:
    """DeleteEntity: the entity is removed; a second deletion is NOT_FOUND."""
    name = session.entity()
    request = session.request("DeleteEntity", entity=name)
    session.expect(session.ask("DeleteEntity", request))
    demand(name not in session.names(), "it is still there")
    session.expect(session.ask("DeleteEntity", request), NOT_FOUND)


def _finds_inside(session: Session, kind: int, points: Any) -> None:
    name = session.entity()
    if not session.claims("ENTITY_STATE_GETTING"):
        raise NotTried("states cannot be got")
    at = session.pose_of(name).position
    for offset, found in ((0.0, True), (20.0, False)):
        bounds = message("Bounds")()
        bounds.type = kind
        for x, y, z in points(at.x + offset, at.y, at.z, 1.0):
            bounds.points.append(Vector3(x=x, y=y, z=z))
        inside = name in session.names(bounds=bounds)
        where = "about it" if found else f"{offset:g} m from it"
        demand(inside == found, f"bounds {where} {'do not find it' if found else 'find it'}")


def _moving(session: Session) -> tuple[str, Any]:
    """Return an entity and a request to move it, without flags."""
    name = session.entity()
    request = session.request("SetEntityState", entity=name)
    request.state.pose = session.pose_of(name)
    request.state.pose.position.x += 2.0
    request.state.pose.position.z += 1.0
    return name, request
