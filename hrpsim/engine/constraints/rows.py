# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Constraint rows: direction of an impulse on one or two bodies, target and bounds."""

from typing import NamedTuple

import numpy as np

from hrpsim.common.errors import WorldError
from hrpsim.engine.compile.compiled import inlined_kernel
from hrpsim.engine.compile.fields import Axis, array
from hrpsim.engine.compile.kernel_types import (
    Connection,
    ConstraintBody,
    Index,
    PlacedConnection,
    Row,
    Seconds,
    Settings,
    Support,
    Vec3,
    Vec6,
    Vector,
)
from hrpsim.engine.constraints.compliant_law import held_law, stop_law
from hrpsim.engine.constraints.impact_rows import IMPACT
from hrpsim.engine.constraints.solver_table import AUTO, choose_solver
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.simd import LANES, broadcast, load, plus, plus_times, store, times

DAMPING_STEPS = 2.0  # default damping time, in time steps
CONTACT_ROW, LOWER_LIMIT, UPPER_LIMIT, JOINT_FRICTION, MIMIC, LOCK, MOTOR = range(7)
VELOCITY_LIMIT, CONNECTION, DRIVE, TENDON = range(MOTOR + 1, MOTOR + 5)
# Of contacts: against spin, against rolling along one axis, one of two successive rows at rest.
SPIN, ROLLING, AT_REST = range(TENDON + 1, TENDON + 4)
# What rows are solved for: velocities, or the displacement rates of a position correction.
VELOCITY, DISPLACEMENT = range(2)
# Share of the largest inverse mass at a constraint body below which one is rounding.
_ROUNDING = 1e-13


def refuse_undamped(compliance: np.ndarray, damping_time: np.ndarray, time_step: float) -> None:
    """Raise WorldError for a rigid constraint whose damping time is less than one time step.

    The constraint would oscillate. A damping time below zero selects another damping law.

    Args:
        compliance: compliance of each constraint [m/N or rad/Nm]. 0: rigid.
        damping_time: damping time of each constraint [s].
        time_step: [s].

    Raises:
        WorldError: The damping time of a rigid constraint is too short.
    """
    rings = (compliance == 0.0) & (damping_time >= 0.0) & (damping_time < (1 - 1e-9) * time_step)
    if rings.any():
        raise WorldError(
            f"damping_time {damping_time[rings].min():g} s is too short for a compliance of 0. "
            f"It must be at least one time step, {time_step:g} s"
        )


ROW = np.dtype(
    [
        ("constrained_a", "i8"),
        ("constrained_b", "i8"),  # -1 for none
        ("at_a", "i8"),  # first column of the first constraint body
        ("at_b", "i8"),  # -1 for none
        ("start_a", "i8"),  # first column of the tree of the first constraint body
        ("width_a", "i8"),
        ("start_b", "i8"),  # first column of the second tree; width 0: same tree or none
        ("width_b", "i8"),
        ("response_at", "i8"),  # start of the row in `Rows.response`
        ("J_a", "f8", (6,)),  # Jacobian of the first body; zero-padded for a degree of freedom
        ("J_b", "f8", (6,)),
        ("compliance", "f8"),  # velocity of the soft constraint for a unit impulse
        ("inverse_mass", "f8"),  # J (response) + compliance [1/kg or 1/(kg m^2)]
        ("mass", "f8"),  # at a contact: 1 / inverse_mass, 0 where nothing moves
        ("cross", "f8"),  # at a contact: velocity of the next of its rows for a unit impulse
        # velocity, displacement rate, or acceleration at the stages of rk4 [m/s, rad/s; m/s^2, ...]
        ("target", "f8"),
        ("feedback", "f8"),  # at a rigid connection in rk4: acceleration that corrects its error
        ("correction_velocity", "f8"),  # target displacement rate of the position correction
        ("lower", "f8"),  # lower bound of the impulse [Ns or Nms]
        ("upper", "f8"),  # upper bound of the impulse [Ns or Nms]
        ("impulse", "f8"),
        ("saved_impulse", "f8"),  # start impulse, impulse of the last sweep, or of the motion
        ("kept_target", "f8"),  # of the motion while positions are corrected, as the next two
        ("kept_lower", "f8"),
        ("kept_upper", "f8"),
        ("bilateral", "i8"),  # at a contact: whether the position correction holds it both ways
        ("friction", "f8"),  # coefficient of friction, at normal, spin and rolling rows
        ("friction_model", "i8"),  # at a normal row: friction law (friction_laws)
        ("solver", "i8"),  # solver of the row (solver_table)
        ("choice", "i8"),  # solver that the user chose
        ("kind", "i8"),
        ("island", "i8"),  # work of the search for islands
        ("source", "i8"),  # index of the contact, degree of freedom, connection or tendon
    ]
)


