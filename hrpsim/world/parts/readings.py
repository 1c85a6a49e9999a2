# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Reading a world in bulk: contacts as arrays, poses and velocities of all links, statistics."""

from __future__ import annotations

import numpy as np

from hrpsim.world.objects.contact_arrays import ContactArrays
from hrpsim.world.objects.entity import Entity
from hrpsim.world.parts.part import Core, Part
from hrpsim.world.parts.reader import LinkTable, Reader
from hrpsim.world.parts.results import Contact, StepStats, stats_of


class Readings(Part):
    """Readings of a whole world at once."""

    def __init__(self, core: Core):
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
        )

    @property
    def link_names(self) -> tuple[tuple[str, str], ...]:
        """(entity, link) of every link, entity by entity, then ("world", name) of fixed shapes.

        `links` and `partners` of contacts are indices in it, and the rows of `link_poses` and
        `link_velocities` are in its order. It changes when something is added or removed.
        """
        return self.reader.table.names

    def contact_arrays(self) -> ContactArrays:
        """Return all contacts of the last step as arrays, each once; see `ContactArrays`.

        Robots and bodies have the same for their own. Where bodies sleep, those with which they
        fell asleep are among them.
        """
        reader = self.reader
        if self._sleep.any_asleep:
            return reader.all_contacts(reader.sources_of(self._sleep.contact_records()))
        return reader.all_contacts(reader.contacts)

    @property
    def contacts(self) -> list[Contact]:
        """The contact points of the last step with the forces that it used.

        Where bodies sleep, those with which they fell asleep. A list of objects is convenient and
        slow; `contact_arrays` has the same as arrays.
        """
        found, names = self.contact_arrays(), self._reader.table.names
        columns = found.links, found.partners, found.points, found.normals, found.gaps, found.forces
        return [
            Contact(names[a], names[b], point, normal, float(gap), force)
            for a, b, point, normal, gap, force in zip(*columns, strict=True)
        ]

    def link_poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Return positions (k, 3) [m] and quaternions x y z w (k, 4) of all links, in the world.

        In the order of `link_names`; quaternions have w >= 0.
        """
        reader = self.reader
        count = len(reader.table.names)
        poses = np.empty((count, 3)), np.empty((count, 4))
        reader.read_poses(reader.links, *poses)
        return poses

    def link_velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """Return velocities (k, 3) [m/s] and angular velocities (k, 3) [rad/s] of all links.

        Of the links' origins, along the world's axes, in the order of `link_names`; those of fixed
        shapes are zero.
        """
        reader = self.reader
        count = len(reader.table.names)
        velocities = np.empty((count, 3)), np.empty((count, 3))
        reader.read_velocities(reader.links, *velocities)
        return velocities

    def contacts_of(self, entity: Entity, link: str | None = None) -> ContactArrays:
        """Return the contacts of a robot or body, or of one of its links, as arrays.

        WorldError, which names what exists, for an unknown link.
        """
        reader = self.reader
        first, end = reader.table.span_of(entity, link)
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
