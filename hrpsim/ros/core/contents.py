# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Changes to the contents of a simulation: loaded worlds, spawned robots and bodies."""

from __future__ import annotations

from collections.abc import Callable

from hrpsim.model.shapes.placement import Placement
from hrpsim.ros.base.entities import Entities, Refusal
from hrpsim.ros.core.world_source import LoadedWorld
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot


class Contents:
    """The robots and bodies of the world, with the robots' topics; calls `changed` after changes.

    loaded: the present world; None: there is none, and nothing can be spawned.
    """

    def __init__(self, entities: Entities, robots, loaded: LoadedWorld | None):
        self._entities, self._robots = entities, robots
        self.loaded: LoadedWorld | None = loaded or LoadedWorld()
        self.changed: list[Callable[[], None]] = []  # called after a change

    def require_world(self) -> None:
        """Raise Refusal where no world is loaded."""
        if self.loaded is None:
            raise Refusal("INCORRECT_STATE", "no world is loaded: load one first")

    def spawn(
        self,
        name: str,
        uri: str,
        text: str,
        pose: Placement,
        *,
        namespace: str = "",
        allow_renaming: bool = False,
    ) -> tuple[Entity, str]:
        """Call `Entities.spawn`; return the entity and, for a robot, its namespace."""
        self.require_world()
        with self._entities.all_or_nothing():
            entity = self._entities.spawn(name, uri, text, pose, allow_renaming=allow_renaming)
            topics = self._robots.add(entity, namespace) if isinstance(entity, Robot) else ""
        self.notify()
        return entity, topics

    def delete(self, name: str) -> int:
        """Remove an entity, with its topics; return how many connections were removed with it."""
        count = self._entities.delete(name)
        self._robots.drop_removed()
        self.notify()
        return count

    def delete_spawned(self) -> int:
        """Remove all spawned entities; return how many there were."""
        count = self._entities.delete_spawned()
        self._robots.drop_removed()
        self.notify()
        return count

    def notify(self) -> None:
        """Report to the functions in `changed` that the simulated entities may have changed."""
        for notify in self.changed:
            notify()
