# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read the arrays of a scene by kernels, prepared once for each scene."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from hrpsim.constraints.connection_state import ConnectionSources, read_wrench
from hrpsim.errors import WorldError, unknown_name
from hrpsim.jit.compiled import entry_point
from hrpsim.jit.reference import Reference
from hrpsim.kinematics.forward import new_kinematics
from hrpsim.step.arrays import Scene
from hrpsim.step.scene.records import COUNTS
from hrpsim.world.objects.contact_arrays import (
    ContactArrays,
    ContactSources,
    count_contacts,
    read_contacts,
)
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.link_states import LinkReaders, LinkSources, link_records


class LinkTable:
    """The links of a world, entity by entity, then its fixed shapes, with their indices."""

    def __init__(self, entities: list[Entity], fixed, owners: list[tuple[str, str]]):
        self.owners = owners
        self._entities = tuple(entities)
        frames = [frame for entity in entities for frame in entity.frames]
        self._counts = [len(entity.frames) for entity in entities]
        self.names = (
            *((entity.name, frame.name) for entity in entities for frame in entity.frames),
            *owners[: len(fixed)],
        )
        self._links = link_records([*frames, *fixed])
        self._spans: dict = {}  # by entity, and by (entity, link)
        of_shape, first = list(range(len(frames), len(self.names))), 0
        for entity in entities:
            self._spans[entity] = first, first + len(entity.frames)
            for k, frame in enumerate(entity.frames, first):
                self._spans[entity, frame.name] = k, k + 1
            of_shape += [self._spans[entity, shape.link][0] for shape in entity.shapes]
            first += len(entity.frames)
        self.of_shape = np.array(of_shape, dtype=np.int64)

    def span_of(self, entity: Entity, link: str | None) -> tuple[int, int]:
        """Return the first index of an entity or link, and the one after its last."""
        try:
            return self._spans[entity if link is None else (entity, link)]
        except (KeyError, TypeError):
            names = [frame.name for frame in entity.frames]
            why = unknown_name("link", str(link), names)
            raise WorldError(f"{entity.name!r}: {why}") from None

    def records(self) -> np.ndarray:
        """Return LINK records with the numbers that bodies have in the scene now."""
        links = self._links.copy()
        first = np.repeat([entity.first_body for entity in self._entities], self._counts)
        bodies = links["body"][: len(first)]
        bodies += np.where(bodies >= 0, first.astype(np.int64), 0)
        return links


class Reader(LinkReaders):
    """A scene prepared for kernels that read it."""

    def __init__(self, scene: Scene, table: LinkTable):
        self.scene, self.table = scene, table

    @cached_property
    def contacts(self) -> Reference:
        """The arrays that contacts are read from."""
        scene, of_shape = self.scene, self.table.of_shape
        contacts, work = scene.collision.contacts, np.zeros((2, 3))
        return Reference(ContactSources(scene.counts, scene.settings, contacts, of_shape, work))

    @cached_property
    def links(self) -> Reference:
        """The arrays that states of links are read from."""
        scene = self.scene
        kinematics, work = new_kinematics(len(scene.forest.bodies)), np.zeros((3, 3))
        links = self.table.records()
        return Reference(
            LinkSources(scene.forest, scene.q, scene.velocity, kinematics, links, work)
        )

    @cached_property
    def connections(self) -> Reference:
        """The arrays that connections are read from."""
        return Reference(ConnectionSources(self.scene.settings, self.scene.connections))

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
        """Call with `connections`, the number of one, and its wrench to be written."""
        return entry_point(read_wrench, self.connections, 0, np.empty(6))

    def sources_of(self, records: np.ndarray) -> Reference:
        """Return CONTACT records in the form that contacts are read from."""
        counts = np.zeros(1, dtype=COUNTS)
        counts["contact_count"] = len(records)
        return Reference(self.contacts.whole._replace(counts=counts, contacts=records))

    def all_contacts(self, sources: Reference) -> ContactArrays:
        """Return every contact once."""
        count = int(sources.whole.counts["contact_count"][0])
        return self._filled(sources, ContactArrays(count), 0, -1)

    def contacts_between(self, sources: Reference, first: int, end: int) -> ContactArrays:
        """Return the contacts of the links from `first` to before `end`."""
        found = ContactArrays(self._count(sources, first, end))
        return self._filled(sources, found, first, end)

    def _filled(self, sources: Reference, out: ContactArrays, first: int, end: int):
        self._read(
            sources,
            first,
            end,
            out.points,
            out.normals,
            out.forces,
            out.gaps,
            out.links,
            out.partners,
        )
        return out
