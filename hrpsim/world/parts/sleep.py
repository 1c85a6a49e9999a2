# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sleep of free bodies: steps leave out islands of bodies that have been at rest.

A sleeping body is part of the fixed world until the body wakes. Its shapes belong to the world. Its
index comes after the indices of the bodies that the step reads. Its contacts do not change.
"""

from __future__ import annotations

from itertools import accumulate, compress

import numpy as np

from hrpsim.engine.collision.body_bounds import new_body_bounds
from hrpsim.engine.collision.records import CONTACT, MOMENT
from hrpsim.engine.compile.fields import Axis, rows_of
from hrpsim.engine.kinematics.forward import new_kinematics, update_poses
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.sleep_detection import REST_TIME
from hrpsim.model.model import CollisionShape
from hrpsim.world.arrays.change import front, rearrange, with_room
from hrpsim.world.objects.entity import Entity
from hrpsim.world.parts.scenes import Scenes
from hrpsim.world.parts.world_contents import Contents


class Sleep:
    """The sleep of bodies at rest."""

    def __init__(self, contents: Contents, scenes: Scenes, sleeping: bool) -> None:
        self._contents, self._scenes = contents, scenes
        self._island_of: dict[Entity, int] = {}  # of sleeping entities, in the entities' order
        self.kept_contacts = np.zeros(0, dtype=CONTACT)  # of sleeping bodies, points in the world
        self._kept_moments = np.zeros(0, dtype=MOMENT)
        self._front: Scene | None = None  # scene of the awake bodies
        self._front_of: Scene | None = None  # scene from which the front was made
        self._set_sleeping(sleeping)

    @property
    def sleeping(self) -> bool:
        """Whether bodies at rest may fall asleep. Assign False to keep everything awake."""
        return bool(self._contents.settings["rest_steps"][0])

    @sleeping.setter
    def sleeping(self, value: bool) -> None:
        if not value:
            self.wake()
        self._set_sleeping(value)

    def _set_sleeping(self, value: bool) -> None:
        steps = int(np.ceil(REST_TIME / self._contents.time_step - 1e-9)) if value else 0
        self._contents.settings["rest_steps"] = steps

    @property
    def asleep(self) -> tuple[str, ...]:
        """Names of the bodies that sleep."""
        return tuple(entity.name for entity in self._island_of)

    def sleeps(self, entity: Entity) -> bool:
        """Return whether an entity sleeps."""
        return entity in self._island_of

    def wake(self, *entities: Entity) -> None:
        """Wake entities and their islands. Without arguments, wake every sleeping entity."""
        if not self._island_of:
            return
        self._contents.refuse_while_stepping()
        self._wake_islands(entities)

    def _wake_islands(self, entities: tuple[Entity, ...]) -> None:
        woken = {self._island_of[e] for e in entities if e in self._island_of}
        if woken or not entities:
            self._sleep_only(
                {e: k for e, k in self._island_of.items() if entities and k not in woken}
            )

    def wake_shape(self, number: int) -> None:
        """Wake the island of the body with a given shape."""
        name = self._scenes.owners[number][0]
        self._wake_islands((next(e for e in self._island_of if e.name == name),))

    def fall_asleep(self) -> None:
        """Put to sleep the islands that the last step found at rest."""
        rests, asleep = self._scenes.present.rests, dict(self._island_of)
        first_of: dict[int, int] = {}
        for entity in self._contents.entities:
            representative = int(rests["island"][entity.first_body])
            if entity not in asleep and representative >= 0:
                asleep[entity] = first_of.setdefault(representative, entity.number)
        self._sleep_only(asleep)

    def _sleep_only(self, island_of: dict[Entity, int]) -> None:
        """Make exactly the entities in `island_of` sleep, at zero velocity. Wake all others."""
        scene = self._scenes.present
        woken = [e for e in self._island_of if e not in island_of]
        sleepers = [e for e in island_of if e not in self._island_of]
        self._store_contacts(self._shapes_of(sleepers))
        self._lay_out(island_of)
        for entity in woken:
            scene.rests["rest_steps"][entity.first_body] = 0
        for entity in sleepers:
            scene.velocity[entity.first_v : entity.first_v + entity.nv] = 0.0
        self._own_shapes(woken)
        self._freeze_shapes(sleepers)
        self._recall_contacts(self._shapes_of(woken))
        self._count_moving()

    def _lay_out(self, island_of: dict[Entity, int]) -> None:
        """Move sleeping entities and connections to the end of the arrays."""
        order = [e for e in self._contents.entities if e not in island_of]
        asleep = [e for e in self._contents.entities if e in island_of]
        rearrange(self._scenes.present, order + asleep)
        self._island_of = {e: island_of[e] for e in asleep}
        connections = sorted(self._contents.connections.values(), key=self._rests)
        self._contents.connection_records[:] = self._contents.connection_records[
            [c.index for c in connections]
        ]
        for index, connection in enumerate(connections):
            connection.index = index
        self._front = None

    def _rests(self, connection) -> bool:
        """Return whether at least one end of a connection sleeps."""
        return any(end.entity in self._island_of for end in connection.ends)

    # -- shapes ---------------------------------------------------------------------------

    def _numbered_shapes(self, entities) -> list[tuple[Entity, int, CollisionShape]]:
        """Return (entity, number, description) of the shapes of some entities."""
        first, result = len(self._contents.fixed), []
        for entity in self._contents.entities:
            if entity in entities:
                result += [(entity, n, shape) for n, shape in enumerate(entity.shapes, first)]
            first += len(entity.shapes)
        return result

    def _shapes_of(self, entities: list[Entity]) -> np.ndarray:
        """Return which of all shapes (s,) belong to some entities."""
        chosen = np.zeros(len(self._scenes.owners), dtype=bool)
        chosen[[number for _, number, _ in self._numbered_shapes(set(entities))]] = True
        return chosen

    def _freeze_shapes(self, entities) -> None:
        """Attach the shapes of some entities to the fixed world, at their present poses."""
        scene, poses = self._scenes.present, new_kinematics(len(self._scenes.present.forest.bodies))
        if entities:
            update_poses(scene.forest, scene.q, poses)
        for entity, number, shape in self._numbered_shapes(set(entities)):
            body, record = entity.first_body + shape.body, scene.collision.shapes[number]
            pose, origin = poses[body], poses[scene.forest.bodies[body]["root"]]["origin"]
            record["placement_R"] = pose["R"] @ shape.R
            record["placement_p"] = origin + (pose["p"] + pose["R"] @ shape.p)
            record["body"], record["asleep"] = -1, 1
            scene.collision.group[number] = -1

    def _own_shapes(self, entities) -> None:
        """Attach the shapes of some entities to these entities again."""
        collision = self._scenes.present.collision
        sizes = [len(entity.system.parent) for entity in self._contents.entities]
        groups = dict(zip(self._contents.entities, accumulate(sizes, initial=0), strict=False))
        for entity, number, shape in self._numbered_shapes(set(entities)):
            record = collision.shapes[number]
            record["placement_R"], record["placement_p"] = shape.R, shape.p
            record["body"], record["asleep"] = entity.first_body + shape.body, 0
            collision.group[number] = groups[entity]

    def bodies_of_shapes(self) -> np.ndarray:
        """Return the bodies (s,) of all shapes, asleep or not, with -1 for the world."""
        bodies = self._scenes.present.collision.shapes["body"].copy()
        for entity, number, shape in self._numbered_shapes(self._island_of):
            bodies[number] = entity.first_body + shape.body
        return bodies

    def _count_moving(self) -> None:
        """Mark the moving shapes after entities fell asleep or woke. Pairs are searched again."""
        scene = self._scenes.present
        shapes = scene.collision.shapes
        self._scenes.use_collision(
            moving=np.flatnonzero(shapes["body"] >= 0), body_bounds=new_body_bounds(shapes)
        )
        scene.step_stats["worst_row"] = -1
        scene.step_stats["asleep"] = len(self._island_of)
        if self.nothing_moves:
            scene.counts["row_count"] = 0
            for name in ("direct_rows", "split_rows", "factorisations", "fell_back"):
                scene.step_stats[name] = 0
            scene.step_stats["sweeps"] = scene.step_stats["residual"] = 0
            scene.step_stats["converged"] = True
        self._front = None

    # -- contacts ---------------------------------------------------------------------------

    def _store_contacts(self, falls_asleep: np.ndarray) -> None:
        """Move the contacts of shapes that fall asleep from the step to the store.

        falls_asleep (s,): which shapes fall asleep. The moments of these contacts move too.
        """
        scene = self._scenes.present
        collision, counts = scene.collision, scene.counts
        records = collision.contacts[: int(counts["contact_count"][0])]
        fixed = falls_asleep | (collision.shapes["body"] < 0)
        a, b = records["shape_a"], records["shape_b"]
        stored = (falls_asleep[a] | falls_asleep[b]) & fixed[a] & fixed[b]
        if not stored.any():
            return
        to_store, left = records.take(np.flatnonzero(stored)), records.take(np.flatnonzero(~stored))
        for side in "ab":
            moves = np.flatnonzero(to_store[f"body_{side}"] >= 0)
            roots = scene.forest.bodies["root"][to_store[f"body_{side}"][moves]]
            to_store[f"point_{side}"][moves] += scene.kinematics["origin"][roots]
            to_store[f"body_{side}"] = -1
        self.kept_contacts = _by_pair(np.concatenate([self.kept_contacts, to_store]))
        records[: len(left)] = left
        collision.previous[: len(left)] = collision.previous[: len(records)][~stored]
        counts["contact_count"] = counts["previous_count"] = len(left)
        moments = collision.moments[: int(counts["moment_count"][0])]
        stored = fixed[moments["shape_a"]] & fixed[moments["shape_b"]]
        self._kept_moments = _joined(self._kept_moments, moments, stored)
        counts["moment_count"] = len(moments) - stored.sum()
        moments[: int(counts["moment_count"][0])] = moments[~stored]

    def _recall_contacts(self, wakes: np.ndarray) -> None:
        """Return stored contacts from the store to the step, as a warm start.

        wakes (s,): which shapes wake up.
        """
        recalled, moments = _of_shapes(self.kept_contacts, wakes), self._kept_moments
        if not recalled.any():
            return
        scene, lists = self._scenes.present, {}
        for name, count, store, chosen in (
            ("contacts", "contact_count", self.kept_contacts, recalled),
            ("previous", "previous_count", self.kept_contacts, recalled),
            ("moments", "moment_count", moments, _of_shapes(moments, wakes)),
        ):
            live = getattr(scene.collision, name)[: int(scene.counts[count][0])]
            lists[name] = _by_pair(_joined(live, store, chosen))
            scene.counts[count] = len(lists[name])
        self._scenes.present = with_room(scene, Axis.CONTACT, max(map(len, lists.values())))
        for name, records in lists.items():
            there = getattr(self._scenes.present.collision, name)
            rows_of(there)[: len(records)] = rows_of(records)
        self.kept_contacts = self.kept_contacts[~recalled]
        self._kept_moments = moments[~_of_shapes(moments, wakes)]

    def contact_records(self) -> np.ndarray:
        """Return the CONTACT records of the last step.

        Sleeping entities keep the last records.
        """
        scene = self._scenes.scene
        live = scene.collision.contacts[: int(scene.counts["contact_count"][0])]
        return _by_pair(np.concatenate([live, self.kept_contacts])) if self._island_of else live

    # -- awake bodies ---------------------------------------------------------------------------

    @property
    def any_asleep(self) -> bool:
        """Whether any entity sleeps."""
        return bool(self._island_of)

    @property
    def nothing_moves(self) -> bool:
        """Whether everything sleeps, so that a step only advances time."""
        return 0 < len(self._contents.entities) == len(self._island_of)

    def awake_scene(self) -> Scene:
        """Return the scene of everything that is awake, a view of the whole scene."""
        scene = self._scenes.scene
        if not self._island_of:
            return scene
        same = self._front is not None and self._front_of is scene
        if not same or self._front.q.ctypes.data != scene.q.ctypes.data:
            first = next(iter(self._island_of))
            connections = self._contents.connections.values()
            awake = sum(not self._rests(connection) for connection in connections)
            self._front = front(
                scene,
                {
                    Axis.BODY: first.first_body,
                    Axis.RK4_BODY: first.first_body,
                    Axis.AUDITED_BODY: first.first_body,
                    Axis.POSITION: first.first_q,
                    Axis.DOF: first.first_v,
                    Axis.CONNECTION: awake,
                },
            )
            self._front_of = scene
        return self._front

    # -- snapshots ---------------------------------------------------------------------------

    def state(self) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
        """Return the island of every entity (-1 if awake), and the stored contacts and moments."""
        islands = tuple(self._island_of.get(entity, -1) for entity in self._contents.entities)
        # these arrays are replaced and never written to
        return islands, self.kept_contacts, self._kept_moments

    def prepare(self, state: tuple[tuple[int, ...], np.ndarray, np.ndarray]) -> None:
        """Wake all entities, and arrange the arrays as at the time when `state` was saved."""
        self.wake()
        islands, self.kept_contacts, self._kept_moments = state
        asleep = [k >= 0 for k in islands]
        if any(asleep):
            pairs = zip(self._contents.entities, islands, strict=True)
            self._lay_out(dict(compress(pairs, asleep)))

    def resume(self) -> None:
        """Put to sleep the entities that `prepare` moved to the end of the arrays.

        Call this after the state is restored.
        """
        if self._island_of:
            self._freeze_shapes(self._island_of)
            self._count_moving()
            return
        scene = self._scenes.present
        scene.search["candidate_count"] = scene.step_stats["worst_row"] = -1
        scene.step_stats["asleep"] = 0

    def renumber_shapes(self, numbers: np.ndarray) -> None:
        """Renumber the shapes of all contacts, which come from an earlier scene.

        numbers: present number of each shape of the earlier scene (s,).
        """
        self._scenes.renumber_shapes(numbers)
        self.kept_contacts = self.kept_contacts.copy()  # belongs to a snapshot
        self._kept_moments = self._kept_moments.copy()
        for records in (self.kept_contacts, self._kept_moments):
            for field in ("shape_a", "shape_b"):
                records[field] = numbers[records[field]]


def _of_shapes(records: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Return which records (n,) have a shape that is marked in `shapes` (s,)."""
    return shapes[records["shape_a"]] | shapes[records["shape_b"]]


def _joined(records: np.ndarray, others: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return `records`, followed by the rows of `others` that are marked in `chosen`."""
    rows = np.concatenate([rows_of(records), rows_of(others)[chosen]])
    return rows.view(records.dtype).reshape(len(rows))


def _by_pair(records: np.ndarray) -> np.ndarray:
    """Return records sorted by pair of shapes, in unchanged order within a pair."""
    return records.take(np.lexsort((records["shape_b"], records["shape_a"])))
