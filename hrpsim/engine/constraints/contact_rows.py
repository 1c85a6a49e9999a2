# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Constraint rows of contacts: a normal row that pushes, and two rows of friction.

Three models of friction exist (friction_laws). In the cone model, the friction vector is bounded by
the normal force, with any two tangents. In the pyramid model, the components along two tangents at
a random angle are bounded separately. In the slip-direction model, friction is a single force
against the slip.
"""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    Contact,
    Mat3,
    MaterialPair,
    Records,
    Row,
    Scene,
    Seconds,
    Settings,
    Vec3,
    Vector,
)
from hrpsim.engine.constraints.friction_laws import (
    friction_axes,
    is_isotropic,
    law_in_step,
    project_friction,
)
from hrpsim.engine.constraints.impact_rows import CLOSED
from hrpsim.engine.constraints.point_rows import (
    attach_point,
    find_masses,
    find_point_responses,
    point_velocity,
)
from hrpsim.engine.constraints.rows import (
    CONTACT_ROW,
    least_inverse_mass,
    row_velocity,
    soften_stop,
)
from hrpsim.engine.constraints.solver_table import ITERATIVE, PENALTY, choose_solver
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.dynamics.first_order_forces import SYMMETRIC
from hrpsim.engine.kinematics.forest import Forest

# parameters of a pair of materials; tables are (k, k) and symmetric
MATERIAL_PAIR = np.dtype(
    [
        ("static", "f8"),
        ("kinetic", "f8"),
        ("torsional", "f8"),  # coefficient of friction against spin [m]
        ("rolling", "f8"),  # coefficient of rolling friction [m]
        ("restitution", "f8"),
        ("sequential", "i8"),  # whether impacts take turns where several contacts are closed
        ("compliance", "f8"),  # compliance of each contact point [m/N]
        ("damping_time", "f8"),  # [s]; -1: rigid, penetration is corrected at a bounded speed
        ("force_limit", "f8"),  # largest normal force of each contact point [N]
        ("stiffness", "f8"),  # of the spring of each penalty contact [N/m]; 0: by its mass
        ("damping_ratio", "f8"),  # of each penalty contact alone
        ("max_extension", "f8"),  # of its spring [m]; -1: by its mass and stiffness
    ]
)

# numbers that contact rows are made with, the same for the whole world
CONTACT_PARAMETERS = [
    ("friction_model", "i8"),
    ("slip_threshold", "f8"),  # speed that separates static from kinetic friction [m/s]
    ("restitution_threshold", "f8"),  # approach speed below which nothing bounces [m/s]
    ("correction_rate", "f8"),  # share of the penetration corrected in a step
    ("correction_speed", "f8"),  # bound on the velocity that corrects it [m/s]
    ("slop", "f8"),  # penetration that is left alone [m]
]


@kernel
def tangents(n: Vec3, first_out: Vec3, second_out: Vec3) -> None:
    """Write two unit vectors that are orthogonal to a unit normal and to each other.

    The two vectors depend on the normal alone. The components of friction impulses therefore keep
    the same meaning between steps.

    Args:
        n: unit vector (3,).
        first_out: first tangent (3,), written.
        second_out: second tangent (3,), written.
    """
    if abs(n[2]) > 0.7:
        scale = 1.0 / math.sqrt(n[0] * n[0] + n[2] * n[2])
        x, y, z = n[2] * scale, 0.0, -n[0] * scale
    else:
        scale = 1.0 / math.sqrt(n[0] * n[0] + n[1] * n[1])
        x, y, z = -n[1] * scale, n[0] * scale, 0.0
    first_out[0], first_out[1], first_out[2] = x, y, z
    second_out[0] = n[1] * z - n[2] * y
    second_out[1] = n[2] * x - n[0] * z
    second_out[2] = n[0] * y - n[1] * x


@inlined_kernel
def contact_directions(contact: Contact, directions_out: Mat3) -> None:
    """Write the directions of a contact's rows in the world.

    Args:
        contact: CONTACT record. `normal` is read.
        directions_out: unit vectors (3, 3), one for each row: the normal and the two `tangents`.
    """
    for r in range(3):
        directions_out[0, r] = contact.normal[r]
    tangents(directions_out[0], directions_out[1], directions_out[2])


@inner_kernel
def mark_contact_bodies(
    contacts: Records[Contact], contact_count: int, constrained_out: ConstraintBodies
) -> None:
    """Mark the bodies that contacts push, and unmark every other body."""
    for i in range(constrained_out.marked.shape[0]):
        constrained_out.marked[i] = 0
    for c in range(contact_count):
        contact = contacts[c]
        if contact.body_a >= 0:
            constrained_out.marked[contact.body_a] = 1
        if contact.body_b >= 0:
            constrained_out.marked[contact.body_b] = 1


@inner_kernel
def contact_response_space(
    forest: Forest, contacts: Records[Contact], contact_count: int, constrained: ConstraintBodies
) -> int:
    """Return the number of entries of `response` that contact rows need."""
    needed = 0
    for c in range(contact_count):
        a, b = contacts[c].body_a, contacts[c].body_b
        if a >= 0:
            needed += 3 * constrained.supports[forest.bodies[a].root].tree_width
        if b >= 0 and (a < 0 or forest.bodies[a].root != forest.bodies[b].root):
            needed += 3 * constrained.supports[forest.bodies[b].root].tree_width
    return needed


@inner_kernel
def write_contact_rows(s: Scene) -> int:
    """Write three rows for each contact: normal, first and second tangent (Nakaoka eqs. 6-10).

    constrained.velocity must be the velocity at the start of the step. If a contact is compliant,
    constrained.acceleration must be the acceleration without constraints.

    Returns:
        The number of entries of `response` used.
    """
    forest, constrained, directions = s.forest, s.constrained, s.work.directions
    rows, response, contacts = s.rows.rows, s.rows.response, s.collision.contacts
    settings, contact_count = s.settings[0], s.counts[0].contact_count
    used = np.int64(0)  # not a literal, which would compile all that takes it twice
    # Several short loops: a processor then works on several contacts at once.
    for c in range(contact_count):
        contact = contacts[c]
        contact_directions(contact, directions)
        normal, x, y = rows[3 * c], rows[3 * c + 1], rows[3 * c + 2]
        used = attach_point(forest, constrained, contact, directions, normal, x, y, used)
    for c in range(contact_count):
        normal, x, y = rows[3 * c], rows[3 * c + 1], rows[3 * c + 2]
        find_point_responses(forest, constrained, contacts[c], normal, x, y, response)
    for c in range(contact_count):
        find_masses(rows[3 * c], rows[3 * c + 1], rows[3 * c + 2], response)
    for c in range(contact_count):
        contact = contacts[c]
        normal, x, y = rows[3 * c], rows[3 * c + 1], rows[3 * c + 2]
        a, b = s.collision.shapes[contact.shape_a], s.collision.shapes[contact.shape_b]
        solver = s.solver_choice[a.solver_class, b.solver_class]
        for axis in range(3):
            row = rows[3 * c + axis]
            row.kind, row.source = CONTACT_ROW, c
            choose_solver(row, solver)
            row.impulse = contact.impulse[axis]
        pair = s.materials[a.material, b.material]
        approach, slip_x, slip_y = point_velocity(normal, x, y, constrained.velocity)
        _bound_friction(contact, pair, settings, slip_x, slip_y, normal, x, y, response)
        if solver != PENALTY:
            _ask(contact, approach, pair, settings, constrained, normal)
        least = least_inverse_mass(normal, constrained)
        for axis in range(3):
            row = rows[3 * c + axis]
            if row.inverse_mass > least:
                row.mass = 1.0 / row.inverse_mass
            else:
                row.mass = row.inverse_mass = 0.0
    return used


@inlined_kernel  # many parameters: the data of the contact are passed in registers
def _bound_friction(
    contact: Contact, pair: MaterialPair, settings: Settings, slip_x: float, slip_y: float,
    normal: Row, x: Row, y: Row, response: Vector,
) -> None:  # fmt: skip
    """Write the coefficient and the law of friction, and turn the tangents to the axes of the law.

    The coefficient is kinetic if the slip exceeds the threshold, otherwise static.
    """
    slip = math.sqrt(slip_x * slip_x + slip_y * slip_y)
    slides = slip > settings.slip_threshold
    contact.slides = 1 if slides else 0
    normal.friction = pair.kinetic if slides else pair.static
    law = law_in_step(settings.friction_model, slides)
    normal.friction_model = law
    if is_isotropic(law):
        _share_largest_mass(x, y)
    else:
        cosine, sine = friction_axes(law, contact.axis_angle, slip_x, slip_y)
        _turn_axes(contact, normal, x, y, cosine, sine, response)
        x.impulse, y.impulse = project_friction(law, math.inf, x.impulse, y.impulse)


@inner_kernel
def move_contact_rows(
    forest: Forest,
    contact: Contact,
    directions: Mat3,
    constrained: ConstraintBodies,
    normal: Row,
    x: Row,
    y: Row,
    response: Vector,
) -> None:
    """Rewrite the rows of a contact whose point or normal has moved within the step.

    The rows keep their entries in `response`. Impulses become 0, and targets are not written.

    Args:
        forest: constants of the bodies and joints.
        contact: CONTACT record.
        directions: normal and tangents (3, 3), written.
        constrained: constraint bodies of the step.
        normal: ROW record of the contact's normal.
        x: ROW record of the first tangent.
        y: ROW record of the second tangent.
        response: responses of all rows (entries,), changed.
    """
    contact_directions(contact, directions)
    attach_point(forest, constrained, contact, directions, normal, x, y, normal.response_at)
    find_point_responses(forest, constrained, contact, normal, x, y, response)
    find_masses(normal, x, y, response)
    if is_isotropic(normal.friction_model):
        _share_largest_mass(x, y)
    else:
        _turn_axes(contact, normal, x, y, contact.turn[0], contact.turn[1], response)
    least = least_inverse_mass(normal, constrained)
    for row in (normal, x, y):
        row.impulse = 0.0
        row.mass = 1.0 / row.inverse_mass if row.inverse_mass > least else 0.0
        row.inverse_mass = row.inverse_mass if row.mass > 0.0 else 0.0


@inlined_kernel
def _share_largest_mass(x: Row, y: Row) -> None:
    """Set the inverse mass of both tangents to the largest eigenvalue of their 2x2 block."""
    half = 0.5 * (x.inverse_mass - y.inverse_mass)
    largest = 0.5 * (x.inverse_mass + y.inverse_mass) + math.sqrt(half * half + x.cross * x.cross)
    x.inverse_mass = y.inverse_mass = largest


@inner_kernel
def _turn_axes(
    contact: Contact, normal: Row, x: Row, y: Row, cosine: float, sine: float, response: Vector
) -> None:
    """Turn the rows and impulses of both tangents about the normal."""
    contact.turn[0], contact.turn[1] = cosine, sine
    for k in range(6):
        a, b = x.J_a[k], y.J_a[k]
        x.J_a[k], y.J_a[k] = cosine * a + sine * b, cosine * b - sine * a
        a, b = x.J_b[k], y.J_b[k]
        x.J_b[k], y.J_b[k] = cosine * a + sine * b, cosine * b - sine * a
    at_x, at_y = x.response_at, y.response_at
    for k in range(x.width_a + x.width_b):
        a, b = response[at_x + k], response[at_y + k]
        response[at_x + k], response[at_y + k] = cosine * a + sine * b, cosine * b - sine * a
    a, b = x.impulse, y.impulse
    x.impulse, y.impulse = cosine * a + sine * b, cosine * b - sine * a
    find_masses(normal, x, y, response)


@inlined_kernel
def friction_impulses(contact: Contact, normal: Row, x: Row, y: Row) -> tuple[float, float]:
    """Return the friction impulses of a contact along its two `tangents`.

    Args:
        contact: CONTACT record.
        normal: ROW record of the contact's normal.
        x: ROW record of the first tangent.
        y: ROW record of the second tangent.

    Returns:
        (impulse along the first tangent, impulse along the second tangent) [Ns].
    """
    if is_isotropic(normal.friction_model):
        return x.impulse, y.impulse
    cosine, sine = contact.turn[0], contact.turn[1]
    return cosine * x.impulse - sine * y.impulse, sine * x.impulse + cosine * y.impulse


@inlined_kernel
def _ask(
    contact: Contact,
    approach: float,
    pair: MaterialPair,
    settings: Settings,
    constrained: ConstraintBodies,
    normal: Row,
) -> None:
    """Write target and bounds of a normal row, rigid or compliant.

    Restitution was applied before, as an impact. If contacts are found at the start of a step, as
    in rk4, the permitted closing speed of `rigid_law` is zero at the closed gap.
    """
    time_step = settings.time_step
    gap, closed = contact.gap + contact.gap_offset, closed_gap(normal.solver, settings.slop)
    if pair.restitution > 0.0 and approach < -settings.restitution_threshold:
        closed = CLOSED
    normal.lower, normal.upper = 0.0, pair.force_limit * time_step
    if pair.damping_time >= 0.0:
        gap += settings.lead * approach
        if settings.order == 1 and settings.damping == SYMMETRIC:
            gap += _late_gap(contact, gap, approach, time_step)
        normal.correction_velocity = -max(gap, 0.0) / time_step
        acceleration = row_velocity(normal, constrained.acceleration)
        compliance, damping_time = pair.compliance, pair.damping_time
        soften_stop(normal, gap, approach, acceleration, compliance, damping_time, time_step)
    else:
        origin = closed if settings.drift == 0.0 else CLOSED
        normal.target, normal.correction_velocity = rigid_law(gap, closed, origin, settings)
    if contact.push_out > 0.0:
        normal.correction_velocity = max(normal.correction_velocity, contact.push_out / time_step)


@inlined_kernel
def closed_gap(solver: int, slop: float) -> float:
    """Return the gap up to which a rigid contact counts as closed [m].

    For the direct solver, gaps up to the slop count as closed. Otherwise the lowest of a face's
    redundant points would carry the whole load.

    Args:
        solver: solver of the contact's rows.
        slop: penetration that is not corrected [m].
    """
    return CLOSED if solver == ITERATIVE else max(CLOSED, slop)


@inlined_kernel
def rigid_law(gap: float, closed: float, origin: float, settings: Settings) -> tuple[float, float]:
    """Return target velocity and position correction for the normal row of a rigid contact.

    The permitted closing speed grows from zero at the gap `origin` to the speed that closes the
    whole gap at twice `origin`. If the speed jumped, rounding errors in the tilt of a flat sole
    would give its corners targets that the sole cannot meet together. The load would go to one
    diagonal.

    Args:
        gap: gap of the contact [m].
        closed: gap up to which the contact counts as closed [m].
        origin: gap from which on the closing speed grows [m].
        settings: settings of the step.

    Returns:
        (target [m/s], displacement rate of the correction [m/s]).
    """
    if gap > closed:
        closing = -min(gap, 2.0 * (gap - origin)) / settings.time_step
        return closing, closing
    if gap < -settings.slop:
        rate = -settings.correction_rate * (gap + settings.slop) / settings.time_step
        return 0.0, min(rate, settings.correction_speed)
    return 0.0, 0.0


@inlined_kernel
def rigid_slopes(
    gap: float, closed: float, origin: float, settings: Settings
) -> tuple[float, float]:
    """Return the derivatives of both results of `rigid_law` with respect to the gap [1/s].

    Args:
        gap: gap of the contact [m].
        closed: gap up to which the contact counts as closed [m].
        origin: as for `rigid_law` [m].
        settings: settings of the step.
    """
    if gap > closed:
        slope = -(1.0 if gap > 2.0 * origin else 2.0) / settings.time_step
        return slope, slope
    slope = -settings.correction_rate / settings.time_step
    is_corrected = gap < -settings.slop
    if is_corrected and slope * (gap + settings.slop) < settings.correction_speed:
        return 0.0, slope
    return 0.0, 0.0


@inlined_kernel
def _late_gap(contact: Contact, gap: float, approach: float, time_step: Seconds) -> float:
    """Return the depth at which a compliant contact began, for the integrator euler [m].

    A contact may be found only when the body already penetrates, for example because the body was
    placed there. The spring is then relaxed at this depth, so that the contact does not create
    energy.

    gap: gap at the end of the step [m].
    approach: rate of the gap [m/s].
    """
    if contact.impulse[0] == 0.0:
        way = 0.5 * time_step * approach
        contact.late = min(max(way - gap, 0.0), max(-way, 0.0))
    return contact.late
