# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read a world in bulk: contacts as arrays, poses and velocities of all links, statistics."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from hrpsim.common.errors import WorldError, unknown_name
from hrpsim.engine.compile.compiled import entry_point
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.constraints.connection_state import ConnectionSources, read_wrench
from hrpsim.engine.kinematics.forward import new_kinematics
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.scene.records import COUNTS
from hrpsim.world.objects.contact_arrays import (
    ContactArrays,
    ContactSources,
    count_contacts,
    read_contacts,
)
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot_reader import LinkReaders, LinkSources, link_records
from hrpsim.world.parts.energy import energy_of
from hrpsim.world.parts.part import Core, Part
from hrpsim.world.parts.results import Contact, StepStats, stats_of


class LinkTable:
    """The links of a world, entity by entity, followed by the fixed shapes, with indices."""

    def __init__(self, entities: list[Entity], fixed, owners: list[tuple[str, str]]) -> None:
        self.owners = owners
        self._entities = tuple(entities)
        frames = [frame for entity in entities for frame in entity.frames]
        self._counts = [len(entity.frames) for entity in entities]
        self.names = (
            *((entity.name, frame.name) for entity in entities for frame in entity.frames),
            *owners[: len(fixed)],
        )
        self._links = link_records([*frames, *fixed])
        self._ranges: dict = {}  # by entity, and by (entity, link)
        of_shape, first = list(range(len(frames), len(self.names))), 0
        for entity in entities:
            self._ranges[entity] = first, first + len(entity.frames)
            for k, frame in enumerate(entity.frames, first):
                self._ranges[entity, frame.name] = k, k + 1
            of_shape += [self._ranges[entity, shape.link][0] for shape in entity.shapes]
            first += len(entity.frames)
        self.of_shape = np.array(of_shape, dtype=np.int64)

    def range_of(self, entity: Entity, link: str | None) -> tuple[int, int]:
        """Return the range of indices of an entity's links, or of one link.

        Returns:
            (first index, index after the last).
        """
        try:
            return self._ranges[entity if link is None else (entity, link)]
        except (KeyError, TypeError):
            names = [frame.name for frame in entity.frames]
            why = unknown_name("link", str(link), names)
            raise WorldError(f"{entity.name!r}: {why}") from None

    def records(self) -> np.ndarray:
        """Return LINK records with the present numbers of the bodies in the scene."""
        links = self._links.copy()
        first = np.repeat([entity.first_body for entity in self._entities], self._counts)
        bodies = links["body"][: len(first)]
        bodies += np.where(bodies >= 0, first.astype(np.int64), 0)
        return links


class Reader(LinkReaders):
    """The arrays of a scene, prepared for the kernels that read a world."""

    def __init__(self, scene: Scene, table: LinkTable) -> None:
        self.scene, self.table = scene, table

    @cached_property
    def contacts(self) -> TupleReference:
        """The arrays from which contacts are read."""
        scene, of_shape = self.scene, self.table.of_shape
        contacts, work = scene.collision.contacts, np.zeros((2, 3))
        return TupleReference(
            ContactSources(scene.counts, scene.settings, contacts, of_shape, work)
        )

    @cached_property
    def links(self) -> TupleReference:
        """The arrays from which states of links are read."""
        scene = self.scene
        kinematics, work = new_kinematics(len(scene.forest.bodies)), np.zeros((3, 3))
        links = self.table.records()
        return TupleReference(
            LinkSources(scene.forest, scene.q, scene.velocity, kinematics, links, work)
        )

    @cached_property
    def connections(self) -> TupleReference:
        """The arrays from which connections are read."""
        return TupleReference(ConnectionSources(self.scene.settings, self.scene.connections))

    @cached_property
    def _count(self):
        return entry_point(count_contacts, self.contacts, 0, 0)

    @cached_property
    def _read(self):
        vectors, numbers, integers = np.empty((0, 3)), np.empty(0), np.empty(0, dtype=np.int64)
        out = vectors, vectors, vectors, numbers, integers, integers
        return entry_point(read_contacts, self.contacts, 0, 0, *out)

    @cached_property
    def read_wrench(self):
        """Compiled function that writes the wrench of a connection.

        The arguments are `connections`, the number of the connection, and an array (6,).
        """
        return entry_point(read_wrench, self.connections, 0, np.empty(6))

    def sources_of(self, records: np.ndarray) -> TupleReference:
        """Return `contacts` with CONTACT records that replace the records of the last step."""
        counts = np.zeros(1, dtype=COUNTS)
        counts["contact_count"] = len(records)
        return TupleReference(self.contacts.whole._replace(counts=counts, contacts=records))

    def all_contacts(self, sources: TupleReference) -> ContactArrays:
        """Return every contact once."""
        count = int(sources.whole.counts["contact_count"][0])
        return self._filled(sources, ContactArrays(count), 0, -1)

    def contacts_between(self, sources: TupleReference, first: int, end: int) -> ContactArrays:
        """Return the contacts of the links from `first` to `end` - 1."""
        contacts = ContactArrays(self._count(sources, first, end))
        return self._filled(sources, contacts, first, end)

    def _filled(self, sources: TupleReference, out: ContactArrays, first: int, end: int):
        vectors = out.points, out.normals, out.forces
        self._read(sources, first, end, *vectors, out.gaps, out.links, out.partners)
        return out


