# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Change the arrays of a scene: capacity, number of entities, order of entities.

Sleeping entities come last. Arrays are reordered in place, and indices into the arrays are
renumbered. A step works on the leading parts of the arrays, which hold the entities that are awake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hrpsim.engine.compile.fields import Axis, Field, Life, at, declared_fields, new_array, replaced
from hrpsim.engine.compile.lazy_kernels import provide_requested
from hrpsim.engine.dynamics.constraint_bodies import forget_numbers, velocity_entries
from hrpsim.engine.kinematics.forest import breadth_first, joints_first
from hrpsim.engine.solvers.direct_system import DirectSystem, new_direct_system
from hrpsim.engine.solvers.newton.newton_problem import (
    as_roomy_newton_system,
    roomier_newton_system,
)
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.scene import status as ended
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot

_AXIS_OF_STATUS = {
    ended.MORE_CANDIDATES: Axis.PAIR,
    ended.MORE_CONTACTS: Axis.CONTACT,
    ended.MORE_BLOCKS: Axis.BLOCK,
    ended.MORE_ROWS: Axis.ROW,
    ended.MORE_RESPONSES: Axis.RESPONSE,
}


def grow(scene: Scene, status: int) -> Scene:
    """Return the scene with the memory or the kernels that the last step requested.

    The new capacity is twice the requested capacity. Kernels are loaded into the scene itself.

    status: request with which the step ended.
    """
    if status == ended.NEEDS_KERNEL:
        provide_requested(scene)
        return scene
    if status == ended.MORE_DIRECT:
        return scene._replace(direct=_roomier(scene))
    if status == ended.MORE_NEWTON:
        newton = roomier_newton_system(scene.newton)
        return scene._replace(newton=newton, newton_part=as_roomy_newton_system(newton))
    return with_room(scene, _AXIS_OF_STATUS[status], 2 * int(scene.failure["needed"][0]))


def with_room(scene: Scene, axis: Axis, room: int) -> Scene:
    """Return the scene with at least `room` entries along an axis, in all arrays with this axis."""
    grown = {}
    for path, field in declared_fields(Scene):
        if axis not in field.shape:
            continue
        array = at(scene, path)
        shape = [
            max(room, size) if name is axis else size
            for name, size in zip(field.shape, array.shape, strict=True)
        ]
        if shape != list(array.shape):
            grown[path] = new_array(shape, array.dtype, field.fill)
            grown[path][tuple(map(slice, array.shape))] = array
    return replaced(scene, grown)


def _roomier(scene: Scene) -> DirectSystem:
    """Return a direct system with twice the capacity that its counts require.

    No capacity becomes smaller than before.
    """
    counts = scene.direct.elimination.counts[0]
    nodes = max(2 * int(counts["node_count"]), len(scene.direct.nodes))
    entries = max(2 * int(counts["entry_count"]), len(scene.direct.elimination.entries))
    space = max(2 * int(counts["block_space"]), len(scene.direct.matrix))
    rows, trees = len(scene.rows.rows), len(scene.direct.elimination.root)
    columns = len(scene.direct.start_velocity)
    return new_direct_system(rows, columns, nodes, trees, entries, space)


Indices = Mapping[Axis, np.ndarray]  # by axis: new indices of the old entries, -1 if removed


def carry(old: Scene, new: Scene, indices: Indices) -> Scene:
    """Copy the state of an old scene to a new scene: motion, contacts, wrenches and readings.

    Entities missing in the new scene are left out, with all their contacts and wrenches. The
    connections are copied by the world.
    """
    changed = {}
    if Axis.DOF in indices:
        remain = indices[Axis.DOF][old.tendons.joints["dof_a"]] >= 0
        indices = {
            **indices,
            Axis.ACTUATOR: _actuator_indices(old, new, indices[Axis.DOF]),
            Axis.TENDON: np.where(remain, np.cumsum(remain) - 1, -1),
        }
    for path, field in declared_fields(Scene):
        if field.life not in (Life.STATE, Life.RESULT):
            continue
        before, after = at(old, path), at(new, path)
        if field.live:
            records = renumbered(before[: int(old.counts[field.live][0])], field, indices)
            new.counts[field.live] = len(records)
            changed[path] = _with_room(records, max(len(before), len(after)))
        elif field.axis in indices:
            _carry_entries(before, after, field, indices[field.axis])
        elif field.shape == (1,):
            after[:] = before
    new.search["candidate_count"] = new.step_stats["worst_row"] = -1
    return replaced(new, changed)


def _actuator_indices(old: Scene, new: Scene, of_dof: np.ndarray) -> np.ndarray:
    """Return the new index of each actuator, which is the actuator of the same joint, or -1."""
    index_of = {int(dof): k for k, dof in enumerate(new.actuators.units["dof"])}
    indices = [index_of.get(int(of_dof[dof]), -1) for dof in old.actuators.units["dof"]]
    return np.array(indices, dtype=np.int64)


def indices_with_more(old: Scene, fixed_count: int, added: int) -> Indices:
    """Return the new indices of a scene's entries after entities are appended.

    The new scene has `added` more fixed shapes, after the first `fixed_count` of all shapes.
    """
    shapes = np.arange(len(old.collision.shapes))
    shapes[fixed_count:] += added
    return {
        Axis.BODY: np.arange(len(old.forest.bodies)),
        Axis.AUDITED_BODY: np.arange(len(old.audit.trees)),
        Axis.POSITION: np.arange(len(old.q)),
        Axis.DOF: np.arange(len(old.velocity)),
        Axis.SHAPE: shapes,
        Axis.SENSOR: np.arange(len(old.sensors)),
    }


