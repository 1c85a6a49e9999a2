# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""States of the entities of one name in all worlds of a batch, gathered to contiguous arrays."""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np

from hrpsim.errors import StateError
from hrpsim.kinematics.layout import velocities_from_kernel
from hrpsim.world.objects.entity import Entity

if TYPE_CHECKING:
    from hrpsim.world.world import World


class BatchStates:
    """Where the states of some entities are, until the arrays of one of their worlds are remade."""

    def __init__(self, worlds: tuple[World, ...], entities: list[Entity]):
        self._worlds, self.entities = worlds, entities
        first = entities[0]
        self._sizes = first.nq, first.nv
        if any((one.nq, one.nv) != self._sizes for one in entities):
            raise StateError(
                f"the {first.name!r} of the worlds have different numbers of joints; read each of"
                " `worlds` by itself"
            )
        self._alike = all(_is_alike(one, first) for one in entities)
        self._scenes: list[Any] = []
        self._q: list[np.ndarray] = []
        self._velocities: list[np.ndarray] = []

    def q(self, out: np.ndarray | None) -> np.ndarray:
        """Return the configurations (count, nq), in `out` if that is given."""
        self._find()
        out = self._room(out, self._sizes[0])
        np.concatenate(self._q, out=out.reshape(-1))
        return out

    def v(self, out: np.ndarray | None) -> np.ndarray:
        """Return the public velocities (count, nv), in `out` if that is given."""
        out = self._room(out, self._sizes[1])
        if not self._alike:
            for row, one in zip(out, self.entities, strict=True):
                row[:] = one.v
            return out
        q = self.q(None)
        np.concatenate(self._velocities, out=out.reshape(-1))
        velocities_from_kernel(self.entities[0].forest, q, out)
        return out

    def is_of(self, worlds: tuple[World, ...], name: str) -> bool:
        """Return whether these entities are still those called `name`."""
        return all(map(is_, self.entities, [one._contents.by_name.get(name) for one in worlds]))

    def _find(self) -> None:
        """Take the views of the states again, if the arrays of a world were remade."""
        scenes = [world._scenes.present for world in self._worlds]
        if None not in scenes and len(self._scenes) and all(map(is_, scenes, self._scenes)):
            return
        self._scenes = [world.scene for world in self._worlds]
        self._q = [one._q() for one in self.entities]
        self._velocities = [one._velocity() for one in self.entities]

    def _room(self, out: np.ndarray | None, width: int) -> np.ndarray:
        """Return an array (count, width), `out` if it is one."""
        shape = len(self.entities), width
        if out is None:
            return np.empty(shape)
        right = isinstance(out, np.ndarray) and out.shape == shape and out.dtype == np.float64
        if not (right and out.flags.c_contiguous and out.flags.writeable):
            raise StateError(
                f"out should be a contiguous, writeable array of float64 with the shape {shape}"
            )
        return out


def _is_alike(one: Entity, other: Entity) -> bool:
    """Return whether two entities have the same joints in the same places of q and v."""
    return all(
        one is other or np.array_equal(one, other)
        for one, other in (
            (one.system.joint_type, other.system.joint_type),
            (one.system.q_index, other.system.q_index),
            (one.system.v_index, other.system.v_index),
        )
    )
