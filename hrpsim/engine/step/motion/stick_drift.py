# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Correction of the position drift of loaded contacts in an rk4 step.

The contact force of an rk4 step is computed once, to reach a velocity at the end of the step.
Within the step, the gap of a contact changes by a second-order error, and a sticking contact slips.
The error has the same sign throughout, for example while a robot swings. A displacement in the next
step corrects gap and slip, in the same way as penetration.

The slip is the integral of the relative velocity at the contact point. The integral uses the
quadrature of rk4, and so has the same order. For a sticking contact, the normal part is corrected
as well. A tangential correction alone would tilt bodies off the surface.

For spheres and capsules, the gap is also corrected when they slide. Otherwise the gap of a sphere
on a curved path would be wrong for some steps when the sphere begins to slide. The correction is
the difference between the gap of the next contact search and its prediction (`held_gap`). The
prediction uses the velocity at the end of the step. On other shapes, the contact point moves over
tilting faces, which changes the gap.

A contact point moves over the bodies. Under a rolling ball, it stays below the centre. At the
corner of a tipping box, it moves with the box. The next contact search finds the point at the end
of the step. The slip is then completed. r is the arm from a body's centre of mass to the contact
point, with r0 and r1 at both ends of the step. T is the rotation vector of the body in the step. In
the middle of the step, the arm is

    r(1/2) = r0 + (1 - tan(|T| / 4) [T / |T|]x) (r1 - r0) / 2

[]x is the cross-product matrix. The rule is exact for a ball, a cylinder and a corner, and accurate
to second order otherwise. If the change of a free body's arm is steady (contact_history), the
parabola through the arm r(-1) of the last step replaces the rotation. The arm of a rim that rolls
in a bend turns by less than the body:

    r(1/2) = r0 + (r1 - r0) / 2 - (r1 - 2 r0 + r(-1)) / 8
"""

import math

from hrpsim.engine.collision.records import Collision
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Body,
    Contact,
    Counts,
    FreeTurn,
    Index,
    Kinematics,
    Mat3,
    Records,
    Row,
    Scene,
    Seconds,
    Settings,
    Shape,
    Vec3,
    Vector,
)
from hrpsim.engine.constraints.contact_bending import bend_along
from hrpsim.engine.constraints.contact_history import goes_on, last_contact
from hrpsim.engine.constraints.friction_laws import friction_holds
from hrpsim.engine.constraints.rows import Rows, row_velocity
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import update_poses
from hrpsim.engine.step.motion.records import Rk4
from hrpsim.model.shapes.geometry import CAPSULE, SPHERE

_LARGEST_TURN = 1.0  # rotation in a step [rad] above which r(1/2) is the mean of r0 and r1


@inner_kernel
def start_slip(s: Scene) -> None:
    """Complete the slip of the last step with the new contact points, and predict the gaps.

    constrained.velocity must be the velocity at the end of that step, as solved with the rows. The
    kernel writes `drift` of contacts, and `spin` and `center` of s.rk4.slips.
    """
    contacts = s.collision.contacts
    for c in range(s.counts[0].contact_count):
        contact, drift = contacts[c], contacts[c].drift
        rate = row_velocity(s.rows.rows[3 * c], s.constrained.velocity)
        if contact.bends:
            rate += bend_along(contact, s.rows.rows[3 * c])
        drift.held_gap += s.settings[0].time_step * rate
        if not drift.has_slipped:
            clear_slip(contact)
        before, smooth = last_contact(s, c), goes_on(s, c)
        _renew_arm(
            s,
            contact.body_a,
            1.0,
            contact.point_a,
            before.moved_a,
            smooth,
            drift.shift_a,
            drift.arm_a,
            drift.way,
        )
        _renew_arm(
            s,
            contact.body_b,
            -1.0,
            contact.point_b,
            before.moved_b,
            smooth,
            drift.shift_b,
            drift.arm_b,
            drift.way,
        )
    for i in range(s.forest.bodies.shape[0]):
        slip = s.rk4.slips[i]
        spin = slip.spin
        for r in range(3):
            slip.center[r] = _center(s.forest.bodies, s.kinematics, i, r)
        for part in range(3):
            for r in range(3):
                spin[part, r] = 0.0


@inlined_kernel
def clear_slip(contact: Contact) -> None:
    """Set the slip of a contact to zero."""
    for r in range(3):
        contact.drift.way[r] = 0.0
        for k in range(3):
            contact.drift.shift_a[r, k] = contact.drift.shift_b[r, k] = 0.0


@inner_kernel
def _renew_arm(
    s: Scene,
    body: Index,
    sign: float,
    point: Vec3,
    moved_before: Vec3,
    smooth: bool,
    shift: Mat3,
    arm: Vec3,
    way_out: Vec3,
) -> None:
    """Write the present arm of a contact point, and add the effect of its change to the slip.

    Args:
        s: the scene.
        body: index of the body. -1 is the world.
        sign: 1 for the contact's body a, -1 for b.
        point: the point, from the origin of the body's tree (3,) [m].
        moved_before: change of the arm in the step before the last (3,) [m].
        smooth: whether the arm changes smoothly (contact_history).
        shift: rotations of the body in the last step, as `_add_slip` wrote them (3, 3) [rad].
        arm: the arm at the start of the last step (3,), overwritten with the present arm [m].
        way_out: slip (3,), changed [m].
    """
    if body < 0:
        return
    change, half, middle, lean = s.work.directions[0], shift[0], shift[1], shift[2]
    for r in range(3):
        new_arm = point[r] - _center(s.forest.bodies, s.kinematics, body, r)
        change[r], arm[r] = new_arm - arm[r], new_arm
    cx, cy, cz = change[0], change[1], change[2]
    x, y, z = lean[1] * cz - lean[2] * cy, lean[2] * cx - lean[0] * cz, lean[0] * cy - lean[1] * cx
    if smooth and s.forest.dofs[s.forest.bodies[body].v_index].turns_freely:
        x = 0.125 * (cx - moved_before[0])
        y = 0.125 * (cy - moved_before[1])
        z = 0.125 * (cz - moved_before[2])
    way_out[0] += sign * (half[1] * cz - half[2] * cy - middle[1] * z + middle[2] * y)
    way_out[1] += sign * (half[2] * cx - half[0] * cz - middle[2] * x + middle[0] * z)
    way_out[2] += sign * (half[0] * cy - half[1] * cx - middle[0] * y + middle[1] * x)


@inlined_kernel
def _center(
    bodies: Records[Body], kinematics: Records[Kinematics], body: Index, axis: int
) -> float:
    """Return a coordinate of a body's centre of mass, from the origin of its tree [m]."""
    R, p, com = kinematics[body].R, kinematics[body].p, bodies[body].com
    return p[axis] + R[axis, 0] * com[0] + R[axis, 1] * com[1] + R[axis, 2] * com[2]


