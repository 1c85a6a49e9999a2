# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The contents of a simulation: loaded worlds, spawned robots and bodies, saved states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hrpsim.errors import WorldError, unknown_name
from hrpsim.model.shapes.placement import Placement
from hrpsim.ros.base.entities import Entities, Refusal
from hrpsim.ros.core.world_source import LoadedWorld
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot

_LONGEST_NAME = 200  # [letters]


class SavedStates:
    """Snapshots of the present world by name; at most `limit` at once."""

    def __init__(self, limit: int = 20):
        self.limit = limit
        self._states: dict[str, dict[str, Any]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the saved states."""
        return tuple(self._states)

    def save(self, name: str, world) -> None:
        """Save the present state, in place of one of that name."""
        if not 0 < len(name) <= _LONGEST_NAME:
            raise WorldError(f"the name of a state has 1 to {_LONGEST_NAME} letters")
        if name not in self._states and len(self._states) >= self.limit:
            raise WorldError(
                f"there are {len(self._states)} saved states: {', '.join(self._states)}; "
                f"state_limit is {self.limit}"
            )
        self._states[name] = world.snapshot()

    def restore(self, name: str, world) -> None:
        """Restore a state bit for bit; WorldError for an unknown name, or one of other entities."""
        if name not in self._states:
            raise WorldError(unknown_name("saved state", name, self._states))
        world.restore(self._states[name])

    def clear(self) -> None:
        """Drop all states: they belong to another world."""
        self._states = {}


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
