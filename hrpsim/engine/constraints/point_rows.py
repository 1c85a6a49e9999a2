# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Forces, responses and 3x3 inverse mass of the three rows of a contact point."""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Contact,
    Index,
    Mat3,
    Row,
    Support,
    Vec3,
    Vec6,
    Vector,
)
from hrpsim.engine.constraints.rows import start_row
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.simd import LANES, load, minus_times, plus, plus_times, store, times


@inlined_kernel
def attach_point(
    forest: Forest,
    constrained: ConstraintBodies,
    contact: Contact,
    directions: Mat3,
    normal: Row,
    x: Row,
    y: Row,
    used: int,
) -> int:
    """Set up three rows that push body a along `directions` at the contact, and b in reverse.

    `find_point_responses` fills the response space afterwards.

    Args:
        forest: constants of the bodies and joints.
        constrained: constraint bodies of the step.
        contact: CONTACT record.
        directions: normal and tangents (3, 3).
        normal: ROW record of the contact's normal.
        x: ROW record of the first tangent.
        y: ROW record of the second tangent.
        used: number of entries of `response` used before.

    Returns:
        The number of entries of `response` used so far.
    """
    a, b = contact.body_a, contact.body_b
    width_a = _tree_of(forest, constrained, a).tree_width if a >= 0 else 0
    width_b = _tree_of(forest, constrained, b).tree_width if b >= 0 else 0
    if a >= 0 and b >= 0 and forest.bodies[a].root == forest.bodies[b].root:
        width_b = 0
    total = width_a + width_b
    start_row(normal, used)
    start_row(x, used + total)
    start_row(y, used + 2 * total)
    for end in range(2):
        body = a if end == 0 else b
        if body < 0:
            continue
        is_second = end == 1 and a >= 0
        number = constrained.supports[body].constraint_body
        constraint_body, tree = constrained.bodies[number], _tree_of(forest, constrained, body)
        for row in (normal, x, y):
            if is_second:
                row.constrained_b, row.at_b = number, constraint_body.offset
                row.start_b, row.width_b = tree.tree_start, width_b
            else:
                row.constrained_a, row.at_a = number, constraint_body.offset
                row.start_a, row.width_a = tree.tree_start, total if a < 0 else width_a
        sign = 1.0 if end == 0 else -1.0
        point = contact.point_a if end == 0 else contact.point_b
        J_n = normal.J_b if is_second else normal.J_a
        J_x = x.J_b if is_second else x.J_a
        J_y = y.J_b if is_second else y.J_a
        _force_through(point, directions, sign, J_n, J_x, J_y)
    return used + 3 * total


@inlined_kernel
def find_point_responses(
    forest: Forest,
    constrained: ConstraintBodies,
    contact: Contact,
    normal: Row,
    x: Row,
    y: Row,
    response: Vector,
) -> None:
    """Write the responses of three rows that are attached to a contact point.

    Args:
        forest: constants of the bodies and joints.
        constrained: constraint bodies of the step.
        contact: CONTACT record.
        normal: ROW record of the contact's normal.
        x: ROW record of the first tangent.
        y: ROW record of the second tangent.
        response: responses of all rows (entries,), velocities per unit impulse, changed.
    """
    at = (normal.response_at, x.response_at, y.response_at)
    point = contact.point_a if contact.body_a >= 0 else contact.point_b
    a, b = normal.constrained_a, normal.constrained_b
    _respond(forest, constrained, a, point, normal.J_a, x.J_a, y.J_a, response, at, False)
    if b >= 0:
        point, adds = contact.point_b, normal.width_b == 0
        if not adds:
            at = at[0] + normal.width_a, at[1] + normal.width_a, at[2] + normal.width_a
        _respond(forest, constrained, b, point, normal.J_b, x.J_b, y.J_b, response, at, adds)


@inlined_kernel
def _tree_of(forest: Forest, constrained: ConstraintBodies, body: Index) -> Support:
    return constrained.supports[forest.bodies[body].root]


@inlined_kernel
def _force_through(
    point: Vec3, directions: Mat3, sign: float, J_n_out: Vec6, J_x_out: Vec6, J_y_out: Vec6
) -> None:
    """Write the spatial forces through `point` of unit vectors along `directions`, times `sign`."""
    p0, p1, p2 = sign * point[0], sign * point[1], sign * point[2]
    axis = 0
    for J in (J_n_out, J_x_out, J_y_out):
        d0, d1, d2 = directions[axis, 0], directions[axis, 1], directions[axis, 2]
        J[0] = p1 * d2 - p2 * d1
        J[1] = p2 * d0 - p0 * d2
        J[2] = p0 * d1 - p1 * d0
        J[3], J[4], J[5] = sign * d0, sign * d1, sign * d2
        axis += 1