@inner_kernel
def add_spin(
    settings: Settings, bodies: Records[Body], kinematics: Records[Kinematics], rk4: Rk4, stage: int
) -> None:
    """Add a stage's contribution to the rotation of bodies within the step [rad].

    The kernel changes `spin` of rk4.slips: the rotation vectors from the start, middle or end of
    the step. `stage` is the number of the stage, 0 to 3.
    """
    part = (stage + 1) // 2
    weight = settings.time_step / (6.0 if part != 1 else 3.0)
    for i in range(bodies.shape[0]):
        spin, v = rk4.slips[i].spin, kinematics[i].v
        for r in range(3):
            spin[part, r] += weight * v[r]


@inner_kernel
def ask_back_slip(
    settings: Settings,
    counts: Counts,
    forest: Forest,
    q: Vector,
    kinematics: Records[Kinematics],
    collision: Collision,
    rows: Rows,
    rk4: Rk4,
) -> None:
    """Set targets that correct the last step's drift of loaded contacts. Measure this step's drift.

    Args:
        settings: settings of the step.
        counts: numbers of contacts and rows.
        forest: constants of the bodies and joints.
        q: configuration at the end of the step (nq,).
        kinematics: KINEMATICS records of the bodies (n,). Poses are written.
        collision: contacts, whose `drift` is changed, and shapes.
        rows: rows of the step. Targets of the position correction are changed.
        rk4: work records of the method.
    """
    contacts, dt = collision.contacts, settings.time_step
    update_poses(forest, q, kinematics)
    for c in range(counts.contact_count):
        contact, drift = contacts[c], contacts[c].drift
        normal, x, y = rows.rows[3 * c], rows.rows[3 * c + 1], rows.rows[3 * c + 2]
        predicted = _has_predicted_body(rk4.turns, contact)
        rolls = _has_round_shape(collision.shapes, contact)
        if predicted or not rolls:
            drift.held_gap = math.inf
        else:
            _correct_gap(settings, contact, normal)
        known = drift.has_slipped
        sticks = friction_holds(normal, x, y, 0.999) and not predicted
        drift.has_slipped = 1 if sticks else 0
        if not sticks:
            continue
        if known:
            if not rolls:
                _start_from_closed(normal)
                _ask_back(contact, normal, dt)
            _ask_back(contact, x, dt)
            _ask_back(contact, y, dt)
        clear_slip(contact)
        a, b, way = contact.body_a, contact.body_b, drift.way
        _add_slip(forest.bodies, kinematics, rk4, a, drift.arm_a, 1.0, way, drift.shift_a)
        _add_slip(forest.bodies, kinematics, rk4, b, drift.arm_b, -1.0, way, drift.shift_b)
        _leave_approach(contact, normal, dt)


@inlined_kernel
def _correct_gap(settings: Settings, contact: Contact, normal: Row) -> None:
    """Write the correction of the gap error that the last step left at a ball's loaded contact."""
    drift, speed = contact.drift, settings.correction_speed
    if not _holds_gap(contact, normal):
        drift.held_gap = math.inf
    elif drift.missed_gap < math.inf:
        _start_from_closed(normal)
        missed_rate = drift.missed_gap / settings.time_step
        normal.correction_velocity += min(max(missed_rate, -speed), speed)