def indices_without(entity: Entity, first_shape: int, first_sensor: int, scene: Scene) -> Indices:
    """Return the new indices of a scene's entries after one entity is removed.

    Entries of the entity have the index -1.

    Args:
        entity: the removed entity.
        first_shape: index of the first shape of the entity.
        first_sensor: index of the first sensor of the entity.
        scene: the scene that still contains the entity.
    """
    bodies, sensors = len(entity.system.parent), 0
    if isinstance(entity, Robot):
        sensors = len(entity.model.sensors)
    return {
        Axis.BODY: _without(len(scene.forest.bodies), entity.first_body, bodies),
        Axis.AUDITED_BODY: _without(len(scene.audit.trees), entity.first_body, bodies),
        Axis.POSITION: _without(len(scene.q), entity.first_q, entity.nq),
        Axis.DOF: _without(len(scene.velocity), entity.first_v, entity.nv),
        Axis.SHAPE: _without(len(scene.collision.shapes), first_shape, len(entity.shapes)),
        Axis.SENSOR: _without(len(scene.sensors), first_sensor, sensors),
    }


def indices_without_fixed(scene: Scene, first: int, count: int) -> Indices:
    """Return the new indices of a scene's entries after fixed shapes are removed."""
    shapes = _without(len(scene.collision.shapes), first, count)
    return {**indices_with_more(scene, 0, 0), Axis.SHAPE: shapes}


def _without(size: int, first: int, count: int) -> np.ndarray:
    """Return the new indices (size,) after `count` entries from `first` on are removed."""
    indices = np.arange(size)
    indices[first + count :] -= count
    indices[first : first + count] = -1
    return indices


def renumbered(records: np.ndarray, field: Field, indices: Indices) -> np.ndarray:
    """Return the records with new indices. Records that refer to removed entries are dropped."""
    records = records.copy()
    stays = np.ones(len(records), dtype=bool)
    for name, axis in field.refers.items():
        if axis in indices:
            there = records[name] >= 0
            records[name][there] = indices[axis][records[name][there]]
            stays &= ~there | (records[name] >= 0)
    return records[stays]


def _carry_entries(before, after, field: Field, indices: np.ndarray) -> None:
    """Copy the state that survives a change from old to new entries. Index -1 means removed."""
    stays = indices >= 0
    if before.shape[1:] != after.shape[1:]:  # other capacity for commands
        common = min(before.shape[1], after.shape[1])
        before, after = before[:, :common], after[:, :common]
    for name in (slice(None),) if field.carries is None else field.carries:
        after[name][indices[stays]] = before[name][stays]


def _with_room(records: np.ndarray, room: int) -> np.ndarray:
    larger = np.zeros(room, dtype=records.dtype)
    larger[: len(records)] = records
    return larger


def rearrange(scene: Scene, entities: Sequence[Entity]) -> None:
    """Reorder the entities in the arrays of a scene."""
    sources = {
        Axis.BODY: _indices(entities, "first_body", lambda e: len(e.system.parent)),
        Axis.POSITION: _indices(entities, "first_q", lambda e: e.nq),
        Axis.DOF: _indices(entities, "first_v", lambda e: e.nv),
    }
    sources[Axis.AUDITED_BODY] = sources[Axis.BODY][: len(scene.audit.trees)]
    for last, entity in zip((None, *entities), entities):
        entity.stand_after(last)
    new_indices = {axis: _inverse(indices) for axis, indices in sources.items()}
    for path, field in declared_fields(Scene):
        if field.life in (Life.WORK, Life.CACHE):
            continue
        array = at(scene, path)
        if field.axis in sources:
            array[:] = array.take(sources[field.axis], axis=0)
        live = array[: int(scene.counts[field.live][0])] if field.live else array
        for name, axis in field.refers.items():
            if axis in new_indices:
                live[name] = new_indices[axis][live[name]]
    bodies = scene.forest.bodies
    scene.forest.order[:] = breadth_first(bodies["parent"], bodies["root"])
    scene.forest.joints[:] = joints_first(scene.forest.dofs["q_index"])
    forget_numbers(scene.constrained)


def front(scene: Scene, sizes: Mapping[Axis, int]) -> Scene:
    """Return a scene with the leading entries of a scene's arrays, in the same memory.

    sizes: number of entries along each axis.
    """
    columns = velocity_entries(sizes[Axis.BODY], sizes[Axis.DOF])
    sizes = {**sizes, Axis.COLUMN: columns}
    forget_numbers(scene.constrained)
    return replaced(
        scene,
        {
            path: at(scene, path)[: sizes[field.axis]]
            for path, field in declared_fields(Scene)
            if field.axis in sizes
        },
    )


def _indices(entities: Sequence[Entity], first: str, count) -> np.ndarray:
    """Return the indices of the entities' entries in an array, entity by entity.

    first: name of the attribute with an entity's first index. count: returns the number of entries
    of an entity.
    """
    parts = [np.arange(getattr(e, first), getattr(e, first) + count(e)) for e in entities]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _inverse(indices: np.ndarray) -> np.ndarray:
    """Return the inverse of a permutation, with an additional last entry -1 for the index -1."""
    inverse = np.full(len(indices) + 1, -1, dtype=np.int64)
    inverse[indices] = np.arange(len(indices))
    return inverse
