# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The scene of a world: arrays made at first use, updated as entities are added and removed."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.interrupts import uninterrupted
from hrpsim.engine.collision.solids.solid_pool import SolidPool
from hrpsim.engine.compile.fields import Axis, Life, at, declared_fields
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.scene.features import use_features
from hrpsim.model.shapes.geometry import MESH, Mesh
from hrpsim.world.arrays.assemble import (
    Shapes,
    assemble,
    joined_actuators,
    joined_sensors,
    joined_shapes,
    joined_tendons,
)
from hrpsim.world.arrays.change import (
    Indices,
    carry,
    indices_with_more,
    indices_without_fixed,
    with_room,
)
from hrpsim.world.arrays.spare_room import Added, SpareRoom, forget_last_step
from hrpsim.world.objects.entity import Entity
from hrpsim.world.parts.results import Naming
from hrpsim.world.parts.world_contents import Contents

_STATE = [(path, field) for path, field in declared_fields(Scene) if field.life is Life.STATE]
_LASTING = attrgetter(*(path for path, _ in _STATE))
_SPARE_SOLIDS = 64  # number of unused solids, above which all are gathered again


class Scenes:
    """The present scene of a world's contents.

    `complete` is a function that sets data of a new scene that depend on several components. It
    gets the added entities and the numbers of the added fixed shapes, or the numbers of the removed
    shapes. It gets no arguments for a scene that was built anew.
    """

    changes: ClassVar[int] = 0  # number of changes of present scenes, of all worlds of the process

    def __init__(self, contents: Contents, complete: Callable[..., None]) -> None:
        self._contents, self._complete = contents, complete
        self.present: Scene | None = None  # None: to be assembled
        self.owners: list[tuple[str, str]] = []  # (entity, link) of each shape
        self._previous: Scene | None = None  # scene from which the next scene is derived
        self._built = 0, 0  # numbers of entities and fixed shapes in it
        self._is_outdated = True  # whether `_previous` differs by more than added entities
        self._room, self._pool = SpareRoom(), None
        self._raw: tuple[Scene, list] | None = None  # a scene and its `raw_lasting`

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute. Count the changes of `present`.

        Objects with references to the scene's arrays compare the count and update the references.
        """
        object.__setattr__(self, name, value)
        if name == "present":
            Scenes.changes += 1

    @property
    def scene(self) -> Scene:
        """The arrays that the compiled step works on, made at first use."""
        if self.present is None:
            self._build()
        return self.present

    def rebuild(self) -> None:
        """Rebuild the arrays at the next use. The state of present entities does not change."""
        self.expect_more()
        self._is_outdated = True

    def expect_more(self) -> None:
        """Add new entities and fixed shapes to the arrays at the next use."""
        self._contents.refuse_while_stepping()
        if self.present is not None:
            self._previous, self.present = self.present, None

    def _build(self) -> None:
        entities, fixed = self._built
        if self._is_outdated or not self._extend():
            indices = None
            if self._previous is not None:
                indices = indices_with_more(
                    self._previous, fixed, len(self._contents.fixed) - fixed
                )
            self.assemble(self._previous, indices)
        self._previous = None
        for entity in self._contents.entities[entities:]:
            entity.initialise()

    def _extend(self) -> bool:
        """Add new entities and fixed shapes to the last scene.

        Return False if the arrays must be built anew.
        """
        old, contents = self._previous, self._contents
        time_step, first = contents.time_step, self._built[1]
        entities = contents.entities[self._built[0] :]
        fixed = joined_shapes(contents.fixed[first:], [], contents.materials.index)
        shapes = joined_shapes([], entities, contents.materials.index)
        added = Added(
            entities,
            shapes,
            joined_sensors(entities, time_step),
            joined_actuators(entities, time_step),
            joined_tendons(entities),
        )
        if not (added.fits(old) and all(self._give_solids(old, some) for some in (fixed, shapes))):
            return False
        with uninterrupted():
            scene = self._room.with_more(old, added) if entities else old
            if fixed.owners:
                scene = self._room.with_fixed(scene, fixed, first)
            if self._pool is not None:
                polyhedra = self._pool.polyhedra
                scene = scene._replace(collision=scene.collision._replace(polyhedra=polyhedra))
            self.present = scene._replace(
                materials=contents.materials.table(), connections=contents.connection_records
            )
            self.owners = self.owners[:first] + fixed.owners + self.owners[first:] + shapes.owners
            self._built = len(contents.entities), len(contents.fixed)
            self._complete(added=entities, fixed=range(first, self._built[1]))
        return True

    def _give_solids(self, old: Scene, shapes: Shapes) -> bool:
        """Assign solids to new shapes in a world with meshes.

        Return False if the arrays must be built anew, for example for the first mesh of the world.
        """
        solids, polyhedra = np.full(len(shapes.geometries), -1), old.collision.polyhedra
        if len(polyhedra.solids):
            known = self._pool or self._solid_pool(old)
            if known.count > 2 * len(self.owners) + _SPARE_SOLIDS:
                return False  # most belong to removed shapes
            solids[:] = [known.number_of(geometry) for geometry in shapes.geometries]
            self._pool, polyhedra = known, known.polyhedra
        elif any(isinstance(geometry, Mesh) for geometry in shapes.geometries):
            return False
        shapes.give_solids(solids, polyhedra)
        return True

    def _solid_pool(self, scene: Scene) -> SolidPool:
        contents, collision = self._contents, scene.collision
        there = contents.entities[: self._built[0]]
        fixed = contents.fixed[: self._built[1]]
        shapes = joined_shapes(fixed, there, contents.materials.index)
        return SolidPool(collision.polyhedra, shapes.geometries, collision.shapes["solid"])

    def take_out(self, entity: Entity, indices: Indices, first_shape: int) -> None:
        """Remove an entity from the scene, after its removal from the contents.

        Args:
            entity: entity with indices that are still valid in the scene.
            indices: result of `indices_without`.
            first_shape: number of the entity's first shape.
        """
        numbers = range(first_shape, first_shape + len(entity.shapes))
        self._leave(numbers, indices, lambda scene: self._room.without(scene, entity, indices))

    def take_out_fixed(self, first: int, count: int) -> None:
        """Remove fixed shapes from the scene, after their removal from the contents."""
        self._leave(
            range(first, first + count),
            indices_without_fixed(self.scene, first, count),
            lambda scene: self._room.without_fixed(scene, first, count),
        )

    def _leave(self, numbers: range, indices: Indices, reduced: Callable[[Scene], Scene]) -> None:
        """Remove shapes from the scene, or build the scene anew after the last mesh has left.

        Args:
            numbers: numbers of the removed shapes.
            indices: new indices of the scene's entries, for a rebuilt scene.
            reduced: returns the scene without the shapes and the entries that belong to them.
        """
        scene = self.scene
        is_mesh = scene.collision.shapes["kind"] == MESH
        if is_mesh[numbers.start : numbers.stop].sum() == is_mesh.sum() > 0:
            self.assemble(scene, indices)  # a world without meshes needs no solids
            return
        with uninterrupted():
            scene = reduced(scene)
            self.present = scene._replace(connections=self._contents.connection_records)
            self.owners = self.owners[: numbers.start] + self.owners[numbers.stop :]
            self._built = len(self._contents.entities), len(self._contents.fixed)
            self._complete(removed=numbers)

    def assemble(self, old: Scene | None, indices: Indices | None) -> None:
        """Build the arrays of the present contents. Take over the state from an old scene."""
        contents = self._contents
        self.present, self.owners = assemble(
            contents.settings,
            contents.clock,
            contents.entities,
            contents.fixed,
            contents.materials.table(),
            contents.materials.index,
            contents.connection_records,
        )
        if old is not None:
            self.present = carry(old, self.present, indices)
        self._room, self._pool, self._is_outdated = SpareRoom(), None, False
        self._built = len(contents.entities), len(contents.fixed)
        self._complete()

    def use_connections(self, connection_records: np.ndarray) -> None:
        """Set the records of the connections."""
        self._contents.connection_records = connection_records
        if self.present is not None:
            self.present = self.present._replace(connections=connection_records)
            use_features(self.present)

    def use_materials(self) -> None:
        """Update the properties of materials from the contents."""
        self._contents.refuse_while_stepping()
        if self.present is None:
            return
        table = self._contents.materials.table()
        if self.present.materials.shape == table.shape:
            self.present.materials[:] = table
        else:
            self.present = self.present._replace(materials=table)
        use_features(self.present)

    def use_collision(self, **arrays: np.ndarray) -> None:
        """Replace arrays of the collision detection, which then searches all pairs again.

        Arrays of the same shape are overwritten, so references to the scene stay valid.
        """
        collision = self.present.collision
        others = {k: new for k, new in arrays.items() if new.shape != getattr(collision, k).shape}
        for name in arrays.keys() - others.keys():
            getattr(collision, name)[...] = arrays[name]
        if others:
            self.present = self.present._replace(collision=collision._replace(**others))
        self.present.search["candidate_count"] = -1

    def present_q(self, entity: Entity) -> np.ndarray:
        """Return the configuration of a robot or body, without building arrays."""
        scene = self.present or self._previous
        if scene is None or entity.first_q + entity.nq > len(scene.q):
            return entity.initial_q.copy()
        return scene.q[entity.first_q : entity.first_q + entity.nq].copy()

    def forget_contacts(self) -> None:
        """Drop the results of the last step, after a state was set by hand."""
        self._contents.refuse_while_stepping()
        scene = self.scene
        scene.collision.previous["forgotten"][: int(scene.counts["previous_count"][0])] = 1
        scene.search["candidate_count"] = -1
        scene.joint_impulses[:] = 0
        scene.joint_impact_impulses[:] = 0.0
        scene.connections["impulse"] = scene.connections["impact_impulse"] = 0.0

    def add_wrench(self, body: int, point: ArrayLike, force: ArrayLike, torque: ArrayLike) -> None:
        """Apply a wrench to a body of the scene during the next call of `step`."""
        k = int(self.scene.counts["wrench_count"][0])
        if k == len(self.present.wrenches):
            self.present = with_room(self.present, Axis.WRENCH, 2 * k)
        self.present.wrenches[k] = (body, tuple(point), tuple(force), tuple(torque))
        self.present.counts["wrench_count"] = k + 1

    def naming(self) -> Naming:
        """Return the object that names the constraints of the present scene."""
        contents = self._contents
        return Naming(self.owners, contents.connections.values(), contents.robots.values())

    def lasting_arrays(self) -> list[np.ndarray]:
        """Return copies of all array entries on which the next step depends."""
        counts = self.scene.counts[0]
        return [
            (array[: size * int(counts[live])] if live else array).copy()
            for array, live, size in self.raw_lasting()
        ]

    def restore(self, arrays: list[np.ndarray]) -> None:
        """Write back the result of `lasting_arrays`. Entries added since then stay."""
        for saved, (array, *_) in zip(arrays, self.raw_lasting(), strict=True):
            array[: len(saved)] = saved
        use_features(self.scene)  # depends on present constants, which a snapshot does not contain

    def renumber_shapes(self, numbers: np.ndarray) -> None:
        """Renumber the shapes of contacts that come from an earlier scene.

        numbers: present number of each shape of the earlier scene (s,).
        """
        collision, counts = self.scene.collision, self.scene.counts[0]
        for contacts, count in (
            (collision.contacts, counts["contact_count"]),
            (collision.previous, counts["previous_count"]),
            (collision.moments, counts["moment_count"]),
        ):
            for shape_field in ("shape_a", "shape_b"):
                contacts[shape_field][:count] = numbers[contacts[shape_field][:count]]
        forget_last_step(self.scene)

    def raw_lasting(self) -> list[tuple[np.ndarray, str, int]]:
        """Return all arrays on which the next step depends, records as bytes.

        Each item is (array, name, length). The field `name` of `counts` has the number of used
        entries, and all are used if the name is "". `length` is the length of one entry.
        """
        scene = self.scene
        if self._raw is None or self._raw[0] is not scene:
            arrays = zip(_LASTING(scene), _STATE, strict=True)
            self._raw = scene, [(raw(a), f.live, f.dtype.itemsize) for a, (_, f) in arrays]
        return self._raw[1]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out views of the scene's memory, because views in a copy would lose the scene."""
        return self.__dict__ | {"_raw": None, "_room": SpareRoom(), "_pool": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Find the lazily compiled kernels again, which have other addresses in another process."""
        self.__dict__.update(state)
        if self.present is not None:
            for path, field in declared_fields(Scene):
                if field.life is Life.PROCESS:
                    at(self.present, path)[:] = 0
            use_features(self.present)


def raw(array: np.ndarray) -> np.ndarray:
    """Return an array as bytes if the array has records, which numpy copies field by field."""
    return array.view(np.uint8) if array.dtype.names else array