@inlined_kernel
def _is_round(shapes: Records[Shape], shape: Index) -> bool:
    """Return whether a shape has no flat face."""
    kind = shapes[shape].kind
    return kind == SPHERE or kind == CAPSULE


@inlined_kernel
def _start_from_closed(normal: Row) -> None:
    """Allow the correction of a normal row to pull, and remove its approach over an open gap."""
    normal.bilateral = 1
    normal.correction_velocity = max(normal.correction_velocity, 0.0)


@inlined_kernel
def _leave_approach(contact: Contact, normal: Row, time_step: Seconds) -> None:
    """Subtract the intended approach of a contact from its displacement.

    The row's target, or the compression of a soft contact, gives the intended approach.
    """
    n, way = contact.normal, contact.drift.way
    approach = time_step * normal.target
    if contact.bends:  # the correction for curvature is no approach
        approach += time_step * bend_along(contact, normal)
    if normal.compliance > 0.0:
        approach = n[0] * way[0] + n[1] * way[1] + n[2] * way[2]
    for r in range(3):
        way[r] -= approach * n[r]


@inlined_kernel
def _holds_gap(contact: Contact, normal: Row) -> bool:
    """Return whether a rigid contact is loaded and had no impact in this step."""
    presses = 0.0 < normal.impulse < normal.upper and contact.impact_impulse[0] == 0.0
    return presses and normal.compliance == 0.0


@inlined_kernel
def _ask_back(contact: Contact, row: Row, time_step: Seconds) -> None:
    """Change the position correction of a row so that it removes the slip of the contact."""
    J, way = row.J_a, contact.drift.way
    slip = J[3] * way[0] + J[4] * way[1] + J[5] * way[2]
    row.bilateral = 1
    row.correction_velocity -= (slip if contact.body_a >= 0 else -slip) / time_step


@inner_kernel
def remember_gaps(
    settings: Settings,
    counts: Counts,
    contacts: Records[Contact],
    constrained: ConstraintBodies,
    rows: Rows,
) -> None:
    """Add the effect of this step's displacement to the predicted gaps of contacts [m].

    The kernel changes `held_gap` of contacts. constrained.velocity must be the displacement rate.
    """
    for c in range(counts.contact_count):
        rate = row_velocity(rows.rows[3 * c], constrained.velocity)
        contacts[c].drift.held_gap += settings.time_step * rate


@inlined_kernel
def _has_predicted_body(turns: Records[FreeTurn], contact: Contact) -> bool:
    """Return whether the rotation of one of the bodies of a contact is predicted."""
    return _is_predicted(turns, contact.body_a) or _is_predicted(turns, contact.body_b)


@inlined_kernel
def _has_round_shape(shapes: Records[Shape], contact: Contact) -> bool:
    """Return whether one of the shapes of a contact has no flat face."""
    return _is_round(shapes, contact.shape_a) or _is_round(shapes, contact.shape_b)


@inlined_kernel
def _is_predicted(turns: Records[FreeTurn], body: Index) -> bool:
    """Return whether the rotation of a body in this step is predicted, and its slip is ignored."""
    return body >= 0 and turns[body].predicted != 0


@inner_kernel
def _add_slip(
    bodies: Records[Body],
    kinematics: Records[Kinematics],
    rk4: Rk4,
    body: Index,
    arm: Vec3,
    sign: float,
    way: Vec3,
    shift_out: Mat3,
) -> None:
    """Add `sign` times the displacement of a point with a fixed arm, and write the rotations.

    The displacement is the displacement of the body's centre of mass, plus the rotation times the
    arm. The rows of shift_out are three rotations [rad]: the factor of a steady change of the arm,
    the rotation by the middle of the step, and the factor in r(1/2) (see the module).
    """
    if body < 0:
        return
    slip, root = rk4.slips[body], bodies[body].root
    origin, start, spin = kinematics[root].origin, rk4.held[root].origin, slip.spin
    x, y, z = spin[0, 0], spin[0, 1], spin[0, 2]
    m0, m1, m2 = spin[1, 0], spin[1, 1], spin[1, 2]
    e0, e1, e2 = spin[2, 0], spin[2, 1], spin[2, 2]
    x, y, z = x + m0 + e0, y + m1 + e1, z + m2 + e2
    for r in range(3):
        way[r] += sign * (
            (origin[r] - start[r]) + (_center(bodies, kinematics, body, r) - slip.center[r])
        )
    way[0] += sign * (y * arm[2] - z * arm[1])
    way[1] += sign * (z * arm[0] - x * arm[2])
    way[2] += sign * (x * arm[1] - y * arm[0])
    angle = math.sqrt(x * x + y * y + z * z)
    lean = 0.125
    if angle > 1e-3:
        lean = 0.5 * math.tan(0.25 * angle) / angle if angle < _LARGEST_TURN else 0.0
    shift_out[0, 0], shift_out[0, 1], shift_out[0, 2] = 0.5 * m0 + e0, 0.5 * m1 + e1, 0.5 * m2 + e2
    shift_out[1, 0], shift_out[1, 1], shift_out[1, 2] = m0, m1, m2
    shift_out[2, 0], shift_out[2, 1], shift_out[2, 2] = lean * x, lean * y, lean * z
