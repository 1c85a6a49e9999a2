# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Constraint rows: a unit force pattern on one or two constraint bodies, its target and bounds."""

from typing import NamedTuple

import numpy as np

from hrpsim.common.errors import WorldError
from hrpsim.engine.compile.compiled import inlined_kernel
from hrpsim.engine.compile.fields import Axis, array
from hrpsim.engine.constraints.impact_rows import CLOSED, IMPACT
from hrpsim.engine.constraints.solver_table import AUTO, choose_solver
from hrpsim.engine.spatial.simd import LANES, broadcast, load, plus, plus_times, store, times

DAMPING_STEPS = 2.0  # default damping time, in time steps
CONTACT_ROW, LOWER_LIMIT, UPPER_LIMIT, JOINT_FRICTION, MIMIC, LOCK, MOTOR = range(7)
VELOCITY_LIMIT, CONNECTION, DRIVE, TENDON = range(MOTOR + 1, MOTOR + 5)
# The quantity of a row's target. Its impulse is then one [Ns or Nms], that of a displacement rate,
# or a force.
VELOCITY, DISPLACEMENT, ACCELERATION = range(3)
# Share of a step that a compliant stop acts for at least, once it is met: bounds its compliance.
_SHORTEST = 1e-3
# Share of the largest inverse mass at a constraint body below which one is rounding.
_ROUNDING = 1e-13


def refuse_undamped(compliance: np.ndarray, damping_time: np.ndarray, time_step: float) -> None:
    """Refuse rigid constraints that would ring: their damping time must be at least one time step.

    A damping time below zero selects another damping law.

    Args:
        compliance: [m/N or rad/Nm].
        damping_time: [s].
        time_step: [s].

    Raises:
        WorldError: A rigid constraint has a shorter damping time.
    """
    rings = (compliance == 0.0) & (damping_time >= 0.0) & (damping_time < (1 - 1e-9) * time_step)
    if rings.any():
        raise WorldError(
            f"damping_time {damping_time[rings].min():g} s is too short where the compliance is 0: "
            f"it must be one time step, {time_step:g} s, or more"
        )


ROW = np.dtype(
    [
        ("constrained_a", "i8"),
        ("constrained_b", "i8"),  # -1 for none
        ("at_a", "i8"),  # first column of the first constraint body
        ("at_b", "i8"),  # -1 for none
        ("start_a", "i8"),  # columns of the tree of the first constraint body
        ("width_a", "i8"),
        ("start_b", "i8"),  # the second tree's; width 0 if it is the same or none
        ("width_b", "i8"),
        ("response_at", "i8"),  # where the row's response starts
        ("J_a", "f8", (6,)),  # zero-padded for a degree of freedom
        ("J_b", "f8", (6,)),
        ("compliance", "f8"),  # velocity that the row gives way by, for a unit impulse
        ("inverse_mass", "f8"),  # J (response) + compliance [1/kg or 1/(kg m^2)]
        ("mass", "f8"),  # at a contact: 1 / inverse_mass, 0 where nothing moves
        ("cross", "f8"),  # at a contact: velocity of the next of its rows for a unit impulse
        ("quantity", "i8"),  # VELOCITY, DISPLACEMENT or ACCELERATION
        ("target", "f8"),  # of that quantity [m/s, rad/s; m/s^2, rad/s^2]
        ("feedback", "f8"),  # at a rigid connection in rk4: acceleration that corrects its error
        ("correction_velocity", "f8"),  # target displacement rate of the position correction
        ("lower", "f8"),  # bounds of the impulse [Ns or Nms]
        ("upper", "f8"),
        ("impulse", "f8"),
        ("saved_impulse", "f8"),  # that it starts from, of the last sweep, or of the motion (below)
        ("kept_target", "f8"),  # of the motion while positions are corrected, as the next two
        ("kept_lower", "f8"),
        ("kept_upper", "f8"),
        ("bilateral", "i8"),  # at a contact: whether the position correction holds it both ways
        ("friction", "f8"),  # at a normal row: coefficient of its contact
        ("friction_model", "i8"),  # at a normal row: its law (friction_laws)
        ("solver", "i8"),  # that its row is for (solver_table)
        ("choice", "i8"),  # that was chosen for it
        ("kind", "i8"),
        ("island", "i8"),  # work of the search for islands
        ("source", "i8"),  # its contact, degree of freedom, connection or tendon
    ]
)


