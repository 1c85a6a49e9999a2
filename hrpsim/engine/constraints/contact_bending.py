# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Curvature of contact rows: the change of contact velocity as bodies turn and the point moves.

The rows of a contact prescribe J v' with the Jacobian J in mid-step, where the forces act. The
velocity v' belongs to the end of the step, when the bodies have turned and the contact point has
moved over the bodies. For constant generalised velocities, the relative velocity u at the contact
changes by

    du/dt = sum over both sides of +-(a + alpha x r + omega x (v_o + dr/dt)) + n (dn/dt . u),

with the arm r of the point from the origin o of the body's tree, the velocity v_o of the origin,
and the velocity products a, alpha of the body. The target of a row is lowered by this change over
the rest of the step. The row then holds its velocity at the end of the step. The gap of the row
stays constant to second order, like the gap of a constraint in SHAKE (Ryckaert et al. 1977).

dr/dt and dn/dt are differences from the same contact in the last step. The shapes may therefore be
of any kind, and may roll. If the change in the last step was very different, the contact point has
jumped, and the rows are not changed. When a contact begins, or its bodies begin to turn, the point
is assumed to be fixed to the body. Under a round shape, the point is assumed to stay the lowest
point of the shape (round_points). The rows are not changed if a contact begins with an impact,
because the impact changes the motion.

In sliding friction, this change only affects the direction of the force.

Only contacts of turning free bodies need this correction. The velocities of robots' bodies are
joint coordinates, which turn with the bodies.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Contact,
    Kinematics,
    Records,
    Row,
    Scene,
    Seconds,
    Settings,
    Vec3,
    Vector,
)
from hrpsim.engine.constraints.contact_history import (
    ALL,
    NONE,
    NORMAL,
    ROUNDING,
    add_missed,
    begins,
)
from hrpsim.engine.constraints.impact_rows import CLOSED
from hrpsim.engine.constraints.line_contacts import permitted_approach
from hrpsim.engine.constraints.round_points import arm_rate
from hrpsim.engine.constraints.rows import row_velocity
from hrpsim.engine.constraints.solver_table import PENALTY
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.vector import point_velocity
from hrpsim.model.system import FREE

# Turns in a step from which a body counts as turning, and after the rows' place up to which [rad].
# What turns farther meets its contacts elsewhere in each step: no change continues. In an rk4 step
# such a body receives its moments at the start, where the rows hold (step.motion.free_rotation).
_TURNS = 1e-4
_TURNS_FAR = 0.5
# Largest difference of two changes in successive steps, as a share of the later one.
_SMOOTH = 0.5
_EXPLAINS = 2.0  # slip that is not sliding, as a multiple of the change of friction's rows
# Share of a gap which counts as closed that a step closes or opens: the residue of a tilt dies out.
CLOSES = 0.2


@inner_kernel
def bend_contact_rows(s: Scene) -> None:
    """Lower the targets of contact rows by the change of contact velocity to the end of the step.

    The rows are linearised in mid-step, where the forces act.
    """
    rows, contacts, change = s.rows.rows, s.collision.contacts, s.work.directions[0]
    bend_time = s.settings[0].time_step - s.settings[0].drift
    for c in range(s.counts[0].contact_count):
        contact, normal = contacts[c], rows[3 * c]
        contact.bends, contact.closes = NONE, 0
        for r in range(3):
            change[r] = contact.bend[r] = 0.0
        if normal.solver != PENALTY and (
            _turns(s.settings[0], s.forest, s.kinematics, contact.body_a, bend_time)
            or _turns(s.settings[0], s.forest, s.kinematics, contact.body_b, bend_time)
        ):
            _bend(s, c, bend_time, change)


