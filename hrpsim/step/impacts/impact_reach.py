# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Shapes that impacts drive beyond the contact search: the step then searches further.

Contacts are found where shapes may meet with the velocities at the start of the step. A ball at
rest that is struck may reach another within the same step; contacts are then found once more.
"""

import math

from hrpsim.collision.candidates import FAST
from hrpsim.collision.contacts import far_apart, look_ahead
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.model.shapes.geometry import PLANE

# Margin of the wider search beyond the driven distance, so that the next search suffices.
_AMPLE = 1.2

# Searches in a step; shapes that are driven further after them meet others in the next step.
_MOST_SEARCHES = 40


@inner_kernel
def widen_search(settings, counts, search, bodies, kinematics, collision, constrained, impacts):
    """Return whether a shape is driven to where another might be; write how far in the shapes."""
    shapes = collision.shapes
    if impacts.state[0].wider_searches >= _MOST_SEARCHES or not _any_driven(
        settings, bodies, kinematics, collision, constrained
    ):
        return False
    found = False
    for k in range(collision.moving.shape[0]):
        shape = shapes[collision.moving[k]]
        found = found or shape.driven > shape.listed_slack
    for c in range(search.candidate_count):
        if found:
            break
        number_a, number_b = collision.pairs[c, 0], collision.pairs[c, 1]
        a, b = shapes[number_a], shapes[number_b]
        capped = settings.continuous and min(a.kind, b.kind) != PLANE
        capped = capped and not (a.ballistic > 0 and b.ballistic > 0)
        more = _more(a, capped) + _more(b, capped)
        if more == 0.0:
            continue
        more += look_ahead(a, b, settings.contact_margin)
        found = not far_apart(a, b, more) and not _have_contact(
            counts, collision.contacts, number_a, number_b
        )
    impacts.state[0].wider_searches += 1
    return found


@inlined_kernel
def _more(shape, capped):
    """Return how much further a shape's contacts must be searched [m]."""
    if capped:
        return max(0.0, min(shape.driven, FAST * shape.thickness) - shape.reach)
    return max(0.0, shape.driven - shape.travel)


@inner_kernel
def _any_driven(settings, bodies, kinematics, collision, constrained):
    """Write how far impacts drive each shape, if further than its known motion."""
    shapes, dt = collision.shapes, settings.time_step
    driven = False
    for k in range(collision.moving.shape[0]):
        shape = shapes[collision.moving[k]]
        number = constrained.supports[shape.body].constraint_body
        if number < 0:
            continue
        origin = kinematics[bodies[shape.body].root].origin
        at, v, c = constrained.bodies[number].offset, constrained.velocity, shape.center
        x, y, z = c[0] - origin[0], c[1] - origin[1], c[2] - origin[2]
        a, b, c = v[at], v[at + 1], v[at + 2]
        speed = math.hypot(v[at + 3] + b * z - c * y, v[at + 4] + c * x - a * z)
        speed = math.hypot(speed, v[at + 5] + a * y - b * x)
        speed += shape.radius * math.sqrt(a * a + b * b + c * c)
        change = 0.0
        for r in range(at, at + 6):
            change = max(change, abs(constrained.acceleration[r]) * (shape.radius + 1.0))
        if dt * (speed - dt * change) > shape.travel:
            shape.driven = _AMPLE * dt * speed
            driven = True
    return driven


@inner_kernel
def _have_contact(counts, contacts, a, b):
    """Return whether there is a contact of two shapes."""
    for c in range(counts.contact_count):
        contact = contacts[c]
        if contact.shape_a == a and contact.shape_b == b:
            return True
    return False


@inner_kernel
def forget_driven(collision, impacts):
    """Clear how far impacts drive the shapes, at the end of a step."""
    impacts.state[0].wider_searches = 0
    for k in range(collision.moving.shape[0]):
        collision.shapes[collision.moving[k]].driven = 0.0
