"""Taking robots and bodies out of a world while everything else goes on as it was."""

from __future__ import annotations

import numpy as np

from hrpsim.errors import WorldError, unknown_name
from hrpsim.step.scene.islands import LASTING
from hrpsim.step.scene.scene import Scene
from hrpsim.world.arrays.assemble import assemble
from hrpsim.world.arrays.layout import BY_DOF
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot


class Removing:
    """What `World` can do to be rid of what was added."""

    def remove(self, entity: Entity | str) -> None:
        """Take a robot or body out of the world for good, with its contacts and connections.

        The state of all else, the forces of its last step and its commands stay as they are, bit
        for bit; what leaned on the entity falls. Its name is free again. The entity and its
        connections raise WorldError from then on, and so does `restore` of earlier snapshots.
        Raises WorldError, which names what exists, for anything that is not in this world.
        """
        entity = self._present(entity)
        self.wake()
        old = self.scene
        for connection in [c for c in self._connections.values() if _holds(c, entity)]:
            self.disconnect(connection)
        for hinge in [h for h in self._spring_hinges.values() if _holds(h, entity)]:
            self.remove_spring_hinge(hinge)
        place = self._entities.index(entity)
        first_shape = len(self._fixed) + sum(len(e.shapes) for e in self._entities[:place])
        gone = Gone(entity, first_shape, len(self._owners), self.first_sensor(entity))
        del self._entities[place]
        before = None
        for other in self._entities:
            other.stand_after(before)
            before = other
        self.joins = gone.shifted(self.joins)
        self.spring_hinge_records = gone.shifted(self.spring_hinge_records)
        self._scene, self._owners = assemble(
            self._settings,
            self._clock,
            self._entities,
            self._fixed,
            self._materials.table(),
            self._materials.index,
            self.joins,
        )
        self._scene = carry_without(old, self._scene, gone)
        self._use_spring_hinges(self.spring_hinge_records)
        self._built = len(self._entities), len(self._fixed)
        self._exclude_standing()
        self.refresh_exclusions()
        self._choose_solvers()
        entity.leave()

    def _present(self, entity: Entity | str) -> Entity:
        if isinstance(entity, Entity):
            if not any(known is entity for known in self._entities):
                raise WorldError(f"{entity.name!r} is not in this world")
            return entity
        if entity not in self.entities:
            raise WorldError(unknown_name("robot or body", str(entity), self.entities))
        return self.entities[entity]


class Gone:
    """The places that an entity had in the arrays of a scene."""

    def __init__(self, entity: Entity, first_shape: int, shape_count: int, first_sensor: int):
        self.bodies = slice(entity.first_body, entity.first_body + len(entity.system.parent))
        self.q = slice(entity.first_q, entity.first_q + entity.nq)
        self.v = slice(entity.first_v, entity.first_v + entity.nv)
        sensors = len(entity.model.sensors) if isinstance(entity, Robot) else 0
        self.sensors = slice(first_sensor, first_sensor + sensors)
        stays = np.ones(shape_count, dtype=bool)
        stays[first_shape : first_shape + len(entity.shapes)] = False
        self.shape_of = np.where(stays, np.cumsum(stays) - 1, -1)  # new number; -1: gone

    def has(self, bodies: np.ndarray) -> np.ndarray:
        """Return which of some numbers of bodies were the entity's."""
        return (bodies >= self.bodies.start) & (bodies < self.bodies.stop)

    def shifted(self, records: np.ndarray) -> np.ndarray:
        """Return records with the bodies that they name numbered anew."""
        records = records.copy()
        for field in ("body", "body_a", "body_b"):
            if field in records.dtype.names:
                count = self.bodies.stop - self.bodies.start
                records[field] -= count * (records[field] >= self.bodies.stop)
        return records

    def contacts(self, records: np.ndarray) -> np.ndarray:
        """Return the contacts of all else, their shapes and bodies numbered anew."""
        a, b = self.shape_of[records["shape_a"]], self.shape_of[records["shape_b"]]
        kept = (a >= 0) & (b >= 0)
        records = self.shifted(records[kept])
        records["shape_a"], records["shape_b"] = a[kept], b[kept]
        return records


def carry_without(old: Scene, new: Scene, gone: Gone) -> Scene:
    """Return a new scene that goes on from the old one without one of its entities."""
    new.tally[:] = old.tally
    new.tally["candidate_count"] = -1
    new.tally["worst_row"] = -1
    for names, places in (
        (("q",), gone.q),
        (BY_DOF, gone.v),
        (("kinematics",), gone.bodies),
    ):
        for name in names:
            getattr(new, name)[:] = np.delete(getattr(old, name), places, axis=0)
    for name in LASTING:
        new.islands.trees[name][:] = np.delete(old.islands.trees[name], gone.bodies, axis=0)
    new.sensors["reading"][:] = np.delete(old.sensors["reading"], gone.sensors, axis=0)
    lists = {}
    for name, count in (("contacts", "contact_count"), ("previous", "previous_count")):
        kept = gone.contacts(getattr(old.collision, name)[: int(old.tally[count][0])])
        new.tally[count] = len(kept)
        lists[name] = np.zeros_like(getattr(old.collision, name))
        lists[name][: len(kept)] = kept
    pushes = old.wrenches[: int(old.tally["wrench_count"][0])]
    pushes = gone.shifted(pushes[~gone.has(pushes["body"])])
    new.tally["wrench_count"] = len(pushes)
    wrenches = np.zeros_like(old.wrenches)
    wrenches[: len(pushes)] = pushes
    return new._replace(collision=new.collision._replace(**lists), wrenches=wrenches)


def _holds(connection, entity: Entity) -> bool:
    return any(end.entity is entity for end in connection.ends)
