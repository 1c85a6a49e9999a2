# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What comes into a simulation and goes: worlds are loaded, robots and bodies are spawned."""

from __future__ import annotations

from collections.abc import Callable

from hrpsim.model.shapes.placement import Placement
from hrpsim.ros.base.entities import Entities, Refusal
from hrpsim.ros.core.world_source import LoadedWorld
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot


class Contents:
    """The robots and bodies of the world, with the robots' topics; those in `changed` are told.

    loaded: which world it is; None: there is none, and nothing can come.
    """

    def __init__(self, entities: Entities, robots, loaded: LoadedWorld | None):
        self._entities, self._robots = entities, robots
        self.loaded: LoadedWorld | None = loaded or LoadedWorld()
        self.changed: list[Callable[[], None]] = []  # who is told of what came or went

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
        """Add what `Entities.spawn` adds; return it and, for a robot, where its topics are."""
        self.require_world()
        with self._entities.all_or_nothing():
            entity = self._entities.spawn(name, uri, text, pose, allow_renaming=allow_renaming)
            topics = self._robots.add(entity, namespace) if isinstance(entity, Robot) else ""
        self.tell()
        return entity, topics

    def delete(self, name: str) -> int:
        """Take a robot, with its topics, or a body out of the world.

        Return how many connections went with it. Raises Refusal where there is none.
        """
        count = self._entities.delete(name)
        self._robots.drop_removed()
        self.tell()
        return count

    def delete_spawned(self) -> int:
        """Take out all that was spawned; return how many there were."""
        count = self._entities.delete_spawned()
        self._robots.drop_removed()
        self.tell()
        return count

    def tell(self) -> None:
        """Tell those who describe what is simulated that it may be another now."""
        for told in self.changed:
            told()
