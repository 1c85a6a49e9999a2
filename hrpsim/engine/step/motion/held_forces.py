# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Change of contact forces on free bodies over an rk4 step.

The force F of a contact is computed once, as the mean over the step. The force and the arm r of the
contact point are assumed to change as in the last steps. At the fraction t of the step

    F(t) = F + (t - 1/2) dF,
    r(t) = r + t dr + t (1 + t) / 2 ddr + t (1 + t) (2 + t) / 6 dddr,

with the changes dF of the force and dr of the arm in the last step, and the second and third
differences ddr and dddr of the arm. A constant force at a point on a straight path does work on the
body, although the velocity at the contact is zero at both ends of the step. Between the ends, the
velocity is a parabola. This work is an error of second order in the time step, and has the same
sign as long as the body rolls.

The changes are used only if the contact's rows include the change of its velocity
(hrpsim.engine.constraints.contact_bending). The forces on a body that does not rotate, such as a
box that slides over a seam, are constant. If two bodies with friction touch at several points, only
dr is used (hrpsim.engine.constraints.contact_history). dF also requires that two successive changes
of the force are similar, ddr that two changes of the arm are similar, and dddr that two second
differences are similar. After impacts no change is used.
"""

from hrpsim.engine.compile.compiled import inlined_kernel
from hrpsim.engine.compile.kernel_types import Contact, Index, Scene, Vec3
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.contact_history import begins, goes_on, last_contact
from hrpsim.engine.dynamics.spin import solve_rows_of_three
from hrpsim.engine.spatial.vector import matrix_times, transposed_times
from hrpsim.engine.step.motion.half_turns import turns_freely
from hrpsim.engine.step.motion.rolling_energy import find_rolling
from hrpsim.engine.step.scene.status import DONE

# Largest difference of two successive changes, as a share of the later one.
_SMOOTH = 0.5


@lazy_kernel(feature="stage_turns")
def change_held_forces(s: Scene) -> int:
    """Compute the deviation of contact forces on free bodies at the stages from the mean [Nm, N].

    The kernel writes `change` of s.rk4.held, `push` and `rise` of contacts, and adds the effect of
    the change at the start of the step to work.dv. The kernel also finds the bodies that roll.
    """
    held_forces = s.rk4.held
    for i in range(s.forest.bodies.shape[0]):
        for part in range(3):
            for r in range(6):
                held_forces[i].change[part, r] = 0.0
    for c in range(s.counts[0].contact_count):
        contact, before = s.collision.contacts[c], last_contact(s, c)
        if contact.bend[0] == 0.0 and contact.bend[1] == 0.0 and contact.bend[2] == 0.0:
            continue  # nothing turns at the contact
        _find_push(s, c)
        bends = goes_on(s, c)
        rises = _find_rise(s, contact, before) and bends
        a, b = contact.body_a, contact.body_b
        _find_curve(contact.moved_a, before.moved_a, bends, contact.curve_a)
        _find_curve(contact.moved_b, before.moved_b, bends, contact.curve_b)
        moves_a = contact.moved_a, contact.curve_a, before.curve_a
        moves_b = contact.moved_b, contact.curve_b, before.curve_b
        _add(s, a, contact.point_a, moves_a, contact, 1.0, rises)
        _add(s, b, contact.point_b, moves_b, contact, -1.0, rises)
    for i in range(s.forest.bodies.shape[0]):
        if turns_freely(s.forest, i):
            _change_start(s, i)
    find_rolling(s)
    return DONE


@inlined_kernel
def _find_push(s: Scene, c: int) -> None:
    """Write the force of contact c on its body a [N]."""
    contact, rate = s.collision.contacts[c], 1.0 / s.settings[0].time_step
    rate = rate if contact.body_a >= 0 else -rate
    for r in range(3):
        contact.push[r] = 0.0
    for axis in range(3):
        row = s.rows.rows[3 * c + axis]
        J, force = row.J_a, rate * row.impulse
        for r in range(3):
            contact.push[r] += force * J[3 + r]


@inlined_kernel
def _find_rise(s: Scene, contact: Contact, before: Contact) -> bool:
    """Write the change of a contact's force in the last step.

    Returns:
        Whether the change is similar to the change before, without impacts.
    """
    difference = size = 0.0
    for r in range(3):
        rise = contact.push[r] - before.push[r] if not begins(contact) else 0.0
        contact.rise[r] = rise
        difference += (rise - before.rise[r]) ** 2
        size += rise * rise
    if s.impacts.state[0].had_impacts:
        return False
    return difference < _SMOOTH * _SMOOTH * size


@inlined_kernel
def _find_curve(moved: Vec3, before: Vec3, bends: bool, curve_out: Vec3) -> None:
    """Write the second difference of an arm (3,) [m], or zero if the last two changes differ.

    bends: whether second differences may be used for this contact.
    """
    alike = bends and _are_alike(moved, before)
    for r in range(3):
        curve_out[r] = moved[r] - before[r] if alike else 0.0


@inlined_kernel
def _are_alike(moved: Vec3, before: Vec3) -> bool:
    """Return whether two successive changes of an arm (3,) are similar."""
    difference = size = 0.0
    for r in range(3):
        difference += (moved[r] - before[r]) ** 2
        size += moved[r] ** 2
    return difference < _SMOOTH * _SMOOTH * size


@inlined_kernel
def _add(  # many parameters: one side of a contact
    s: Scene,
    body: int,
    arm: Vec3,
    moves: tuple[Vec3, Vec3, Vec3],
    contact: Contact,
    sign: float,
    rises: bool,
) -> None:
    """Add the changes of a contact's force and of its moment on one body.

    Args:
        s: the scene.
        body: index of the body. -1 is the world.
        arm: position of the contact point, from the origin of the body's tree (3,) [m].
        moves: change of the arm in the last step, second difference of the arm, and the second
            difference in the step before, each (3,) [m].
        contact: CONTACT record. `push` and `rise` are known.
        sign: 1 for the contact's body a, -1 for b.
        rises: whether the force changes over the step.
    """
    if body < 0 or not turns_freely(s.forest, body):
        return
    moved, curve, curve_before = moves
    twists = _are_alike(curve, curve_before)
    push, rise = contact.push, contact.rise
    for part in range(3):
        t = 0.5 * part
        curved = 0.5 * t * (1.0 + t)
        twisted = curved * (2.0 + t) / 3.0 if twists else 0.0
        rise_factor = sign * (t - 0.5) if rises else 0.0
        x = t * moved[0] + curved * curve[0] + twisted * (curve[0] - curve_before[0])
        y = t * moved[1] + curved * curve[1] + twisted * (curve[1] - curve_before[1])
        z = t * moved[2] + curved * curve[2] + twisted * (curve[2] - curve_before[2])
        dx, dy, dz = rise_factor * rise[0], rise_factor * rise[1], rise_factor * rise[2]
        fx, fy, fz = sign * push[0] + dx, sign * push[1] + dy, sign * push[2] + dz
        change = s.rk4.held[body].change[part]
        change[0] += y * fz - z * fy + arm[1] * dz - arm[2] * dy
        change[1] += z * fx - x * fz + arm[2] * dx - arm[0] * dz
        change[2] += x * fy - y * fx + arm[0] * dy - arm[1] * dx
        change[3] += dx
        change[4] += dy
        change[5] += dz


@inlined_kernel
def _change_start(s: Scene, i: Index) -> None:
    """Add the acceleration that the force change on a body causes at the start of the step."""
    body, change, R, dv = s.forest.bodies[i], s.rk4.held[i].change[0], s.kinematics[i].R, s.work.dv
    inertia, k = body.inertia, body.v_index
    x, y, z = transposed_times(R, change[0], change[1], change[2])
    x, y, z = solve_rows_of_three(inertia[0], inertia[1], inertia[2], x, y, z)
    x, y, z = matrix_times(R, x, y, z)
    dv[k], dv[k + 1], dv[k + 2] = dv[k] + x, dv[k + 1] + y, dv[k + 2] + z
    for r in range(3):
        dv[k + 3 + r] += change[3 + r] / body.mass
