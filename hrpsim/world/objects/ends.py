# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The end of a connection: a body, a link of a robot, or the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from hrpsim.errors import ModelError, WorldError, unknown_name
from hrpsim.kinematics.forward import new_kinematics, update_poses
from hrpsim.model.shapes.placement import IDENTITY, Placement
from hrpsim.world.objects.body import Body
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot

if TYPE_CHECKING:
    from hrpsim.world.objects.entity import WorldState


@dataclass(frozen=True)
class End:
    """A link in the world: its entity (None: the world itself), and its frame in its body."""

    entity: Entity | None
    link: str
    body: int  # of the entity; -1: fixed to the world
    frame: Placement  # the link's, in the body

    @property
    def owner(self) -> tuple[str, str]:
        """(entity name, link name), as contacts give them."""
        return ("world", "world") if self.entity is None else (self.entity.name, self.link)

    @property
    def body_of_scene(self) -> int:
        """Number of the body in the scene, -1 for the world."""
        return self.entity.first_body + self.body if self.body >= 0 else -1

    def pose(self, world: WorldState) -> Placement:
        """Return the present placement of the link's frame."""
        if self.body < 0:
            return self.frame
        entity = self.entity
        poses = new_kinematics(len(entity.system.parent))
        update_poses(entity.forest, world.present_q(entity), poses)
        here, root = poses[self.body], poses[entity.system.root[self.body]]
        return Placement(here["R"].copy(), root["origin"] + here["p"]).then(self.frame)


EndLike: TypeAlias = Entity | tuple[Entity | str, str] | str | None
_WORLD = End(None, "world", -1, IDENTITY)


def find_end(world: WorldState, given: EndLike) -> End:
    """Return the end that is meant; WorldError names what exists.

    A Body, a Robot with one moving link, (Robot, "link"), "entity", "entity/link", or None or
    "world". Robots and bodies may be given by name wherever they may be given as objects.
    """
    if given is None or (isinstance(given, str) and given == "world"):
        return _WORLD
    entity, link = given, None
    if isinstance(given, tuple) and len(given) == 2:
        entity, link = given
    if isinstance(entity, str):
        entity, link = _split(world, entity) if link is None else (world.entities[entity], link)
    if not isinstance(entity, Entity):
        raise WorldError(
            'a connection takes a body, (robot, "link"), "entity/link" or None for the world,'
            f" got {given!r}"
        )
    if entity.world is not world:
        raise WorldError(f"{entity.name!r} is in another world")
    return _end_of(entity, link)


def _end_of(entity: Entity, link: str | None) -> End:
    if isinstance(entity, Body):
        if link not in (None, entity.name):
            raise WorldError(f"{entity.name!r} is a body: its only link has the same name")
        return End(entity, entity.name, 0, IDENTITY)
    if link is None:
        link = _only_link(entity)
    try:
        frame = entity.model.frame(link)
    except (ModelError, TypeError) as error:
        names = entity.model.link_names
        raise WorldError(f"{entity.name!r}: {unknown_name('link', str(link), names)}") from error
    return End(entity, link, frame.body, Placement(frame.R, frame.p))


def _only_link(robot: Robot) -> str:
    moving = [frame.name for frame in robot.model.frames.values() if frame.body >= 0]
    if len(moving) != 1:
        raise WorldError(
            f'{robot.name!r} has {len(moving)} moving links: say which, as "{robot.name}/link"; '
            f"available: {', '.join(moving[:12])}"
        )
    return moving[0]


def _split(world: WorldState, text: str) -> tuple[Entity, str | None]:
    """Return entity and link of "entity" or "entity/link"."""
    entities = world.entities
    if text in entities:
        return entities[text], None
    owners = [name for name in entities if text.startswith(f"{name}/")]
    if not owners:
        raise WorldError(unknown_name("robot or body", text, entities))
    name = max(owners, key=len)
    return entities[name], text[len(name) + 1 :]
