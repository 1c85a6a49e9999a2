# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Add entities to a scene, or remove an entity, in arrays with spare entries at the end.

The arrays of the scene are the leading parts of larger arrays. The time of an addition is therefore
proportional to the number of added entries. A removal moves the later entries forward. The scene
then takes the same steps, bit for bit, as a scene that was built anew. Data that `carry` does not
copy to a new scene are therefore dropped here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from hrpsim.engine.actuators.fill import leave_to_actuators
from hrpsim.engine.collision.body_bounds import new_body_bounds
from hrpsim.engine.compile.fields import (
    Axis,
    Life,
    at,
    declared_fields,
    new_array,
    replaced,
    rows_of,
)
from hrpsim.engine.dynamics.constraint_bodies import forget_numbers, velocity_entries
from hrpsim.engine.kinematics.forest import forest_of, joints_first
from hrpsim.engine.solvers.direct_system import new_direct_system
from hrpsim.engine.solvers.newton.newton_problem import as_roomy_newton_system
from hrpsim.engine.step.arrays import Scene
from hrpsim.world.arrays.assemble import Shapes, mark_free_bodies, set_rigid
from hrpsim.world.arrays.change import Indices
from hrpsim.world.objects.entity import Entity

_GROWING = {
    Axis.BODY,
    Axis.RK4_BODY,
    Axis.AUDITED_BODY,
    Axis.POSITION,
    Axis.DOF,
    Axis.SENSOR,
    Axis.SHAPE,
    Axis.MOVING,
    Axis.BODY_BOUNDS,
    Axis.CONSTRAINT_BODY,
    Axis.COLUMN,
    Axis.ISLAND,
    Axis.ACTUATOR,
    Axis.TENDON,
}
_FIELDS = [(path, field) for path, field in declared_fields(Scene) if field.axis in _GROWING]
_ARRAYS = attrgetter(*(path for path, _ in _FIELDS))
_REFERRING = [  # except connections, which the world renumbers
    (path, field)
    for path, field in declared_fields(Scene)
    if field.refers and not field.live and path != "connections"
]
_STAGES = [
    (path, field) for path, field in declared_fields(Scene) if _GROWING & set(field.shape[1:])
]
_LIVE = [(path, field) for path, field in declared_fields(Scene) if field.refers and field.live]
_KEPT = (Life.CONSTANT, Life.STATE, Life.RESULT)
# Fields of shapes, bodies at rest and trees that steps write. A new scene starts without them.
_OF_LAST_STEP = {
    "collision.shapes": (
        *("center", "travel", "reach", "driven", "gained", "swift", "ballistic"),
        *("listed_center", "listed", "listed_slack"),
    ),
    "rests": ("rest_steps", "keeps_awake", "grounded", "island"),
    "momentum.trees": ("expected", "moves"),
}


class Added(NamedTuple):
    """Entities to add to a scene, with records for the arrays."""

    entities: list[Entity]
    shapes: Shapes
    sensors: np.ndarray
    actuators: np.ndarray
    tendons: np.ndarray

    def fits(self, scene: Scene) -> bool:
        """Return whether the scene's buffers are large enough for added sensors and actuators."""
        readings = int(self.sensors["slots"].max(initial=0))
        commands = int(self.actuators["slots"].max(initial=0))
        return (
            readings <= scene.past_readings.shape[1]
            and commands <= scene.actuators.commands.shape[1]
        )

    def sizes(self, scene: Scene) -> dict[Axis, int]:
        """Return the number of added entries along each axis."""
        bodies = sum(len(entity.system.parent) for entity in self.entities)
        dofs = sum(entity.nv for entity in self.entities)
        moving = self.shapes.records["body"]
        moving = moving[moving >= 0]
        return {
            Axis.BODY: bodies,
            Axis.RK4_BODY: bodies if scene.settings["staged"][0] else 0,
            Axis.AUDITED_BODY: bodies if scene.settings["audit"][0] else 0,
            Axis.POSITION: sum(entity.nq for entity in self.entities),
            Axis.DOF: dofs,
            Axis.SENSOR: len(self.sensors),
            Axis.SHAPE: len(self.shapes.records),
            Axis.MOVING: len(moving),
            Axis.BODY_BOUNDS: len(set(moving.tolist())),
            Axis.CONSTRAINT_BODY: bodies + dofs,
            Axis.COLUMN: velocity_entries(bodies, dofs),
            Axis.ISLAND: bodies,
            Axis.ACTUATOR: len(self.actuators),
            Axis.TENDON: len(self.tendons),
        }


