# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Constraint rows of connections, which lock or drive relative motions of two frames.

Frame a is fixed in body a (or the world), frame b in body b. x_a and x_b are the origins of both
frames. The error g of a linear row is the distance of the origins along an axis e of a: g = e .
(x_a - x_b). Both bodies are pushed at the point x_b, so the total angular momentum does not change.
An angular row constrains an axis u of a to be perpendicular to an axis w of b: g = u . w. The rate
of g is (omega_a - omega_b) . (u x w).
"""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Connection,
    Index,
    Kinematics,
    Metres,
    PlacedConnection,
    Records,
    Row,
    Scene,
    Seconds,
    Settings,
    Vec3,
)
from hrpsim.engine.constraints.placed_connection import place_moving_frames
from hrpsim.engine.constraints.rows import (
    CONNECTION,
    DRIVE,
    Rows,
    attach_pair,
    coupling,
    least_inverse_mass,
    row_velocity,
    soften,
    start_row,
    wanted_correction,
)
from hrpsim.engine.constraints.solver_table import DIRECT, ITERATIVE, choose_solver
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.vector import dot, triple_product

# How much faster than penetration the error of a rigid connection may be corrected.
HASTE = 10.0

# Turn of a row's arm or axis between the middle of a step and its end [rad] from which on the error
# of a rigid connection is corrected like penetration. Fed back to velocities it would add energy.
_TURNS_FAR = 0.05

# Fraction of a response that is an effect of position errors: the square of _ERRORS errors, within
# bounds.
_ERRORS, SHARP, _BLURRED = 30.0, 1e-8, 1e-5

LOCKED, DRIVEN = 1, 2  # what an axis of a connection is, besides 0: free

CONNECTION_RECORD = np.dtype(
    [
        ("body_a", "i8"),  # -1: the world
        ("body_b", "i8"),
        ("R_a", "f8", (3, 3)),  # frame a in body a
        ("p_a", "f8", (3,)),  # [m]
        ("R_b", "f8", (3, 3)),
        ("p_b", "f8", (3,)),
        ("enabled", "i8"),
        ("axes", "i8", (6,)),  # axes of frame a, linear first; 0: free, LOCKED or DRIVEN
        ("length", "f8"),  # > 0: the first axis is the line between the points, this long [m]
        ("compliance", "f8", (6,)),  # [m/N or rad/Nm]
        ("damping_time", "f8", (6,)),  # [s]
        ("force_limit", "f8", (6,)),  # [N or Nm]
        ("speed", "f8", (6,)),  # target velocity of b relative to a on driven axes [m/s or rad/s]
        ("solver", "i8"),
        ("row", "i8", (6,)),  # row of each axis in the step; -1: none
        ("impulse", "f8", (6,)),  # impulse on body a in the last step [Ns or Nms]
        ("along", "f8", (6, 3)),  # world directions of force and moment on body a
        ("impact_impulse", "f8", (6,)),  # impulse of impacts on body a [Ns or Nms]
        (
            "impact_impulse_before",
            "f8",
            (6,),
        ),  # `impact_impulse` of the last step, if it had impacts
        ("error", "f8", (6,)),  # position error g of locked axes in the step [m or rad]
    ]
)


@inner_kernel
def number_connection_rows(
    connections: Records[Connection], first: Index, constrained_out: ConstraintBodies
) -> int:
    """Number the connections' rows from `first` on, and return the next free number.

    The kernel writes `row` of every connection, and marks the bodies that connections push.
    """
    number = first
    for c in range(connections.shape[0]):
        connection = connections[c]
        for axis in range(6):
            connection.row[axis] = -1
            if connection.enabled and connection.axes[axis]:
                connection.row[axis] = number
                number += 1
        if connection.enabled and connection.body_a >= 0:
            constrained_out.marked[connection.body_a] = 1
        if connection.enabled and connection.body_b >= 0:
            constrained_out.marked[connection.body_b] = 1
    return number


@inner_kernel
def connection_response_space(
    forest: Forest, connections: Records[Connection], constrained: ConstraintBodies
) -> int:
    """Return the number of entries of `response` that the connections' rows need."""
    needed = 0
    for c in range(connections.shape[0]):
        connection = connections[c]
        if not connection.enabled:
            continue
        a, b = connection.body_a, connection.body_b
        width = 0
        if a >= 0:
            width += constrained.supports[forest.bodies[a].root].tree_width
        if b >= 0 and (a < 0 or forest.bodies[a].root != forest.bodies[b].root):
            width += constrained.supports[forest.bodies[b].root].tree_width
        needed += 6 * width
    return needed


