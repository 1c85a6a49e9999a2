# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Add up the contact forces on the links of entities of one name, in all worlds of a batch."""

from __future__ import annotations

import numpy as np

from hrpsim.common.errors import StateError
from hrpsim.engine.compile.compiled import kernel, prepared
from hrpsim.engine.compile.kernel_types import Index, Indices, Matrix
from hrpsim.engine.compile.numba_code import NumbaCode
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.world.followed_entities import FollowedEntities, array_for
from hrpsim.world.objects.body import Body
from hrpsim.world.objects.contact_arrays import ContactSources, read_contact
from hrpsim.world.objects.entity import Entity

reference_at = NumbaCode("hrpsim.engine.compile.intrinsics", "reference_at")


@kernel
def gather_contact_forces(
    example: ContactSources,
    addresses: Indices,
    worlds: Indices,
    first: Index,
    work: Matrix,
    out: Matrix,
) -> None:
    """Write the sums of contact forces on links (count, 3 links) [N] in some worlds.

    Args:
        example: the ContactSources of any world. Only the type of this argument is used.
        addresses: addresses of the ContactSources of all worlds (count,).
        worlds: numbers of worlds (m,).
        first: index of the first link in `World.link_names`.
        work: work array (3, 3).
        out: three columns for each link. Rows of the chosen worlds are written.
    """
    for number in range(worlds.shape[0]):
        k = worlds[number]
        sources = reference_at(example, addresses[k])
        link_of = sources.link_of_shape
        for column in range(out.shape[1]):
            out[k, column] = 0.0
        for c in range(sources.counts[0].contact_count):
            contact = sources.contacts[c]
            read_contact(sources, contact, 1.0, work[0], work[1], work[2])
            a = 3 * (link_of[contact.shape_a] - first)
            b = 3 * (link_of[contact.shape_b] - first)
            for r in range(3):
                if 0 <= a and a < out.shape[1]:
                    out[k, a + r] += work[2, r]
                if 0 <= b and b < out.shape[1]:
                    out[k, b + r] -= work[2, r]


_gather_contact_forces = prepared(gather_contact_forces)


class BatchContacts(FollowedEntities):
    """The contacts of the entities of one name, one entity in each world."""

    def forces(self, out: np.ndarray | None, worlds: list[int] | None) -> np.ndarray:
        """Return the forces on the links (count, links, 3) [N], written to `out` if given."""
        self.follow()
        if self._differ:
            raise StateError(
                f"{self._name!r} has different links in different worlds. Read `contact_arrays` in"
                " each of `worlds`"
            )
        links = len(self.entities[0].frames)
        result = array_for(out, (len(self.entities), links, 3), worlds)
        rows, chosen = result.reshape(-1, 3 * links), self.chosen(worlds)
        _gather_contact_forces(
            self.example, self.addresses, chosen, self._first, np.empty((3, 3)), rows
        )
        for k in chosen.tolist():
            entity = self.entities[k]
            if isinstance(entity, Body) and entity.asleep:  # without contacts in a step
                result[k, 0] = entity.contact_arrays().forces.sum(axis=0)
        return result

    def _reference_to(self, entity: Entity) -> TupleReference:
        return entity.world.reader.contacts

    def _compare(self) -> None:
        ranges = {entity.world.reader.table.range_of(entity, None) for entity in self.entities}
        self._differ = len(ranges) > 1
        self._first = min(ranges)[0]
