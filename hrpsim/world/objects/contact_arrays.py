# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts as arrays, with the forces on one entity or link."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import empty

from hrpsim.engine.compile.compiled import inlined_kernel, kernel
from hrpsim.engine.compile.kernel_types import Contact, Index, Indices, Matrix, Vec3, Vector
from hrpsim.engine.constraints.contact_rows import tangents

_INTEGER = np.dtype(np.int64)


class ContactArrays:
    """The n contact points of the last step, along the world's axes. Arrays are copies.

    For an entity or a link, forces act on this entity or link, and normals point to it. A contact
    between two links of the entity appears twice, once for each link. For the whole world, each
    contact appears once, with the force on the first body.

    Points that are near but do not press are included, with zero force. Points, normals and gaps
    belong to the time at which the step evaluates forces. This time is the middle of a
    semi-implicit step and the start of other steps. For impacts of balls with restitution, it is
    the time of impact.
    """

    __slots__ = ("forces", "gaps", "links", "normals", "partners", "points")

    points: np.ndarray  # (n, 3) [m]
    normals: np.ndarray  # (n, 3) unit vectors, towards the entity or link
    forces: np.ndarray  # (n, 3) [N], mean over the step, impacts included
    gaps: np.ndarray  # (n,) [m], negative inside
    links: np.ndarray  # (n,) the link in contact: index in `World.link_names`
    partners: np.ndarray  # (n,) the link or shape it touches: index in `World.link_names`

    def __init__(self, count: int) -> None:
        self.points = empty((count, 3))
        self.normals = empty((count, 3))
        self.forces = empty((count, 3))
        self.gaps = empty(count)
        self.links = empty(count, _INTEGER)
        self.partners = empty(count, _INTEGER)

    def __len__(self) -> int:
        return len(self.gaps)

    def __repr__(self) -> str:
        x, y, z = self.forces.sum(axis=0)
        return f"<ContactArrays: {len(self)} points, {x:.6g}, {y:.6g}, {z:.6g} N in all>"


class ContactSources(NamedTuple):
    """The arrays from which contacts are read."""

    counts: np.ndarray  # (1,) COUNTS
    settings: np.ndarray  # (1,) SETTINGS
    contacts: np.ndarray  # (capacity,) CONTACT
    link_of_shape: np.ndarray  # (s,) indices in World.link_names
    tangents: np.ndarray  # (2, 3) work


@kernel
def count_contacts(sources: ContactSources, first: Index, end: Index) -> int:
    """Return the number of contacts on the links from `first` to `end` - 1.

    A contact between two of these links counts twice, once for each link.
    """
    contacts, link_of = sources.contacts, sources.link_of_shape
    count = 0
    for c in range(sources.counts[0].contact_count):
        a, b = link_of[contacts[c].shape_a], link_of[contacts[c].shape_b]
        count += 1 if first <= a and a < end else 0
        count += 1 if first <= b and b < end else 0
    return count


@kernel  # many parameters: writes one array of the caller's for each column
def read_contacts(
    sources: ContactSources,
    first: Index,
    end: Index,
    points: Matrix,
    normals: Matrix,
    forces: Matrix,
    gaps: Vector,
    links: Indices,
    partners: Indices,
) -> int:
    """Write the contacts of the links from `first` to `end` - 1, as in `ContactArrays`.

    If end < 0, all contacts are written once. Returns the number of rows.
    """
    contacts, link_of = sources.contacts, sources.link_of_shape
    at = 0
    for c in range(sources.counts[0].contact_count):
        contact = contacts[c]
        a, b = link_of[contact.shape_a], link_of[contact.shape_b]
        if end < 0 or (first <= a and a < end):
            read_contact(sources, contact, 1.0, points[at], normals[at], forces[at])
            gaps[at], links[at], partners[at] = contact.gap, a, b
            at += 1
        if first <= b and b < end:
            read_contact(sources, contact, -1.0, points[at], normals[at], forces[at])
            gaps[at], links[at], partners[at] = contact.gap, b, a
            at += 1
    return at


@inlined_kernel
def read_contact(
    sources: ContactSources,
    contact: Contact,
    sign: float,
    point_out: Vec3,
    normal_out: Vec3,
    force_out: Vector,
) -> None:
    """Write point, normal and force of a contact.

    sign: 1 for the force on body a, -1 for the force on body b.
    """
    n, impulse = contact.normal, contact.impulse
    x, y = sources.tangents[0], sources.tangents[1]
    tangents(n, x, y)
    scale = sign / sources.settings[0].time_step
    for r in range(3):
        point_out[r] = contact.point[r]
        normal_out[r] = sign * n[r]
        force_out[r] = scale * (n[r] * impulse[0] + x[r] * impulse[1] + y[r] * impulse[2])