@inner_kernel
def write_connection_rows(s: Scene, used: int) -> int:
    """Write the connections' rows, and return the number of entries of `response` used so far.

    constrained.velocity must be the velocity at the start of the step. The kernel also writes
    `error` of locked axes [m or rad].

    Args:
        s: the scene.
        used: number of entries of `response` used before.
    """
    rows, response, settings = s.rows.rows, s.rows.response, s.settings[0]
    forest, constrained, placed = s.forest, s.constrained, s.work.placed_connection[0]
    for c in range(s.connections.shape[0]):
        connection = s.connections[c]
        if not connection.enabled:
            continue
        place_moving_frames(forest, s.kinematics, connection, placed)
        for axis in range(6):
            if connection.row[axis] < 0:
                continue
            row = rows[connection.row[axis]]
            start_row(row, used)
            error = find_direction(connection, axis, placed)
            used = attach_pair(
                forest, constrained, connection, placed, axis >= 3, row, response, used
            )
            row.inverse_mass = coupling(row, row, response)
            if row.inverse_mass <= least_inverse_mass(row, constrained):
                row.inverse_mass = 0.0
            row.kind, row.source = CONNECTION, c
            choose_solver(row, connection.solver)
            row.impulse = connection.impulse[axis]
            row.upper = connection.force_limit[axis] * settings.time_step
            row.lower = -row.upper
            if connection.axes[axis] == LOCKED:
                connection.error[axis] = error
                _ask_locked(connection, axis, placed, constrained, settings, row)
            else:
                row.kind = DRIVE
                row.target = -connection.speed[axis]
    return used


@inlined_kernel
def _ask_locked(
    connection: Connection,
    axis: int,
    placed: PlacedConnection,
    constrained: ConstraintBodies,
    settings: Settings,
    row: Row,
) -> None:
    """Write the target velocity of a locked axis's row, whose error is connection.error.

    For rigid connections, the position correction removes the error in two cases. The first case is
    an iterative solver. The second case is a row whose arm turns far in a step, if positions are
    not projected. In both cases, feedback of the error to the velocity would make the error grow.
    All other errors are fed back to the velocity.

    The row is linearised at the position where the forces of the step act. The curvature of the
    error up to this position is not corrected, because the other half of the step cancels it.
    """
    time_step = settings.time_step
    bend_time = time_step - settings.drift
    error, bending = connection.error[axis], bending_of(connection, axis, placed)
    if axis >= 3:
        error, bending = _within_a_radian(error, bending, placed.direction)
    error -= 0.5 * (time_step - bend_time) ** 2 * bending
    rate = row_velocity(row, constrained.velocity) - (time_step - bend_time) * bending
    bend = bend_time * bending
    compliance, damping_time = connection.compliance[axis], connection.damping_time[axis]
    if compliance == 0.0 and connection.solver == ITERATIVE:
        row.target = -bend
        row.correction_velocity = wanted_correction(error, time_step, settings)
    else:
        if compliance == 0.0:
            if settings.projection == 0 and _turns_far(axis, placed, bend_time):
                row.correction_velocity = wanted_correction(error, time_step, settings)
                error = 0.0
            error = _within_reach(error, damping_time, time_step, settings)
        error += settings.lead * rate
        soften(row, error, rate, bend, compliance, damping_time, time_step)


@inner_kernel
def write_stage_rows(
    forest: Forest,
    kinematics: Records[Kinematics],
    decay: float,
    connections: Records[Connection],
    placed: PlacedConnection,
    constrained: ConstraintBodies,
    rows_out: Rows,
) -> None:
    """Set the targets of rigid rows of the direct solver to accelerations at a stage of rk4.

    constrained.velocity must be the velocity of the stage. The numbers of the rows and their
    entries in `response` do not change.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        decay: k [1/s]. At the first stage, k > 0 makes errors decay as (1 + k t) exp(-k t). At the
            other stages, 0 reuses the feedback of the first stage, because errors of a stage are
            errors of the integration method.
        connections: CONNECTION_RECORD records.
        placed: work.
        constrained: constraint bodies of the step.
        rows_out: rows and responses. `target` is an acceleration [m/s^2 or rad/s^2].
    """
    rows, response = rows_out.rows, rows_out.response
    for c in range(connections.shape[0]):
        connection = connections[c]
        if not connection.enabled:
            continue
        place_moving_frames(forest, kinematics, connection, placed)
        for axis in range(6):
            if connection.row[axis] < 0:
                continue
            row = rows[connection.row[axis]]
            if row.solver != DIRECT or not is_rigid(row):
                continue
            error = find_direction(connection, axis, placed)
            start_row(row, row.response_at)
            used = row.response_at
            attach_pair(forest, constrained, connection, placed, axis >= 3, row, response, used)
            row.inverse_mass = coupling(row, row, response)
            row.solver = DIRECT
            if decay > 0.0:
                rate = row_velocity(row, constrained.velocity)
                row.feedback = -decay * (2.0 * rate + decay * error)
            row.target = row.feedback - bending_of(connection, axis, placed)


