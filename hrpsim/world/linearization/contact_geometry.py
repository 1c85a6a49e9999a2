# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""How contact points move with the bodies: by differences of the contact search itself.

The point, normal and gap of a contact depend on the poses of its two bodies alone. Each body is
moved by a little along and about the axes of the world, and the pairs that it belongs to are
searched again, whatever their shapes.
"""

import math

from hrpsim.collision.contacts import detect
from hrpsim.jit.compiled import inlined_kernel, inner_kernel, kernel

STEP = 2e-6  # of the differences [m and rad]: errors below 1e-9 for curvatures up to 20 / m


@kernel
def contact_derivatives(s, kinematics, moved, work, bodies, contact_count, geometry_out, found_out):
    """Write the derivatives of point, normal and gap by the twists of both bodies.

    Args:
        s: scene after the step, whose contacts these are.
        kinematics: (n,) poses and velocities with which they were found.
        moved: a copy of these, which ends as one.
        work: a Collision whose pairs and contacts are overwritten.
        bodies: (k,) numbers of the bodies that have contacts.
        contact_count: how many contacts there are.
        geometry_out: (contact_count, 2, 7, 6); the second index is the body, a or b, the last one
            its twist about the origin of its tree.
        found_out: (contact_count, 2) how many of the 12 searches found the contact.
    """
    settings, contacts = s.settings[0], s.collision.contacts
    geometry_out[:, :, :, :] = 0.0
    found_out[:, :] = 0
    for b in range(bodies.shape[0]):
        i = bodies[b]
        pairs = _list_pairs(contacts, contact_count, i, work.pairs)
        for axis in range(6):
            for side in range(2):
                sign = 1.0 - 2.0 * side
                _displace(kinematics[i], axis, sign * STEP, moved[i])
                count = detect(
                    settings,
                    s.forest,
                    moved,
                    pairs,
                    s.counts[0].previous_count,
                    s.lazy_kernels,
                    work,
                )
                share, found = sign / (2.0 * STEP), work.contacts
                _add(found, count, contacts, contact_count, i, axis, share, geometry_out, found_out)
        _displace(kinematics[i], 3, 0.0, moved[i])


@inlined_kernel
def _list_pairs(contacts, count, body, pairs_out):
    """List the pairs of shapes of a body that have contacts; return how many."""
    listed = 0
    for c in range(count):
        contact = contacts[c]
        if contact.body_a != body and contact.body_b != body:
            continue
        if listed > 0 and pairs_out[listed - 1, 0] == contact.shape_a:
            if pairs_out[listed - 1, 1] == contact.shape_b:
                continue
        pairs_out[listed, 0], pairs_out[listed, 1] = contact.shape_a, contact.shape_b
        listed += 1
    return listed


@inlined_kernel
def _displace(here, axis, amount, moved_out):
    """Write a body's pose moved about (axes 0 to 2) or along an axis of the world."""
    R, p, R_out, p_out = here.R, here.p, moved_out.R, moved_out.p
    for r in range(3):
        p_out[r] = p[r]
        for k in range(3):
            R_out[r, k] = R[r, k]
    if axis >= 3:
        p_out[axis - 3] += amount
        return
    y, z, sine, cosine = (axis + 1) % 3, (axis + 2) % 3, math.sin(amount), math.cos(amount)
    p_out[y], p_out[z] = cosine * p[y] - sine * p[z], sine * p[y] + cosine * p[z]
    for k in range(3):
        R_out[y, k] = cosine * R[y, k] - sine * R[z, k]
        R_out[z, k] = sine * R[y, k] + cosine * R[z, k]


@inner_kernel  # many parameters: both lists of contacts and both outputs
def _add(found, found_count, contacts, count, body, axis, share, geometry_out, found_out):
    """Add `share` times the geometry of what was found to the contacts of the step."""
    c = -1
    for f in range(min(found_count, found.shape[0])):
        one = found[f]
        for _ in range(count):  # in the same order as a rule: the next one comes first
            c = c + 1 if c + 1 < count else 0
            contact = contacts[c]
            same = contact.shape_a == one.shape_a and contact.shape_b == one.shape_b
            if same and contact.feature == one.feature:
                end = 0 if contact.body_a == body else 1
                out = geometry_out[c, end]
                found_out[c, end] += 1
                for r in range(3):
                    out[r, axis] += share * one.point_a[r]
                    out[3 + r, axis] += share * one.normal[r]
                out[6, axis] += share * one.gap
                break