class Readings(Part):
    """Mixin of World: readings of all entities at once."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._reader: Reader | None = None

    @property
    def stats(self) -> StepStats:
        """Results of the last step, and convergence of the solver over the steps before."""
        scene, steps = self._scenes.scene, int(self._contents.clock[0])
        converged = scene.step_stats["converged"][0]
        worst = "" if converged else self._scenes.naming().worst_of_step(scene)
        return stats_of(
            scene,
            self._sleep.kept_contacts,
            worst,
            self._convergence.of_last_call(steps),
            self._convergence.since_reset(steps),
            energy_of(scene, self._contents.entities),
        )

    @property
    def link_names(self) -> tuple[tuple[str, str], ...]:
        """(entity, link) of every link, entity by entity, then ("world", name) of fixed shapes.

        `links` and `partners` of contacts are indices in this list. The rows of `link_poses` and
        `link_velocities` have the same order. The list changes when something is added or removed.
        """
        return self.reader.table.names

    def contact_arrays(self) -> ContactArrays:
        """Return all contacts of the last step as arrays, each contact once (see `ContactArrays`).

        `contact_arrays` of a robot or body returns only the contacts of that entity. For sleeping
        bodies, the arrays have the contacts at the time when they fell asleep.
        """
        reader = self.reader
        if self._sleep.any_asleep:
            return reader.all_contacts(reader.sources_of(self._sleep.contact_records()))
        return reader.all_contacts(reader.contacts)

    @property
    def contacts(self) -> list[Contact]:
        """The contact points of the last step with forces, as a list of objects.

        For sleeping bodies, these are the contacts at the time when they fell asleep. The list is
        convenient but slow. `contact_arrays` has the same contacts as arrays.
        """
        rows, names = self.contact_arrays(), self._reader.table.names
        columns = rows.links, rows.partners, rows.points, rows.normals, rows.gaps, rows.forces
        return [
            Contact(names[a], names[b], point, normal, float(gap), force)
            for a, b, point, normal, gap, force in zip(*columns, strict=True)
        ]

    def link_poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Return positions (k, 3) [m] and quaternions x y z w (k, 4) of all links in the world.

        The links have the order of `link_names`. Quaternions have w >= 0.
        """
        reader = self.reader
        count = len(reader.table.names)
        poses = np.empty((count, 3)), np.empty((count, 4))
        reader.read_poses(reader.links, *poses)
        return poses

    def link_velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """Return velocities (k, 3) [m/s] and angular velocities (k, 3) [rad/s] of all links.

        Linear velocities are the velocities of the links' origins. All are along the world's axes.
        The links have the order of `link_names`. Fixed shapes have zeros.
        """
        reader = self.reader
        count = len(reader.table.names)
        velocities = np.empty((count, 3)), np.empty((count, 3))
        reader.read_velocities(reader.links, *velocities)
        return velocities

    def contacts_of(self, entity: Entity, link: str | None = None) -> ContactArrays:
        """Return the contacts of a robot, of a body, or of one of its links, as arrays.

        An unknown link raises WorldError, which lists the existing links.
        """
        reader = self.reader
        first, end = reader.table.range_of(entity, link)
        sources = reader.contacts
        if self._sleep.any_asleep and self._sleep.sleeps(entity):
            sources = reader.sources_of(self._sleep.contact_records())
        return reader.contacts_between(sources, first, end)

    @property
    def reader(self) -> Reader:
        """The reader of the present arrays."""
        reader, scene = self._reader, self._scenes.present
        if reader is None or reader.scene is not scene:
            scene, owners, contents = self._scenes.scene, self._scenes.owners, self._contents
            same = reader is not None and reader.table.owners is owners
            table = reader.table if same else LinkTable(contents.entities, contents.fixed, owners)
            self._reader = reader = Reader(scene, table)
        return reader
