# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""References to the arrays of the entities of one name, in all worlds of a batch.

A world may replace its arrays. The references are then updated before the next use.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hrpsim.common.errors import StateError, require_name
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.world.objects.entity import Entity
from hrpsim.world.parts.scenes import Scenes
from hrpsim.world.world import World

KINDS = {"robots": "robot", "bodies": "body", "entities": "entity"}


class FollowedEntities:
    """References to the arrays of the entities called `name`, one entity in each world.

    A kernel that gets the references reads or writes many worlds in one call.

    Args:
        worlds: the worlds of the batch.
        kind: kind of the entities, as an attribute of World.
        name: name of the entities.

    Raises:
        WorldError: a world has no such entity.
    """

    def __init__(self, worlds: tuple[World, ...], kind: str, name: str) -> None:
        self._worlds, self._kind, self._name = worlds, kind, name
        self._everywhere = np.arange(len(worlds))
        self._changes = -1  # number of changes of all scenes of the process at the last check
        self._scenes: list[Any] = [None] * len(worlds)
        self._references: list[Any] = [None] * len(worlds)
        self.entities: list[Any] = [None] * len(worlds)
        self.addresses = np.zeros(len(worlds), dtype=np.int64)  # addresses of the references
        self.follow()

    @property
    def example(self) -> TupleReference:
        """The reference of the first world. All references have the same type."""
        return self._references[0]

    def follow(self) -> None:
        """Update the references after a world has replaced its arrays."""
        if self._changes == Scenes.changes:
            return
        changed = False
        for k, world in enumerate(self._worlds):
            scene = world.scene
            if scene is self._scenes[k]:
                continue
            there = getattr(world, self._kind)
            require_name(KINDS[self._kind], self._name, there)
            entity, changed = there[self._name], True
            self.entities[k], self._references[k] = entity, self._reference_to(entity)
            self._scenes[k], self.addresses[k] = scene, self._references[k].address
        if changed:
            self._compare()
        self._changes = Scenes.changes

    def chosen(self, worlds: list[int] | None) -> np.ndarray:
        """Return the numbers of the chosen worlds as an array. None means all worlds."""
        return self._everywhere if worlds is None else np.array(worlds, dtype=np.int64)

    def _reference_to(self, entity: Any) -> TupleReference:
        """Return a reference to the arrays of an entity."""
        raise NotImplementedError

    def _compare(self) -> None:
        """Store whether all entities have the same joints, after changes of the worlds."""


def alike(one: Entity, other: Entity) -> bool:
    """Return whether two entities have the same joints with the same indices in q and v."""
    return all(
        a is b or np.array_equal(a, b)
        for a, b in (
            (one.system.joint_type, other.system.joint_type),
            (one.system.q_index, other.system.q_index),
            (one.system.v_index, other.system.v_index),
        )
    )


def array_for(
    out: np.ndarray | None, shape: tuple[int, ...], worlds: list[int] | None
) -> np.ndarray:
    """Return `out`, or a new array if `out` is None.

    In a new array, rows that are not written are NaN.

    Raises:
        StateError: `out` does not fit.
    """
    if out is None:
        return np.empty(shape) if worlds is None else np.full(shape, np.nan)
    right = isinstance(out, np.ndarray) and out.shape == shape and out.dtype == np.float64
    if not (right and out.flags.c_contiguous and out.flags.writeable):
        raise StateError(
            f"out must be a contiguous, writeable array of float64 with the shape {shape}"
        )
    return out