class SpareRoom:
    """Arrays with spare entries at the end. A scene uses the leading entries."""

    def __init__(self) -> None:
        self._buffers: list[np.ndarray] = []  # in the order of _FIELDS
        self._bytes: list[np.ndarray] = []  # the same memory, one row for each entry

    def with_more(self, scene: Scene, added: Added) -> Scene:
        """Return the scene with added entities at the end of the arrays, in their initial state."""
        present = _sizes(scene)
        sizes = {axis: present[axis] + more for axis, more in added.sizes(scene).items()}
        scene = self._hold(scene, sizes)
        for (_, field), rows in zip(_FIELDS, self._bytes, strict=True):
            rows[present[field.axis] : sizes[field.axis]] = 255 if field.fill == -1 else 0
        scene = self._front(scene, sizes)
        _describe(scene, added, present)
        forget_last_step(scene)
        return scene

    def with_fixed(self, scene: Scene, shapes: Shapes, first: int) -> Scene:
        """Return the scene with added fixed shapes, which have the numbers from `first` on."""
        count, present = len(shapes.records), _sizes(scene)
        end = present[Axis.SHAPE]
        sizes = present | {Axis.SHAPE: end + count}
        scene = self._hold(scene, sizes)
        order = scene.collision.order.copy()
        for (_, field), rows in zip(_FIELDS, self._bytes, strict=True):
            if field.axis is Axis.SHAPE and field.life in _KEPT:
                _move(rows, first, end, first + count)
        scene = self._front(scene, sizes)
        _renumber(scene, {Axis.SHAPE: (first, -count)})
        collision, added = scene.collision, slice(first, first + count)
        collision.shapes[added], collision.group[added] = shapes.records, shapes.group
        collision.moving[:] += count  # fixed shapes come first
        collision.order[:end] = order + count * (order >= first)
        collision.order[end:] = np.arange(first, first + count)
        forget_last_step(scene)
        return scene

    def without_fixed(self, scene: Scene, first: int, count: int) -> Scene:
        """Return the scene without `count` fixed shapes from the number `first` on."""
        present = _sizes(scene)
        end = present[Axis.SHAPE]
        scene = self._hold(scene, present)
        order = _closed(scene.collision.order, first, count)
        for (_, field), rows in zip(_FIELDS, self._bytes, strict=True):
            if field.axis is Axis.SHAPE and field.life in _KEPT:
                _move(rows, first + count, end, first)
        scene = self._front(scene, present | {Axis.SHAPE: end - count})
        _renumber(scene, {Axis.SHAPE: (first, count)})
        scene.collision.moving[:] -= count  # fixed shapes come first
        scene.collision.order[:] = order
        forget_last_step(scene)
        return scene

    def without(self, scene: Scene, entity: Entity, indices: Indices) -> Scene:
        """Return the scene without an entity. Entries of the entity have the index -1 in `indices`.

        The arrays of the previous scene are overwritten.
        """
        present, gone = _sizes(scene), _gone(scene, indices)
        scene = self._hold(scene, present)
        orders = {
            path: _closed(at(scene, path), *gone.get(axis, (0, 0)))
            for path, axis in (("forest.order", Axis.BODY), ("collision.order", Axis.SHAPE))
        }
        bodies, dofs = len(entity.system.parent), entity.nv
        carrying = _closed_bounds(scene.collision.body_bounds, entity.first_body, bodies)
        for (_, field), rows in zip(_FIELDS, self._bytes, strict=True):
            if field.axis in gone and field.life in _KEPT:
                (first, count), end = gone[field.axis], present[field.axis]
                _move(rows, first + count, end, first)
        sizes = {axis: size - gone.get(axis, (0, 0))[1] for axis, size in present.items()}
        sizes[Axis.CONSTRAINT_BODY] -= bodies + dofs
        sizes[Axis.COLUMN] -= velocity_entries(bodies, dofs)
        sizes[Axis.ISLAND] -= bodies
        sizes[Axis.BODY_BOUNDS] = len(carrying)
        sizes[Axis.MOVING] -= sum(shape.body >= 0 for shape in entity.shapes)
        scene = self._front(scene, sizes)
        _renumber(scene, gone)
        collision = scene.collision
        collision.group[collision.group >= entity.first_body + bodies] -= bodies
        collision.moving[:] = np.flatnonzero(collision.shapes["body"] >= 0)
        collision.body_bounds[:] = carrying
        for path, order in orders.items():
            at(scene, path)[:] = order
        scene.forest.joints[:] = joints_first(scene.forest.dofs["q_index"])
        forget_last_step(scene)
        return scene

    def _hold(self, scene: Scene, sizes: Mapping[Axis, int]) -> Scene:
        """Move the scene's arrays into larger arrays with the given capacity."""
        arrays = _ARRAYS(scene)
        buffers = self._buffers
        if not self._has_room(sizes):
            buffers = [
                new_array((_roomy(sizes[field.axis]), *array.shape[1:]), array.dtype, field.fill)
                for array, (_, field) in zip(arrays, _FIELDS, strict=True)
            ]
            scene = _with_working_memory(scene, {k: _roomy(n) for k, n in sizes.items()})
        for array, larger, (_, field) in zip(arrays, buffers, _FIELDS, strict=True):
            if array.base is not larger and field.life is not Life.WORK:
                larger[: len(array)] = array
        if buffers is not self._buffers:
            self._buffers = buffers
            self._bytes = [buffer.view(np.uint8).reshape(len(buffer), -1) for buffer in buffers]
        return scene

    def _has_room(self, sizes: Mapping[Axis, int]) -> bool:
        """Return whether the larger arrays exist and have the given capacity."""
        return bool(self._buffers) and all(
            sizes[field.axis] <= len(array)
            for array, (_, field) in zip(self._buffers, _FIELDS, strict=True)
        )

    def _front(self, scene: Scene, sizes: Mapping[Axis, int]) -> Scene:
        """Return the scene made of the leading entries of the larger arrays."""
        return replaced(
            scene,
            {
                path: array[: sizes[field.axis]]
                for array, (path, field) in zip(self._buffers, _FIELDS, strict=True)
            },
        )


