# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Copy worlds, and pickle worlds with a checksum."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, TypeVar

from hrpsim.common.sealing import Sealed
from hrpsim.engine.collision.solids.solid_pool import lasting_arrays
from hrpsim.world.objects.robot import Robot
from hrpsim.world.parts.snapshots import SavedFormat, Snapshots, refuse_other_format, saved_format

AnyWorld = TypeVar("AnyWorld", bound="Copies")


class Copies(Sealed, Snapshots):
    """Independent copies of a world, in this process or pickled for another process.

    A world is pickled with a checksum, together with its robots and bodies.
    """

    _kind = "world"

    def copy(self: AnyWorld) -> AnyWorld:
        """Return an independent world in the same state. `copy.copy` does the same.

        The copies share only the data that never change: models of robots, descriptions of links
        and shapes, and the solids of meshes and height fields.
        """
        self._contents.refuse_while_stepping()
        return deepcopy(self, {id(shared): shared for shared in self.shared_by_copies()})

    def shared_by_copies(self) -> list[Any]:
        """Return the data that never change and that copies share."""
        shared: list[Any] = [*self._contents.fixed]
        if (scene := self._scenes.present) is not None:
            shared += lasting_arrays(scene.collision.polyhedra)
        for entity in self._contents.entities:
            shared += [*entity.frames, *entity.shapes, *entity._inertias]
            if isinstance(entity, Robot):
                shared += [entity.model, entity.described]
                shared += [*entity.model.sensors, *entity.model.sampled_sensors]
        return shared

    def __copy__(self: AnyWorld) -> AnyWorld:
        """Return an independent world. Worlds that share arrays would corrupt each other."""
        return self.copy()

    def _saved_format(self) -> SavedFormat:
        return saved_format()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, with the format and without machine code."""
        return {
            "format": saved_format(),
            **self.__dict__,
            "_reader": None,
            "_casters": {},
            "_prepared": None,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled state. WorldError if another version of hrpsim saved the state."""
        refuse_other_format("world", state.get("format"))
        self.__dict__.update(state)
        del self.__dict__["format"]