@inlined_kernel
def _bend(s: Scene, c: int, bend_time: Seconds, change: Vec3) -> None:
    """Lower the targets of the rows of contact c. `change` (3,) is work, and must be zero."""
    rows, time_step = s.rows.rows, s.settings[0].time_step
    contact, normal = s.collision.contacts[c], rows[3 * c]
    if abs(contact.gap) <= CLOSED:
        contact.closes = 1
        normal.target -= CLOSES * contact.gap / time_step
    if begins(contact):
        a, b = contact.shape_a, contact.shape_b
        _expect_move(s, contact, contact.body_a, a, 1.0, contact.point_a, contact.moved_a)
        _expect_move(s, contact, contact.body_b, b, -1.0, contact.point_b, contact.moved_b)
        for r in range(3):
            contact.turned[r] = 0.0
    _add_side(s, contact.body_a, contact.point_a, contact.moved_a, 1.0, change)
    _add_side(s, contact.body_b, contact.point_b, contact.moved_b, -1.0, change)
    _add_turn_of_normal(s.kinematics, contact, change)
    for r in range(3):
        contact.bend[r] = bend_time / time_step * change[r]
    contact.asked = normal.target
    if s.settings[0].staged:
        add_missed(s, c)
        normal.target -= permitted_approach(s, c, bend_along(contact, normal))
    if _is_smooth(s.settings[0], s.constrained, contact, normal):
        contact.bends = NORMAL
        normal.target -= bend_along(contact, normal)
        x, y = rows[3 * c + 1], rows[3 * c + 2]
        if _sticks(
            s.settings[0], s.constrained, contact, x, y, (time_step - bend_time) / bend_time
        ):
            contact.bends = ALL
            for row in (x, y):
                row.target -= bend_along(contact, row)


@inlined_kernel
def _is_smooth(
    settings: Settings, constrained: ConstraintBodies, contact: Contact, normal: Row
) -> bool:
    """Return whether the velocity change of a contact is large enough and reliable.

    The change must exceed rounding, and must be similar to the change in the last step. For a
    contact that begins, the result is True unless an impact changes the motion.
    """
    difference = size = 0.0
    for r in range(3):
        apart = contact.bend[r] - contact.bend_before[r]
        difference += apart * apart
        size += contact.bend[r] * contact.bend[r]
    if size < ROUNDING * ROUNDING:
        return False
    if begins(contact):
        approach = abs(row_velocity(normal, constrained.velocity))
        return approach < settings.slip_threshold + _EXPLAINS * math.sqrt(size)
    return difference <= _SMOOTH * _SMOOTH * size


@inlined_kernel
def _sticks(
    settings: Settings,
    constrained: ConstraintBodies,
    contact: Contact,
    x: Row,
    y: Row,
    share: float,
) -> bool:
    """Return whether a contact did not slip at the start of the step, apart from its curvature.

    share: velocity change before mid-step, divided by the change after mid-step.
    """
    velocity, bend_x, bend_y = (
        constrained.velocity,
        bend_along(contact, x),
        bend_along(contact, y),
    )
    slip_x = row_velocity(x, velocity) - share * bend_x
    slip_y = row_velocity(y, velocity) - share * bend_y
    bound = settings.slip_threshold + _EXPLAINS * math.hypot(bend_x, bend_y)
    return math.hypot(slip_x, slip_y) < bound


@inlined_kernel
def bend_along(contact: Contact, row: Row) -> float:
    """Return the change of a contact's velocity along a row until the end of the step [m/s]."""
    J, sign = row.J_a, 1.0 if contact.body_a >= 0 else -1.0
    return sign * (J[3] * contact.bend[0] + J[4] * contact.bend[1] + J[5] * contact.bend[2])


@inlined_kernel
def unbent_target(contact: Contact, normal: Row, time_step: float) -> float:
    """Return the target of a contact's normal row without the curvature term [m/s].

    Args:
        contact: CONTACT record.
        normal: ROW record of the contact's normal.
        time_step: [s].
    """
    target = normal.target
    if contact.bends != NONE:
        target += bend_along(contact, normal)
    if contact.closes:
        target += CLOSES * contact.gap / time_step
    return target