def _roomy(size: int) -> int:
    return 2 * size + 8


def _sizes(scene: Scene) -> dict[Axis, int]:
    """Return the numbers of entries that grow with the entities of a scene."""
    return {
        field.axis: len(array) for array, (_, field) in zip(_ARRAYS(scene), _FIELDS, strict=True)
    }


def _with_working_memory(scene: Scene, sizes: Mapping[Axis, int]) -> Scene:
    """Return the scene with enough working memory, in arrays without spare entries."""
    bodies, direct = sizes[Axis.BODY], scene.direct
    room = len(direct.nodes), bodies, len(direct.elimination.entries), len(direct.matrix)
    stages = {
        path: new_array((field.shape[0], sizes[field.shape[1]]), field.dtype)
        for path, field in _STAGES
    }
    return replaced(scene, stages)._replace(
        direct=new_direct_system(len(direct.active), sizes[Axis.COLUMN], *room),
        newton=as_roomy_newton_system(scene.newton, bodies),
        newton_part=as_roomy_newton_system(scene.newton_part, bodies),
    )


def _describe(scene: Scene, added: Added, first: Mapping[Axis, int]) -> None:
    """Write the records of the added entities after the existing records."""
    for entity in added.entities:
        forest, body, dof = forest_of(entity.system), entity.first_body, entity.first_v
        offsets = {Axis.BODY: body, Axis.POSITION: entity.first_q, Axis.DOF: dof}
        for name, at_first in (("bodies", body), ("dofs", dof)):
            records = getattr(forest, name)
            for column, axis in _FOREST[name].refers.items():
                records[column] += np.where(records[column] >= 0, offsets[axis], 0)
            getattr(scene.forest, name)[at_first : at_first + len(records)] = records
        scene.forest.order[body : body + len(forest.order)] = forest.order + body
    scene.forest.joints[:] = joints_first(scene.forest.dofs["q_index"])
    collision, n = scene.collision, first[Axis.SHAPE]
    records = added.shapes.records
    collision.shapes[n:], collision.group[n:] = records, added.shapes.group
    collision.order[n:] = np.arange(n, len(collision.order))
    collision.moving[first[Axis.MOVING] :] = n + np.flatnonzero(records["body"] >= 0)
    collision.body_bounds[first[Axis.BODY_BOUNDS] :] = new_body_bounds(records)
    scene.sensors[first[Axis.SENSOR] :] = added.sensors
    scene.actuators.units[first[Axis.ACTUATOR] :] = added.actuators
    scene.tendons.joints[first[Axis.TENDON] :] = added.tendons
    time_step = float(scene.settings["time_step"][0])
    set_rigid(scene.joint_parameters[first[Axis.DOF] :], time_step)
    mark_free_bodies(added.entities, scene.rests)
    leave_to_actuators(added.actuators, scene.forest.dofs)


