"""The part of a world that lets loose bodies sleep: an island of them that has been at rest.

What sleeps is part of the fixed world until it wakes: its shapes are the world's, it stands behind
the bodies that the step looks at, and its contacts are kept as they were.
"""

from __future__ import annotations

from itertools import accumulate, compress

import numpy as np

from hrpsim.collision.carriers import new_carriers
from hrpsim.collision.contacts import CONTACT
from hrpsim.kinematics.forward import new_kinematics, update_poses
from hrpsim.model.model import CollisionShape
from hrpsim.step.rest import REST_TIME
from hrpsim.step.scene.scene import Scene
from hrpsim.world.arrays.capacity import enlarged
from hrpsim.world.arrays.layout import front, rearrange
from hrpsim.world.objects.entity import Entity


class Sleeping:
    """What `World` can do with bodies at rest."""

    def __init__(self, sleeping: bool):
        self._island_of: dict[Entity, int] = {}  # of what sleeps, in the order of the entities
        self._kept_contacts = np.zeros(0, dtype=CONTACT)  # among what sleeps; points in the world
        self._front: Scene | None = None  # all that is awake
        self._front_of: Scene | None = None  # the scene that it is the front of
        self._set_sleeping(sleeping)

    @property
    def sleeping(self) -> bool:
        """Whether bodies at rest may fall asleep; assign False to keep everything awake."""
        return bool(self._settings["rest_steps"][0])

    @sleeping.setter
    def sleeping(self, value: bool) -> None:
        if not value:
            self.wake()
        self._set_sleeping(value)

    def _set_sleeping(self, value: bool) -> None:
        steps = int(np.ceil(REST_TIME / self.time_step - 1e-9)) if value else 0
        self._settings["rest_steps"] = steps

    @property
    def asleep(self) -> tuple[str, ...]:
        """Names of the bodies that sleep."""
        return tuple(entity.name for entity in self._island_of)

    def sleeps(self, entity: Entity) -> bool:
        """Return whether an entity sleeps."""
        return entity in self._island_of

    def wake(self, *entities: Entity) -> None:
        """Wake these entities with their islands, or, without any, everything that sleeps."""
        if not self._island_of:
            return
        self._refuse_while_stepping()
        self._wake_islands(entities)

    def _wake_islands(self, entities: tuple[Entity, ...]) -> None:
        woken = {self._island_of[e] for e in entities if e in self._island_of}
        if woken or not entities:
            self._sleep_only(
                {e: k for e, k in self._island_of.items() if entities and k not in woken}
            )

    def _wake_shape(self, number: int) -> None:
        name = self._owners[number][0]
        self._wake_islands((next(e for e in self._island_of if e.name == name),))

    def _fall_asleep(self) -> None:
        """Put to sleep what the last step found at rest; its islands are named by entities."""
        trees, asleep = self._scene.islands.trees, dict(self._island_of)
        first_of: dict[int, int] = {}
        for entity in self._entities:
            leader = int(trees["island"][entity.first_body])
            if entity not in asleep and leader >= 0:
                asleep[entity] = first_of.setdefault(leader, entity.number)
        self._sleep_only(asleep)

    def _sleep_only(self, island_of: dict[Entity, int]) -> None:
        """Let exactly these entities sleep, those that did not before without any velocity."""
        scene = self._scene
        woken = [e for e in self._island_of if e not in island_of]
        sleepers = [e for e in island_of if e not in self._island_of]
        self._store_contacts(self._shapes_of(sleepers))
        self._lay_out(island_of)
        for entity in woken:
            scene.islands.trees["rest_steps"][entity.first_body] = 0
        for entity in sleepers:
            scene.velocity[entity.first_v : entity.first_v + entity.nv] = 0.0
        self._own_shapes(woken)
        self._freeze_shapes(sleepers)
        self._recall_contacts(self._shapes_of(woken))
        self._count_moving()

    def _lay_out(self, island_of: dict[Entity, int]) -> None:
        """Put what is to sleep behind all else in the arrays, connections too."""
        order = [e for e in self._entities if e not in island_of]
        asleep = [e for e in self._entities if e in island_of]
        rearrange(self._scene, order + asleep)
        self._island_of = {e: island_of[e] for e in asleep}
        connections = sorted(self._connections.values(), key=self._rests)
        self.joins[:] = self.joins[[c.index for c in connections]]
        for index, connection in enumerate(connections):
            connection.index = index
        self._front = None

    def _rests(self, connection) -> bool:
        """Return whether a connection has an end that sleeps."""
        return any(end.entity in self._island_of for end in connection.ends)

    # -- shapes ---------------------------------------------------------------------------

    def _numbered_shapes(self, entities) -> list[tuple[Entity, int, CollisionShape]]:
        """Return (entity, number, description) of the shapes of some entities."""
        first, found = len(self._fixed), []
        for entity in self._entities:
            if entity in entities:
                found += [(entity, n, shape) for n, shape in enumerate(entity.shapes, first)]
            first += len(entity.shapes)
        return found

    def _shapes_of(self, entities: list[Entity]) -> np.ndarray:
        """Return which of all shapes (s,) belong to some entities."""
        chosen = np.zeros(len(self._owners), dtype=bool)
        chosen[[number for _, number, _ in self._numbered_shapes(set(entities))]] = True
        return chosen

    def _freeze_shapes(self, entities) -> None:
        """Make the shapes of some entities the world's, where they are now."""
        scene, poses = self._scene, new_kinematics(len(self._scene.forest.bodies))
        if entities:
            update_poses(scene.forest, scene.q, poses)
        for entity, number, shape in self._numbered_shapes(set(entities)):
            body, record = entity.first_body + shape.body, scene.collision.shapes[number]
            here, origin = poses[body], poses[scene.forest.bodies[body]["root"]]["origin"]
            record["placement_R"] = here["R"] @ shape.R
            record["placement_p"] = origin + (here["p"] + here["R"] @ shape.p)
            record["body"], record["asleep"] = -1, 1
            scene.collision.group[number] = -1

    def _own_shapes(self, entities) -> None:
        """Give some entities their shapes back."""
        collision = self._scene.collision
        sizes = [len(entity.system.parent) for entity in self._entities]
        groups = dict(zip(self._entities, accumulate(sizes, initial=0), strict=False))
        for entity, number, shape in self._numbered_shapes(set(entities)):
            record = collision.shapes[number]
            record["placement_R"], record["placement_p"] = shape.R, shape.p
            record["body"], record["asleep"] = entity.first_body + shape.body, 0
            collision.group[number] = groups[entity]

    def _bodies_of_shapes(self) -> np.ndarray:
        """Return the bodies (s,) of all shapes, asleep or not; -1: the world."""
        bodies = self._scene.collision.shapes["body"].copy()
        for entity, number, shape in self._numbered_shapes(self._island_of):
            bodies[number] = entity.first_body + shape.body
        return bodies

    def _count_moving(self) -> None:
        """Note what moves, after shapes fell asleep or woke; pairs are looked for anew."""
        scene = self._scene
        shapes = scene.collision.shapes
        collision = scene.collision._replace(
            moving=np.flatnonzero(shapes["body"] >= 0), carriers=new_carriers(shapes)
        )
        self._scene = scene._replace(collision=collision)
        scene.tally["candidate_count"] = -1
        scene.tally["worst_row"] = -1
        scene.tally["asleep"] = len(self._island_of)
        if self.nothing_moves:
            for name in ("row_count", "direct_rows", "split_rows", "factorisations", "unfinished"):
                scene.tally[name] = 0
            scene.tally["sweeps"] = scene.tally["residual"] = 0
            scene.tally["converged"] = True
        self._front = None

    # -- contacts ---------------------------------------------------------------------------

    def _store_contacts(self, falls_asleep: np.ndarray) -> None:
        """Take the contacts of shapes (s,) that fall asleep, with nothing awake, off the step's."""
        scene = self._scene
        collision, tally = scene.collision, scene.tally
        records = collision.contacts[: int(tally["contact_count"][0])]
        fixed = falls_asleep | (collision.shapes["body"] < 0)
        a, b = records["shape_a"], records["shape_b"]
        stored = (falls_asleep[a] | falls_asleep[b]) & fixed[a] & fixed[b]
        if not stored.any():
            return
        kept, left = records[stored], records[~stored]
        for side in "ab":
            moves = np.flatnonzero(kept[f"body_{side}"] >= 0)
            roots = scene.forest.bodies["root"][kept[f"body_{side}"][moves]]
            kept[f"point_{side}"][moves] += scene.kinematics["origin"][roots]
            kept[f"body_{side}"] = -1
        self._kept_contacts = _by_pair(np.concatenate([self._kept_contacts, kept]))
        records[: len(left)] = left
        collision.previous[: len(left)] = collision.previous[: len(records)][~stored]
        tally["contact_count"] = tally["previous_count"] = len(left)

    def _recall_contacts(self, wakes: np.ndarray) -> None:
        """Give the contacts of shapes (s,) that wake back to the step, to start from."""
        a, b = self._kept_contacts["shape_a"], self._kept_contacts["shape_b"]
        recalled = wakes[a] | wakes[b]
        if not recalled.any():
            return
        scene, lists, room = self._scene, {}, 0
        for name, count in (("contacts", "contact_count"), ("previous", "previous_count")):
            held = getattr(scene.collision, name)
            live = held[: int(scene.tally[count][0])]
            lists[name] = _by_pair(np.concatenate([live, self._kept_contacts[recalled]]))
            room = max(room, len(lists[name]), len(held))
            scene.tally[count] = len(lists[name])
        lists = {name: enlarged(records, room) for name, records in lists.items()}
        self._kept_contacts = self._kept_contacts[~recalled]
        self._scene = scene._replace(collision=scene.collision._replace(**lists))

    def contact_records(self) -> np.ndarray:
        """Return the CONTACT records of the last step, and of what sleeps as they were."""
        scene = self.scene
        live = scene.collision.contacts[: int(scene.tally["contact_count"][0])]
        return _by_pair(np.concatenate([live, self._kept_contacts])) if self._island_of else live

    # -- what steps ---------------------------------------------------------------------------

    @property
    def nothing_moves(self) -> bool:
        """Whether everything there is sleeps, so that a step does nothing but pass time."""
        return 0 < len(self._entities) == len(self._island_of)

    def _awake(self) -> Scene:
        """Return the scene of all that is awake, on the memory of the whole one."""
        scene = self.scene
        if not self._island_of:
            return scene
        same = self._front is not None and self._front_of is scene
        if not same or self._front.q.base is not scene.q:
            first = next(iter(self._island_of))
            connections = len(self._connections) - sum(map(self._rests, self._connections.values()))
            self._front = front(scene, first.first_body, first.first_q, first.first_v, connections)
            self._front_of = scene
        return self._front

    # -- snapshots ---------------------------------------------------------------------------

    def _sleep_state(self) -> tuple[tuple[int, ...], np.ndarray]:
        """Return the island of every entity, -1 awake, and the contacts that are kept."""
        islands = tuple(self._island_of.get(entity, -1) for entity in self._entities)
        return islands, self._kept_contacts.copy()

    def _prepare_sleep(self, state: tuple[tuple[int, ...], np.ndarray]) -> None:
        """Lay the arrays out as they were when `state` was taken."""
        self.wake()
        islands, self._kept_contacts = state[0], state[1].copy()
        asleep = [k >= 0 for k in islands]
        if any(asleep):
            self._lay_out(dict(compress(zip(self._entities, islands, strict=True), asleep)))

    def _resume_sleep(self) -> None:
        """Let what is laid out as asleep sleep, once its state is back."""
        self._freeze_shapes(self._island_of)
        self._count_moving()


def _by_pair(records: np.ndarray) -> np.ndarray:
    """Return contacts sorted by pair of shapes, as they are within a pair."""
    return records[np.lexsort((records["shape_b"], records["shape_a"]))]