class Rows(NamedTuple):
    """Rows of one step: three for each contact (normal, two tangents), then connections, joints."""

    rows: np.ndarray = array("target, bounds and impulse of each constraint", ROW, Axis.ROW)
    response: np.ndarray = array(
        "velocity response of trees to a unit impulse on each row", "f8", Axis.RESPONSE
    )
    descent: np.ndarray = array("work of the descent solvers", "f8", 2, Axis.ROW)
    island_rows: np.ndarray = array(
        "normal rows of contacts and other rows, island by island", "i8", Axis.ROW
    )
    impacts: np.ndarray = array("gaps of one-sided rows within the step", IMPACT, Axis.ROW)
    chosen: np.ndarray = array("`island_rows` of a round of impacts", "i8", Axis.ROW)


@inlined_kernel
def is_one_sided(row: Row) -> bool:
    """Return whether a row prevents a gap from closing. At a contact this is the normal row."""
    return row.kind == CONTACT_ROW or row.kind == LOWER_LIMIT or row.kind == UPPER_LIMIT


@inlined_kernel
def is_of_contact(row: Row) -> bool:
    """Return whether the source of a row is a contact."""
    return row.kind == CONTACT_ROW or row.kind > TENDON


@inlined_kernel
def takes_time(row: Row) -> bool:
    """Return whether a row is a force of limited size, whose impulse in an impact is zero."""
    return row.kind == JOINT_FRICTION or row.kind == VELOCITY_LIMIT or row.kind >= TENDON


@inlined_kernel
def row_velocity(row: Row, velocity: Vector) -> float:
    """Return the velocity J v along a row [m/s or rad/s].

    Args:
        row: ROW record.
        velocity: velocity of the constraint bodies (columns,) [rad/s, m/s].
    """
    J, at = row.J_a, row.at_a
    x = J[0] * velocity[at] + J[1] * velocity[at + 1]
    y = J[2] * velocity[at + 2] + J[3] * velocity[at + 3]
    z = J[4] * velocity[at + 4] + J[5] * velocity[at + 5]
    at = row.at_b
    if at >= 0:
        J = row.J_b
        x += J[0] * velocity[at] + J[1] * velocity[at + 1]
        y += J[2] * velocity[at + 2] + J[3] * velocity[at + 3]
        z += J[4] * velocity[at + 4] + J[5] * velocity[at + 5]
    return (x + y) + z


@inlined_kernel
def start_row(row: Row, used: int) -> None:
    """Clear a row, and let its response start at the entry `used` of `response`."""
    row.constrained_b = row.at_b = -1
    row.width_a = row.width_b = 0
    row.response_at = used
    row.correction_velocity = row.target = row.compliance = 0.0
    row.bilateral = 0
    choose_solver(row, AUTO)


@inlined_kernel
def attach_constraint_body(
    forest: Forest,
    constrained: ConstraintBodies,
    constraint_body: Index,
    row: Row,
    response: Vector,
    used: int,
) -> int:
    """Let a row act on a constraint body by its Jacobian J_a, and write the row's response.

    Args:
        forest: constants of the bodies and joints.
        constrained: constraint bodies of the step.
        constraint_body: index of the constraint body.
        row: ROW record.
        response: responses of all rows (entries,), changed.
        used: number of entries of `response` used before.

    Returns:
        The number of entries of `response` used so far.
    """
    record = constrained.bodies[constraint_body]
    tree = constrained.supports[forest.bodies[record.body].root]
    row.constrained_a, row.at_a = constraint_body, record.offset
    row.start_a, row.width_a = tree.tree_start, tree.tree_width
    return _write_response(record, tree, row.J_a, constrained.inverse_inertia, response, used)


@inlined_kernel
def attach_second_constraint_body(
    forest: Forest,
    constrained: ConstraintBodies,
    constraint_body: Index,
    row: Row,
    response: Vector,
    used: int,
) -> int:
    """Let a row act on a second body by its Jacobian J_b, and complete the row's response.

    Args:
        forest: constants of the bodies and joints.
        constrained: constraint bodies of the step.
        constraint_body: index of the constraint body.
        row: ROW record.
        response: responses of all rows (entries,), changed.
        used: number of entries of `response` used before.

    Returns:
        The number of entries of `response` used so far.
    """
    record = constrained.bodies[constraint_body]
    tree = constrained.supports[forest.bodies[record.body].root]
    row.constrained_b, row.at_b = constraint_body, record.offset
    if tree.tree_start == row.start_a:
        _add_response(record, tree, row.J_b, constrained.inverse_inertia, response, row.response_at)
        return used
    row.start_b, row.width_b = tree.tree_start, tree.tree_width
    return _write_response(record, tree, row.J_b, constrained.inverse_inertia, response, used)