_FOREST = {
    name: Scene._field_defaults["forest"].kind._field_defaults[name] for name in ("bodies", "dofs")
}


def forget_last_step(scene: Scene) -> None:
    """Clear the data that a new scene does not take over: marks of the last step, caches, lists."""
    for path, names in _OF_LAST_STEP.items():
        records = at(scene, path)
        for name in names:
            records[name] = 0
    scene.worst[:] = 0
    scene.work.friction[:] = 0
    scene.rk4.turns[:] = 0
    scene.collision.body_bounds["slack"] = -1.0
    scene.search["candidate_count"] = scene.step_stats["worst_row"] = -1
    forget_numbers(scene.constrained)
    scene.direct.elimination.counts["node_count"] = -1
    scene.direct.stale[:] = 1


def _gone(scene: Scene, indices: Indices) -> dict[Axis, tuple[int, int]]:
    """Return the index of the first removed entry and their number, for each axis."""
    gone = {}
    for axis, index in indices.items():
        entries = np.flatnonzero(index < 0)
        if len(entries):
            gone[axis] = int(entries[0]), len(entries)
    if Axis.BODY in gone and len(scene.rk4.held):
        gone[Axis.RK4_BODY] = gone[Axis.BODY]
    first, count = gone.get(Axis.DOF, (0, 0))
    for axis, dofs in (
        (Axis.ACTUATOR, scene.actuators.units["dof"]),
        (Axis.TENDON, scene.tendons.joints["dof_a"]),
    ):
        entries = np.flatnonzero((dofs >= first) & (dofs < first + count))
        if len(entries):
            gone[axis] = int(entries[0]), len(entries)
    return gone


def _renumber(scene: Scene, gone: Mapping[Axis, tuple[int, int]]) -> None:
    """Renumber references to entries. Drop contacts and pushes of removed entries."""
    for path, field in _LIVE + _REFERRING:
        records = at(scene, path)
        axes = {name: axis for name, axis in field.refers.items() if axis in gone}
        if field.live:
            records = records[: int(scene.counts[field.live][0])]
        numbers = {name: records[name].copy() for name in axes}
        if field.live:
            stays = np.ones(len(records), dtype=bool)
            for name, axis in axes.items():
                first, count = gone[axis]
                stays &= (numbers[name] < first) | (numbers[name] >= first + count)
            scene.counts[field.live] = retained = _move_to_front(records, stays)
            records = records[:retained]
            numbers = {name: values[stays] for name, values in numbers.items()}
        for name, axis in axes.items():
            first, count = gone[axis]
            if (behind := numbers[name] >= first).any():
                records[name] = numbers[name] - count * behind


def _move_to_front(records: np.ndarray, stays: np.ndarray) -> int:
    """Move the records that stay to the front. Return how many stay."""
    edges = np.flatnonzero(np.diff(stays, prepend=False, append=False))
    retained = 0
    for first, end in edges.reshape(-1, 2).tolist():
        _move(rows_of(records), first, end, retained)
        retained += end - first
    return retained


def _move(rows: np.ndarray, first: int, end: int, to: int) -> None:
    """Copy the rows from `first` to `end` to the position `to`. The ranges may overlap."""
    width, flat = rows.shape[1], rows.reshape(-1)  # numpy copies overlapping rows twice
    if to != first:
        flat[to * width : (to + end - first) * width] = flat[first * width : end * width]


def _closed(order: np.ndarray, first: int, count: int) -> np.ndarray:
    """Remove `count` numbers, beginning with `first`, from a permutation. Close the gap."""
    retained = order[(order < first) | (order >= first + count)]
    retained[retained >= first] -= count
    return retained


def _closed_bounds(body_bounds: np.ndarray, first: int, count: int) -> np.ndarray:
    """Remove the BODY_BOUNDS records of `count` bodies, beginning with the body `first`.

    The numbers of later bodies decrease by `count`.
    """
    body = body_bounds["body"]
    retained = body_bounds[(body < first) | (body >= first + count)]
    retained["body"] -= np.where(retained["body"] >= first, count, 0)
    return retained