@inlined_kernel
def _turns(
    settings: Settings, forest: Forest, kinematics: Records[Kinematics], body: int, bend_time: float
) -> bool:
    """Return whether a body is alone in its tree and turns, but not far within `bend_time` [s]."""
    if body < 0:
        return False
    record, v = forest.bodies[body], kinematics[body].v
    if record.joint_type != FREE or not forest.dofs[record.v_index].turns_freely:
        return False
    rate, step = v[0] * v[0] + v[1] * v[1] + v[2] * v[2], settings.time_step
    turns = _TURNS * _TURNS < step * step * rate
    return turns and bend_time * bend_time * rate < _TURNS_FAR * _TURNS_FAR


@inlined_kernel
def _expect_move(
    s: Scene, contact: Contact, body: int, shape: int, sign: float, arm: Vec3, moved_out: Vec3
) -> None:
    """Write the expected change of a new contact's arm in a step (3,) [m]."""
    for r in range(3):
        moved_out[r] = 0.0
    if body < 0:
        return
    link, geometry, dt = s.kinematics[body], s.collision.shapes[shape], s.settings[0].time_step
    x, y, z = point_velocity(link.v, arm[0], arm[1], arm[2])
    ox, oy, oz = _origin_velocity(s.forest, s.kinematics, body)
    px, py, pz = arm_rate(geometry, link, arm, contact.normal, sign)
    x, y, z = x - ox + px, y - oy + py, z - oz + pz
    moved_out[0], moved_out[1], moved_out[2] = dt * x, dt * y, dt * z


@inlined_kernel
def _add_side(s: Scene, body: int, arm: Vec3, moved: Vec3, sign: float, change_out: Vector) -> None:
    """Add the velocity change over a step of one body at the contact, times `sign` [m/s].

    Args:
        s: the scene.
        body: index of the body, negative for the world.
        arm: position of the contact point from the tree's origin (3,) [m].
        moved: change of `arm` in a step (3,) [m].
        sign: 1 for body a, -1 for body b.
        change_out: sum of the velocity changes (3,) [m/s], changed.
    """
    if body < 0:
        return
    dt, w = sign * s.settings[0].time_step, s.kinematics[body].v
    i = body
    while i >= 0:
        c = s.kinematics[i].c
        ax, ay, az = point_velocity(c, arm[0], arm[1], arm[2])
        if s.forest.bodies[i].joint_type == FREE:
            u = s.kinematics[i].v
            ax -= u[1] * u[5] - u[2] * u[4]
            ay -= u[2] * u[3] - u[0] * u[5]
            az -= u[0] * u[4] - u[1] * u[3]
        change_out[0] += dt * ax
        change_out[1] += dt * ay
        change_out[2] += dt * az
        i = s.forest.bodies[i].parent
    x, y, z = _origin_velocity(s.forest, s.kinematics, body)
    x, y, z = sign * moved[0] + dt * x, sign * moved[1] + dt * y, sign * moved[2] + dt * z
    change_out[0] += w[1] * z - w[2] * y
    change_out[1] += w[2] * x - w[0] * z
    change_out[2] += w[0] * y - w[1] * x


@inlined_kernel
def _origin_velocity(
    forest: Forest, kinematics: Records[Kinematics], body: int
) -> tuple[float, float, float]:
    """Return the velocity of the origin of a body's tree [m/s]."""
    root = forest.bodies[body].root
    if forest.bodies[root].joint_type != FREE:
        return 0.0, 0.0, 0.0
    v = kinematics[root].v
    return v[3], v[4], v[5]


@inlined_kernel
def _add_turn_of_normal(
    kinematics: Records[Kinematics], contact: Contact, change_out: Vector
) -> None:
    """Add the normal component that the rotation of the normal causes, n (dn/dt . u)."""
    total = 0.0
    for side in range(2):
        body, arm, sign = contact.body_a, contact.point_a, 1.0
        if side == 1:
            body, arm, sign = contact.body_b, contact.point_b, -1.0
        if body >= 0:
            x, y, z = point_velocity(kinematics[body].v, arm[0], arm[1], arm[2])
            turn = contact.turned
            total += sign * (turn[0] * x + turn[1] * y + turn[2] * z)
    for r in range(3):
        change_out[r] += total * contact.normal[r]