@inlined_kernel
def _arm_of(connection: Connection) -> Metres:
    """Return the largest coordinate of a connection's frame in a body [m]."""
    arm = 0.0
    for r in range(3):
        of_a = abs(connection.p_a[r]) if connection.body_a >= 0 else 0.0
        arm = max(arm, of_a, abs(connection.p_b[r]) if connection.body_b >= 0 else 0.0)
    return arm


@inner_kernel
def blur_of(connections: Records[Connection]) -> float:
    """Return the relative pivot below which a row counts as linearly dependent on other rows.

    If a closed loop has no position error, some of its rows are linearly dependent. With a relative
    position error e, a fraction of about e^2 of their responses seems independent.
    """
    error = 0.0
    for c in range(connections.shape[0]):
        connection = connections[c]
        if not connection.enabled:
            continue
        arm = _arm_of(connection)
        for axis in range(6):
            if connection.axes[axis] == LOCKED and connection.compliance[axis] == 0.0:
                size = abs(connection.error[axis])
                error = max(error, size if axis >= 3 or arm == 0.0 else size / arm)
    return min(max((_ERRORS * error) ** 2, SHARP), _BLURRED)


@inlined_kernel
def is_rigid(row: Row) -> bool:
    """Return whether a row of a connection has neither compliance nor a force limit."""
    unlimited = math.isinf(row.upper) and row.inverse_mass > 0.0
    return row.kind == CONNECTION and row.compliance == 0.0 and unlimited


@inner_kernel
def find_direction(connection: Connection, axis: int, placed: PlacedConnection) -> float:
    """Write the direction of a row's force or moment on body a, and return the error g [m or rad].

    The kernel writes placed.direction. Angular rows set placed.u and placed.w as well.

    Args:
        connection: CONNECTION_RECORD record.
        axis: 0 to 2 for the linear axes of frame a, 3 to 5 for the angular axes.
        placed: placed frames of the connection.
    """
    direction, apart = placed.direction, placed.apart
    error = 0.0
    if axis < 3:
        for r in range(3):
            direction[r] = placed.axes_a[r, axis]
        if connection.length > 0.0:
            distance = math.sqrt(apart[0] ** 2 + apart[1] ** 2 + apart[2] ** 2)
            if distance > 1e-9 * connection.length:
                for r in range(3):
                    direction[r] = apart[r] / distance
            return distance - connection.length
        for r in range(3):
            error += direction[r] * apart[r]
        return error
    of_a, of_b = _square_axes(connection, axis - 3)
    u, w = placed.u, placed.w
    for r in range(3):
        u[r], w[r] = placed.axes_a[r, of_a], placed.axes_b[r, of_b]
        error += u[r] * w[r]
    if connection.axes[axis] == DRIVEN:
        for r in range(3):
            direction[r] = placed.axes_a[r, axis - 3]
        return 0.0
    direction[0] = u[1] * w[2] - u[2] * w[1]
    direction[1] = u[2] * w[0] - u[0] * w[2]
    direction[2] = u[0] * w[1] - u[1] * w[0]
    return error


@inlined_kernel
def _square_axes(connection: Connection, about: int) -> tuple[int, int]:
    """Return (axis of a, axis of b), each 0..2, that the row about `about` keeps perpendicular.

    If only one axis is free, both rows keep this axis of b perpendicular to axes of a. The rows are
    then regular at any rotation about the free axis.
    """
    free, count = 0, 0
    for k in range(3):
        if connection.axes[3 + k] != LOCKED:
            free = k
            count += 1
    if count == 1 and free != about:
        return 3 - about - free, free
    return (about + 1) % 3, (about + 2) % 3