@inlined_kernel
def attach_pair(
    forest: Forest,
    constrained: ConstraintBodies,
    pair: Connection,
    placed: PlacedConnection,
    turns: bool,
    row: Row,
    response: Vector,
    used: int,
) -> int:
    """Set up a row that pushes body a of a pair along placed.direction, and body b in reverse.

    The points are placed.point_a and placed.point_b.

    Args:
        forest: constants of the bodies and joints.
        constrained: constraint bodies of the step.
        pair: record with both bodies.
        placed: record of the placed frames.
        turns: whether the row turns the bodies about placed.direction instead of pushing along it.
        row: ROW record.
        response: responses of all rows (entries,), changed.
        used: number of entries of `response` used before.

    Returns:
        The number of entries of `response` used so far.
    """
    a, b, direction = pair.body_a, pair.body_b, placed.direction
    if a >= 0:
        write_force(placed.point_a, direction, 1.0, turns, row.J_a)
        used = attach_constraint_body(
            forest, constrained, constrained.supports[a].constraint_body, row, response, used
        )
        if b >= 0:
            write_force(placed.point_b, direction, -1.0, turns, row.J_b)
            used = attach_second_constraint_body(
                forest, constrained, constrained.supports[b].constraint_body, row, response, used
            )
    else:
        write_force(placed.point_b, direction, -1.0, turns, row.J_a)
        used = attach_constraint_body(
            forest, constrained, constrained.supports[b].constraint_body, row, response, used
        )
    return used


@inlined_kernel
def write_force(point: Vec3, d: Vec3, sign: float, turns: bool, J_out: Vec6) -> None:
    """Write the spatial force of a unit force through a point, or of a unit moment, times `sign`.

    Args:
        point: position from the tree's origin (3,) [m].
        d: unit vector of the force or moment (3,).
        sign: 1 or -1.
        turns: whether a moment is written instead of a force.
        J_out: moment, then force (6,), written.
    """
    if turns:
        for r in range(3):
            J_out[r] = sign * d[r]
            J_out[3 + r] = 0.0
        return
    J_out[0] = sign * (point[1] * d[2] - point[2] * d[1])
    J_out[1] = sign * (point[2] * d[0] - point[0] * d[2])
    J_out[2] = sign * (point[0] * d[1] - point[1] * d[0])
    for r in range(3):
        J_out[3 + r] = sign * d[r]


@inlined_kernel
def _write_response(
    constraint_body: ConstraintBody,
    tree: Support,
    J: Vec6,
    block: Vector,
    response: Vector,
    used: int,
) -> int:
    """Write the response of a tree to the force J on `constraint_body`.

    Returns:
        The index after the last entry of `response`.
    """
    for k in range(0, tree.tree_width, LANES):
        store(response, used + k, broadcast(0.0))
    _add_response(constraint_body, tree, J, block, response, used)
    return used + tree.tree_width


@inlined_kernel
def _add_response(
    constraint_body: ConstraintBody,
    tree: Support,
    J: Vec6,
    block: Vector,
    response: Vector,
    at: Index,
) -> None:
    """Add the response of a tree to the force J on `constraint_body`.

    The block is symmetric, so its rows, which are contiguous, serve as its columns.
    """
    width = tree.tree_width
    first = tree.tree_block + (constraint_body.offset - tree.tree_start) * width
    if constraint_body.dof >= 0:
        for k in range(0, width, LANES):
            total = plus_times(load(response, at + k), load(block, first + k), J[0])
            store(response, at + k, total)
        return
    b1, b2, b3 = first + width, first + 2 * width, first + 3 * width
    b4, b5 = first + 4 * width, first + 5 * width
    for k in range(0, width, LANES):
        sum_01 = plus_times(times(load(block, first + k), J[0]), load(block, b1 + k), J[1])
        sum_23 = plus_times(times(load(block, b2 + k), J[2]), load(block, b3 + k), J[3])
        sum_45 = plus_times(times(load(block, b4 + k), J[4]), load(block, b5 + k), J[5])
        store(response, at + k, plus(load(response, at + k), plus(plus(sum_01, sum_23), sum_45)))