@inlined_kernel  # many parameters: the data of the contact are passed in registers
def _respond(
    forest: Forest, constrained: ConstraintBodies, number: Index, point: Vec3, J_n: Vec6, J_x: Vec6,
    J_y: Vec6, response: Vector, at: tuple[int, int, int], adds: bool,
) -> None:  # fmt: skip
    """Write, or add, the responses of the tree of constraint body `number` to three unit forces.

    at: first entry of `response` for each row. adds: whether the responses are added.

    The block is symmetric, so its rows are used as columns. For each column, the velocity of the
    point is projected onto the directions.
    """
    constraint_body = constrained.bodies[number]
    tree, block = _tree_of(forest, constrained, constraint_body.body), constrained.inverse_inertia
    width = tree.tree_width
    first = tree.tree_block + (constraint_body.offset - tree.tree_start) * width
    p0, p1, p2 = point[0], point[1], point[2]
    n0, n1, n2 = J_n[3], J_n[4], J_n[5]
    x0, x1, x2 = J_x[3], J_x[4], J_x[5]
    y0, y1, y2 = J_y[3], J_y[4], J_y[5]
    at_n, at_x, at_y = at
    for k in range(0, width, LANES):
        row = first + k
        a0, a1 = load(block, row), load(block, row + width)
        a2, w0 = load(block, row + 2 * width), load(block, row + 3 * width)
        w1, w2 = load(block, row + 4 * width), load(block, row + 5 * width)
        w0 = minus_times(plus_times(w0, a1, p2), a2, p1)
        w1 = minus_times(plus_times(w1, a2, p0), a0, p2)
        w2 = minus_times(plus_times(w2, a0, p1), a1, p0)
        along_n = plus_times(plus_times(times(w0, n0), w1, n1), w2, n2)
        along_x = plus_times(plus_times(times(w0, x0), w1, x1), w2, x2)
        along_y = plus_times(plus_times(times(w0, y0), w1, y1), w2, y2)
        if adds:
            along_n = plus(along_n, load(response, at_n + k))
            along_x = plus(along_x, load(response, at_x + k))
            along_y = plus(along_y, load(response, at_y + k))
        store(response, at_n + k, along_n)
        store(response, at_x + k, along_x)
        store(response, at_y + k, along_y)


@inner_kernel
def find_masses(normal: Row, x: Row, y: Row, response: Vector) -> None:
    """Write `inverse_mass` and `cross` of a contact's three rows [1/kg].

    Args:
        normal: ROW record of the contact's normal.
        x: ROW record of the first tangent.
        y: ROW record of the second tangent.
        response: responses of all rows (entries,).
    """
    first = normal.at_a - normal.start_a
    nn, xx, yy, nx, xy, yn = _products(normal.J_a, x.J_a, y.J_a, normal, x, y, first, response)
    if normal.at_b >= 0:
        first = normal.at_b - normal.start_a
        if normal.width_b > 0:
            first = normal.width_a + normal.at_b - normal.start_b
        more = _products(normal.J_b, x.J_b, y.J_b, normal, x, y, first, response)
        nn, xx, yy = nn + more[0], xx + more[1], yy + more[2]
        nx, xy, yn = nx + more[3], xy + more[4], yn + more[5]
    normal.inverse_mass, x.inverse_mass, y.inverse_mass = nn, xx, yy
    normal.cross, x.cross, y.cross = nx, xy, yn


@inlined_kernel
def _products(
    J_n: Vec6, J_x: Vec6, J_y: Vec6, normal: Row, x: Row, y: Row, first: Index, response: Vector
) -> tuple[float, ...]:
    """Return one constraint body's part of J M^-1 J^T: entries nn, xx, yy, nx, xy, yn."""
    n, along_x, along_y = normal.response_at + first, x.response_at + first, y.response_at + first
    nn = xx = yy = nx = xy = yn = 0.0
    for k in range(6):
        by_n, by_x, by_y = response[n + k], response[along_x + k], response[along_y + k]
        nn += J_n[k] * by_n
        xx += J_x[k] * by_x
        yy += J_y[k] * by_y
        nx += J_x[k] * by_n
        xy += J_y[k] * by_x
        yn += J_n[k] * by_y
    return nn, xx, yy, nx, xy, yn


@inlined_kernel
def point_velocity(normal: Row, x: Row, y: Row, velocity: Vector) -> tuple[float, float, float]:
    """Return the relative velocity of a contact along its three rows.

    Args:
        normal: ROW record of the contact's normal.
        x: ROW record of the first tangent.
        y: ROW record of the second tangent.
        velocity: velocity of the constraint bodies (columns,) [rad/s, m/s].

    Returns:
        (normal velocity, velocities along both tangents) [m/s].
    """
    n, first, second = _three_products(normal.J_a, x.J_a, y.J_a, normal.at_a, velocity)
    if normal.at_b >= 0:
        more = _three_products(normal.J_b, x.J_b, y.J_b, normal.at_b, velocity)
        return n + more[0], first + more[1], second + more[2]
    return n, first, second


@inlined_kernel
def _three_products(
    a: Vec6, b: Vec6, c: Vec6, at: Index, velocity: Vector
) -> tuple[float, float, float]:
    """Return the products of a, b and c (6,) with the velocity of one constraint body."""
    v0, v1, v2 = velocity[at], velocity[at + 1], velocity[at + 2]
    v3, v4, v5 = velocity[at + 3], velocity[at + 4], velocity[at + 5]
    return (
        (a[0] * v0 + a[1] * v1 + a[2] * v2) + (a[3] * v3 + a[4] * v4 + a[5] * v5),
        (b[0] * v0 + b[1] * v1 + b[2] * v2) + (b[3] * v3 + b[4] * v4 + b[5] * v5),
        (c[0] * v0 + c[1] * v1 + c[2] * v2) + (c[3] * v3 + c[4] * v4 + c[5] * v5),
    )