class Rows(NamedTuple):
    """Rows of one step: three for each contact (normal, two tangents), then connections, joints."""

    rows: np.ndarray = array("target, bounds and impulse of each constraint", ROW, Axis.ROW)
    response: np.ndarray = array(
        "velocity of the trees' columns for a unit impulse on each row", "f8", Axis.RESPONSE
    )
    descent: np.ndarray = array("work of the solvers that descend", "f8", 2, Axis.ROW)
    island_rows: np.ndarray = array(
        "normal rows of contacts and other rows, island by island", "i8", Axis.ROW
    )
    impacts: np.ndarray = array("gaps of one-sided rows within the step", IMPACT, Axis.ROW)
    chosen: np.ndarray = array(
        "as `island_rows`: the rows solved in a round of impacts", "i8", Axis.ROW
    )


@inlined_kernel
def is_one_sided(row):
    """Return whether a row (at a contact: the normal row) keeps a gap from closing."""
    return row.kind == CONTACT_ROW or row.kind == LOWER_LIMIT or row.kind == UPPER_LIMIT


@inlined_kernel
def takes_time(row):
    """Return whether a row of joints is a bounded force, without effect in an impact."""
    return row.kind == JOINT_FRICTION or row.kind == VELOCITY_LIMIT or row.kind == TENDON


@inlined_kernel
def row_velocity(row, velocity):
    """Return J times the constraint bodies' velocity, in three independent sums."""
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
def start_row(row, used):
    """Clear a row whose response will start at `used`."""
    row.constrained_b = row.at_b = -1
    row.width_a = row.width_b = 0
    row.response_at = used
    row.correction_velocity = row.target = row.compliance = 0.0
    row.bilateral, row.quantity = 0, VELOCITY
    choose_solver(row, AUTO)


@inlined_kernel
def attach_constraint_body(forest, constrained, constraint_body, row, response, used):
    """Attach J_a to `constraint_body`, and return the response space used so far.

    Args:
        forest: constants of the bodies and joints.
        constrained: constraint bodies of the step.
        constraint_body: number of the constraint body.
        row: ROW record.
        response: responses of all rows.
        used: response space used before.
    """
    here = constrained.bodies[constraint_body]
    tree = constrained.supports[forest.bodies[here.body].root]
    row.constrained_a, row.at_a = constraint_body, here.offset
    row.start_a, row.width_a = tree.tree_start, tree.tree_width
    return _write_response(here, tree, row.J_a, constrained.inverse_inertia, response, used)


@inlined_kernel
def attach_second_constraint_body(forest, constrained, constraint_body, row, response, used):
    """Attach J_b to `constraint_body` as well, and return the response space used so far.

    Args:
        forest: constants of the bodies and joints.
        constrained: constraint bodies of the step.
        constraint_body: number of the constraint body.
        row: ROW record.
        response: responses of all rows.
        used: response space used before.
    """
    here = constrained.bodies[constraint_body]
    tree = constrained.supports[forest.bodies[here.body].root]
    row.constrained_b, row.at_b = constraint_body, here.offset
    if tree.tree_start == row.start_a:
        _add_response(here, tree, row.J_b, constrained.inverse_inertia, response, row.response_at)
        return used
    row.start_b, row.width_b = tree.tree_start, tree.tree_width
    return _write_response(here, tree, row.J_b, constrained.inverse_inertia, response, used)


@inlined_kernel
def attach_pair(forest, constrained, pair, placed, turns, row, response, used):
    """Make a row push body a of a pair along placed.direction and body b in reverse.

    The points are placed.point_a and placed.point_b.

    Args:
        forest: constants of the bodies and joints.
        constrained: constraint bodies of the step.
        pair: record with both bodies.
        placed: record of the placed frames.
        turns: whether the row turns the bodies about placed.direction instead of pushing them.
        row: ROW record.
        response: responses of all rows.
        used: response space used before.

    Returns:
        The response space used so far.
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
def write_force(point, d, sign, turns, J_out):
    """Write the spatial force of `sign` times a unit force through `point`, or unit moment."""
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
def _write_response(constraint_body, tree, J, block, response, used):
    """Write the motion of the tree's columns under the force J on `constraint_body`.

    Return where it ends.
    """
    for k in range(0, tree.tree_width, LANES):
        store(response, used + k, broadcast(0.0))
    _add_response(constraint_body, tree, J, block, response, used)
    return used + tree.tree_width


@inlined_kernel
def _add_response(constraint_body, tree, J, block, response, at):
    """Add the motion of the tree's columns under the force J on `constraint_body`.

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
        one = plus_times(times(load(block, first + k), J[0]), load(block, b1 + k), J[1])
        two = plus_times(times(load(block, b2 + k), J[2]), load(block, b3 + k), J[3])
        three = plus_times(times(load(block, b4 + k), J[4]), load(block, b5 + k), J[5])
        store(response, at + k, plus(load(response, at + k), plus(plus(one, two), three)))