@inlined_kernel
def coupling(row: Row, other: Row, response: Vector) -> float:
    """Return the velocity along `other` per unit impulse of `row` [1/kg or 1/(kg m^2)].

    Both rows act on the same constraint bodies.

    Args:
        row: ROW record with a response.
        other: ROW record with the same constraint bodies.
        response: responses of all rows (entries,).
    """
    total = 0.0
    first = row.response_at + row.at_a - row.start_a
    J = other.J_a
    for k in range(6):
        if J[k] != 0.0:
            total += J[k] * response[first + k]
    if row.at_b >= 0:
        if row.width_b > 0:
            first = row.response_at + row.width_a + row.at_b - row.start_b
        else:
            first = row.response_at + row.at_b - row.start_a
        J = other.J_b
        for k in range(6):
            if J[k] != 0.0:
                total += J[k] * response[first + k]
    return total


@inlined_kernel
def least_inverse_mass(row: Row, constrained: ConstraintBodies) -> float:
    """Return the inverse mass of a row below which rounding dominates [1/kg or 1/(kg m^2)]."""
    J = row.J_a
    square = 0.0
    for k in range(6):
        square += J[k] * J[k]
    total = constrained.bodies[row.constrained_a].largest * square
    if row.constrained_b >= 0:
        J = row.J_b
        square = 0.0
        for k in range(6):
            square += J[k] * J[k]
        total += constrained.bodies[row.constrained_b].largest * square
    return _ROUNDING * total


@inlined_kernel
def wanted_correction(error: float, time_step: Seconds, settings: Settings) -> float:
    """Return the displacement rate that corrects a fraction of an error per step [m/s or rad/s].

    The rate is limited to +-settings.correction_speed.

    Args:
        error: position error of the row [m or rad].
        time_step: [s].
        settings: settings of the step.
    """
    rate = -settings.correction_rate * error / time_step
    return min(max(rate, -settings.correction_speed), settings.correction_speed)


@inlined_kernel
def correction_slope(error, time_step: Seconds, settings: Settings):
    """Return the derivative of `wanted_correction` with respect to the error [1/s].

    Args:
        error: position error of the row [m or rad].
        time_step: [s].
        settings: settings of the step.
    """
    slope = -settings.correction_rate / time_step
    return slope if abs(slope * error) < settings.correction_speed else 0.0


@inlined_kernel
def soften(
    row: Row,
    error: float,
    rate: float,
    bend: float,
    compliance: float,
    damping_time: Seconds,
    time_step: Seconds,
) -> None:
    """Set up a row that drives an error to zero by a spring and damper (`held_law`).

    The kernel writes `target` and `compliance`, and adds the compliance to `inverse_mass`.

    Args:
        row: ROW record.
        error: error in the middle of the step, extrapolated by `rate` [m or rad].
        rate: rate of the error at the start of the step [m/s or rad/s].
        bend: change of velocity along the row from mid-step, where the row is linearised, to the
            end of the step [m/s or rad/s]. Without this change, rotating connections are stretched.
        compliance: inverse stiffness of the spring [m/N or rad/Nm]. 0 makes the row rigid.
        damping_time: time constant of the damper [s].
        time_step: [s].
    """
    target, row.compliance = held_law(
        error, rate, row.inverse_mass, compliance, damping_time, time_step
    )
    row.target = target - bend
    row.inverse_mass += row.compliance


@inlined_kernel
def slip_by(row: Row, compliance: float, damping_time: Seconds, time_step: Seconds) -> None:
    """Set up a row that yields by a spring and damper, and does not correct an error.

    Args:
        row: ROW record.
        compliance: inverse stiffness of the spring [m/N or rad/Nm].
        damping_time: time constant of the damper [s].
        time_step: [s].
    """
    damping_factor = 1.0 / (1.0 + 4.0 * damping_time / time_step)
    row.compliance = 4.0 * compliance * damping_factor / (time_step * time_step)
    row.inverse_mass += row.compliance
    row.target = 0.0


@inlined_kernel
def soften_stop(
    row: Row,
    gap: float,
    rate: float,
    acceleration: float,
    compliance: float,
    damping_time: Seconds,
    time_step: Seconds,
) -> None:
    """Set up a one-sided row with a spring and damper that act in a closed gap (`stop_law`).

    Args:
        row: ROW record.
        gap: gap in the middle of the step, extrapolated by `rate` [m or rad].
        rate: rate of the gap at the start of the step [m/s or rad/s].
        acceleration: acceleration of the gap without constraints [m/s^2 or rad/s^2].
        compliance: inverse stiffness of the spring [m/N or rad/Nm].
        damping_time: time constant of the damper [s].
        time_step: [s].
    """
    row.target, row.compliance, duration = stop_law(
        gap, rate, acceleration, row.inverse_mass, compliance, damping_time, time_step
    )
    row.upper *= duration / time_step
    row.inverse_mass += row.compliance