@inlined_kernel
def _turns_far(axis: int, placed: PlacedConnection, time: Seconds) -> bool:
    """Return whether a body's rotation turns the arm or axis of a row far within a time [s].

    A linear row has arms. An angular row has the axes u and w. Spin about an arm or axis itself
    does not count.
    """
    if axis < 3:
        a, b = placed.arm_a, placed.point_b
    else:
        a, b = placed.u, placed.w
    return _turns_axis_far(placed.omega_a, a, time) or _turns_axis_far(placed.omega_b, b, time)


@inlined_kernel
def _turns_axis_far(omega: Vec3, axis: Vec3, time: Seconds) -> bool:
    """Return whether a vector with angular velocity `omega` turns far within a time [s]."""
    along, size = dot(omega, axis), dot(axis, axis)
    across = dot(omega, omega) * size - along * along
    return across * time * time > _TURNS_FAR * _TURNS_FAR * size


@inlined_kernel
def _within_a_radian(error: float, bending: float, direction: Vec3) -> tuple[float, float]:
    """Limit the error g of an angular row to the error that a rotation by 1 rad corrects.

    If u and w are nearly parallel, |dg/d(angle)| = |u x w| goes to 0, and no rotation corrects g.
    If the limit acts, the second derivative `bending` has no meaning and becomes 0.
    """
    most = math.sqrt(dot(direction, direction))
    if abs(error) <= most:
        return error, bending
    return (most if error > 0.0 else -most), 0.0


@inlined_kernel
def _within_reach(
    error: float, damping_time: Seconds, time_step: Seconds, settings: Settings
) -> float:
    """Limit a rigid row's error to the error that the correction speed can remove in a step."""
    most = HASTE * settings.correction_speed * (0.25 * time_step + damping_time)
    return min(max(error, -most), most)


@inlined_kernel
def bending_of(connection: Connection, axis: int, placed: PlacedConnection) -> float:
    """Return d2g/dt2 of a row's error g at constant velocities [m/s^2 or rad/s^2].

    Call `find_direction` for the same axis before.
    """
    omega_a, alpha_a = placed.omega_a, placed.alpha_a
    if axis < 3:
        d, leaving, apart = placed.direction, placed.leaving, placed.apart
        total = dot(d, placed.bending)
        if connection.length > 0.0:
            along = dot(d, leaving)
            distance = max(dot(d, apart), 1e-9 * connection.length)
            return total + (dot(leaving, leaving) - along * along) / distance
        total += _turned_twice(omega_a, alpha_a, d, apart)
        return total + 2.0 * triple_product(omega_a, d, leaving)
    u, w, omega_b = placed.u, placed.w, placed.omega_b
    total = _turned_twice(omega_a, alpha_a, u, w) + _turned_twice(omega_b, placed.alpha_b, w, u)
    both = dot(omega_a, omega_b) * dot(u, w) - dot(omega_a, w) * dot(omega_b, u)
    return total + 2.0 * both


@inlined_kernel
def _turned_twice(omega: Vec3, alpha: Vec3, e: Vec3, x: Vec3) -> float:
    """Return x . d2e/dt2 for an axis e with angular velocity `omega` and acceleration `alpha`."""
    turned = dot(omega, x) * dot(omega, e) - dot(omega, omega) * dot(e, x)
    return turned + triple_product(alpha, e, x)


@inner_kernel
def remember_connection_impulses(rows: Records[Row], connections_out: Records[Connection]) -> None:
    """Store the impulses of the connections' rows for the next step's warm start and for users.

    The kernel writes `impulse` [Ns or Nms] and `along`, the row's direction in the world.
    """
    for c in range(connections_out.shape[0]):
        connection = connections_out[c]
        for axis in range(6):
            connection.impulse[axis] = 0.0
            if connection.row[axis] >= 0:
                row, first = rows[connection.row[axis]], 3 if axis < 3 else 0
                sign = 1.0 if connection.body_a >= 0 else -1.0
                connection.impulse[axis] = row.impulse
                for r in range(3):
                    connection.along[axis, r] = sign * row.J_a[first + r]


@inlined_kernel
def axis_of_row(connection: Connection, number: Index) -> int:
    """Return the axis of a connection, 0 to 5, that a row of this step constrains."""
    for axis in range(6):
        if connection.row[axis] == number:
            return axis
    return 0