@inlined_kernel
def coupling(row, other, response):
    """Return J of the row `other` times the response of `row` [1/kg or 1/(kg m^2)].

    Both rows act on the same constraint bodies.
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
def least_inverse_mass(row, constrained):
    """Return the inverse mass below which motion along a row is rounding only."""
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
def wanted_correction(error, time_step, settings):
    """Return the displacement rate that corrects a part of an error, within the rate's bound.

    Args:
        error: [m or rad].
        time_step: [s].
        settings: settings of the step.
    """
    wanted = -settings.correction_rate * error / time_step
    return min(max(wanted, -settings.correction_speed), settings.correction_speed)


@inlined_kernel
def soften(row, error, rate, bend, compliance, damping_time, time_step):
    """Make a row hold `error` at zero as a spring and damper (SPOOK, AGX eq. 15).

    The damper has the weight of `damper_weight`.

    Args:
        row: ROW record.
        error: error in the middle of the step, extrapolated by `rate` [m or rad].
        rate: rate of the error at the start of the step [m/s or rad/s].
        bend: velocity that the row's curvature adds between the place where the row is linear and
            the end of the step. Without this part, rotating connections are stretched.
        compliance: [m/N or rad/Nm]; 0 makes the row rigid.
        damping_time: [s].
        time_step: [s].
    """
    weight = damper_weight(row.inverse_mass, compliance, damping_time * time_step)
    share = _give_way(row, compliance, weight * damping_time, time_step)
    pressed = error + (1.0 - weight) * damping_time * rate
    row.target = share * (rate - 4.0 * pressed / time_step) - bend


@inlined_kernel
def slip_by(row, compliance, damping_time, time_step):
    """Make a row yield by its spring and damper, without correction of an error.

    Args:
        row: ROW record.
        compliance: [m/N or rad/Nm].
        damping_time: [s].
        time_step: [s].
    """
    _give_way(row, compliance, damping_time, time_step)
    row.target = 0.0


@inlined_kernel
def damper_weight(inverse_mass, compliance, damping):
    """Return the fraction of a row's damper that acts at the velocity at the end of the step.

    A damper that is slow compared with the step has the weight 1/2, which is of second order. A
    fast damper has the weight 1, with which motion decays (docs/explanation/derivations.md, section
    10).

    Args:
        inverse_mass: of the row [1/kg or 1/(kg m^2)].
        compliance: [m/N or rad/Nm].
        damping: damping time multiplied by the time for which the damper acts [s^2].
    """
    if compliance == 0.0:
        return 1.0
    drag = damping * inverse_mass
    return (3.0 * compliance + drag) / (6.0 * compliance + drag)


@inlined_kernel
def _give_way(row, compliance, damping_time, time_step):
    """Add the give of a spring and damper to a row, and return c of the derivations, section 10."""
    share = 1.0 / (1.0 + 4.0 * damping_time / time_step)
    row.compliance = 4.0 * compliance * share / (time_step * time_step)
    row.inverse_mass += row.compliance
    return share


@inlined_kernel
def soften_stop(row, gap, rate, acceleration, compliance, damping_time, time_step):
    """Make a one-sided row resist as a spring and damper after its gap has closed.

    A gap that closes within the step meets spring and damper for the rest of the step. A gap that
    should stay open, but is closed by other constraints, meets the spring alone. Equations:
    docs/explanation/derivations.md, section 10.

    Args:
        row: ROW record.
        gap: gap in the middle of the step, extrapolated by `rate` [m or rad].
        rate: rate of the gap at the start of the step [m/s or rad/s].
        acceleration: acceleration of the gap without constraints [m/s^2 or rad/s^2].
        compliance: [m/N or rad/Nm].
        damping_time: [s].
        time_step: [s].
    """
    start, duration = gap - 0.5 * time_step * rate, time_step
    if start > CLOSED:
        end = gap + 0.5 * time_step * (rate + time_step * acceleration)
        if end < 0.0:
            duration *= max(end / (end - start), _SHORTEST)
        else:
            damping_time = 0.0
        start = 0.0
    row.upper *= duration / time_step
    weight = damper_weight(row.inverse_mass, compliance, damping_time * duration)
    share = 1.0 / (1.0 + 4.0 * weight * damping_time / time_step)
    row.compliance = 4.0 * compliance * share / (time_step * duration)
    row.inverse_mass += row.compliance
    pressed = 0.5 * (start + gap) + (1.0 - weight) * damping_time * rate
    row.target = -4.0 * share * pressed / time_step
