# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""How the points of one flat contact share its wrench, where that leaves a choice.

Four corners of a sole bear a force and two moments by four normal forces, and a force and a moment
by eight friction forces. What is left open the solution of a step takes over from its start. The
start is the division of least squares, the only one that depends on the wrench alone: others carry
on what earlier motions left, until one corner bears nothing and its neighbour twice its share.
"""

from __future__ import annotations

from hrpsim.constraints.contact_rows import CLOSED, friction_holds
from hrpsim.constraints.rows import CONE, ITERATIVE
from hrpsim.jit.compiled import inlined_kernel, inner_kernel

# Largest difference of the normals of a flat contact.
_PARALLEL = 1e-9

# Largest height of its points above each other [m]: friction has next to no arm there.
_LEVEL = 1e-6

# Share of the bounds of friction, squared, below which points stuck in the last step, and up to
# which they do so beyond doubt.
_HOLDS, _STICKS = 0.99, 0.8

# Determinant of the points' second moments, over their trace squared, of points on a line.
_ON_A_LINE = 1e-9


@inner_kernel
def distribute_loads(contacts, contact_count, rows):
    """Start the points of every flat contact that sticks from impulses of least squares.

    Of the same wrench, so that no velocity changes but by rounding.
    """
    first = 0
    while first < contact_count:
        end = first + 1
        while end < contact_count and _same_bodies(contacts[first], contacts[end]):
            end += 1
        if end - first > 2 and _is_flat(contacts, rows, first, end):
            _distribute(contacts, rows, first, end)
        first = end


@inlined_kernel
def _same_bodies(one, other):
    """Return whether two contacts are between the same bodies."""
    return one.body_a == other.body_a and one.body_b == other.body_b


@inlined_kernel
def _is_flat(contacts, rows, first, end):
    """Return whether rigid contacts have one plane and circular cones of friction."""
    origin, n = contacts[first], contacts[first].normal
    for c in range(first, end):
        row, contact, height = rows[3 * c], contacts[c], 0.0
        if row.solver != ITERATIVE or row.friction_model != CONE or row.compliance > 0.0:
            return False
        for r in range(3):
            if abs(contact.normal[r] - n[r]) > _PARALLEL:
                return False
            height += n[r] * (contact.point_a[r] - origin.point_a[r])
        if abs(height) > _LEVEL:
            return False
    return True


@inlined_kernel
def _is_closed(contact, normal):
    """Return whether a contact may bear a load."""
    return normal.impulse > 0.0 or contact.gap <= CLOSED


@inlined_kernel
def _place(contact, origin, x, y):
    """Return where a contact is along its tangents, from `origin` on [m]."""
    along_x = along_y = 0.0
    for r in range(3):
        arm = contact.point_a[r] - origin.point_a[r]
        along_x += arm * x.J_a[3 + r]
        along_y += arm * y.J_a[3 + r]
    return along_x, along_y


@inlined_kernel
def _distribute(contacts, rows, first, end):
    """Divide the wrench of the contacts `first` to `end` anew."""
    origin, count, load = contacts[first], 0, 0.0
    mean_x = mean_y = push_x = push_y = 0.0
    for c in range(first, end):
        normal, x, y = rows[3 * c], rows[3 * c + 1], rows[3 * c + 2]
        if not _is_closed(contacts[c], normal):
            continue
        slips = contacts[c].slides or not friction_holds(normal, x, y, _HOLDS)
        if normal.impulse > 0.0 and slips:
            return
        along_x, along_y = _place(contacts[c], origin, x, y)
        count, load = count + 1, load + normal.impulse
        mean_x, mean_y = mean_x + along_x, mean_y + along_y
        push_x, push_y = push_x + x.impulse, push_y + y.impulse
    if count < 3 or load == 0.0:
        return
    mean_x, mean_y = mean_x / count, mean_y / count
    xx = xy = yy = turn_x = turn_y = twist = 0.0
    for c in range(first, end):
        normal, x, y = rows[3 * c], rows[3 * c + 1], rows[3 * c + 2]
        if _is_closed(contacts[c], normal):
            a, b = _place(contacts[c], origin, x, y)
            a, b = a - mean_x, b - mean_y
            xx, xy, yy = xx + a * a, xy + a * b, yy + b * b
            turn_x, turn_y = turn_x + a * normal.impulse, turn_y + b * normal.impulse
            twist += a * y.impulse - b * x.impulse
    determinant = xx * yy - xy * xy
    if determinant <= _ON_A_LINE * (xx + yy) ** 2:
        return
    slope_x = (yy * turn_x - xy * turn_y) / determinant
    slope_y = (xx * turn_y - xy * turn_x) / determinant
    load, push_x, push_y = load / count, push_x / count, push_y / count
    twist /= xx + yy
    for c in range(first, end):
        normal, x, y = rows[3 * c], rows[3 * c + 1], rows[3 * c + 2]
        if _is_closed(contacts[c], normal):
            a, b = _place(contacts[c], origin, x, y)
            a, b = a - mean_x, b - mean_y
            share = load + slope_x * a + slope_y * b
            fx, fy = push_x - twist * b, push_y + twist * a
            limit = normal.friction * share
            if share <= 0.0 or fx * fx + fy * fy > _STICKS * limit * limit:
                return
    for c in range(first, end):
        normal, x, y = rows[3 * c], rows[3 * c + 1], rows[3 * c + 2]
        if _is_closed(contacts[c], normal):
            a, b = _place(contacts[c], origin, x, y)
            a, b = a - mean_x, b - mean_y
            normal.impulse = load + slope_x * a + slope_y * b
            x.impulse, y.impulse = push_x - twist * b, push_y + twist * a
