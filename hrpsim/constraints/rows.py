"""Constraint rows: a unit force pattern on one or two ports, what it asks for, what it may use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.constraints.impact_rows import IMPACT
from hrpsim.jit.compiled import inlined_kernel
from hrpsim.spatial.lanes import LANES, load, plus, plus_times, spread, store, times

CONTACT_ROW, LOWER_LIMIT, UPPER_LIMIT, JOINT_FRICTION, MIMIC, LOCK, MOTOR = range(7)
CONNECTION, DRIVE, SPRING = 7, 8, 9

# which solver a row is for; a contact may be for PENALTY, a spring's row for DESCENT
ITERATIVE, DIRECT, SPLIT, PENALTY, DESCENT = range(5)

CONE, PYRAMID, SLIP_DIRECTION = range(3)  # how a normal force bounds its friction

ROW = np.dtype(
    [
        ("port_a", "i8"),
        ("port_b", "i8"),  # -1 for none
        ("at_a", "i8"),  # first column of the first port
        ("at_b", "i8"),  # -1 for none
        ("start_a", "i8"),  # columns of the tree of the first port
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
        ("target", "f8"),  # velocity asked for [m/s or rad/s]
        ("feedback", "f8"),  # at a rigid connection in rk4: acceleration that takes back its error
        ("push", "f8"),  # displacement rate asked for by the position correction
        ("lower", "f8"),  # bounds of the impulse [Ns or Nms]
        ("upper", "f8"),
        ("impulse", "f8"),
        ("kept_impulse", "f8"),  # of the last sweep, or of the motion while positions are corrected
        ("held", "i8"),  # at a contact: whether the position correction holds it both ways
        ("friction", "f8"),  # at a normal row: coefficient of its contact
        ("friction_model", "i8"),  # at a normal row
        ("solver", "i8"),
        ("kind", "i8"),
        ("island", "i8"),  # work of the search for islands
        ("source", "i8"),  # its contact, degree of freedom or connection
    ]
)


# Share of the largest inverse mass at a port that rounding may leave where there is none.
_ROUNDING = 1e-13


class Rows(NamedTuple):
    """Rows of one step: three for each contact (normal, two tangents), connections', joints'."""

    rows: np.ndarray  # (capacity,) ROW
    response: np.ndarray  # (pool,) velocity of the trees' columns for a unit impulse on each row
    descent: np.ndarray  # (2, capacity) work of the solvers that descend
    units: np.ndarray  # (capacity,) normal rows of contacts and other rows, island by island
    impacts: np.ndarray  # (capacity,) IMPACT of one-sided rows
    chosen: np.ndarray  # (capacity,) as `units`: what is solved for in a round of impacts


def new_rows(row_capacity: int, response_capacity: int) -> Rows:
    """Return room for rows and for their responses."""
    return Rows(
        rows=np.zeros(row_capacity, dtype=ROW),
        response=np.zeros(response_capacity),
        descent=np.zeros((2, row_capacity)),
        units=np.zeros(row_capacity, dtype=np.int64),
        impacts=np.zeros(row_capacity, dtype=IMPACT),
        chosen=np.zeros(row_capacity, dtype=np.int64),
    )


@inlined_kernel
def row_velocity(row, velocity):
    """Return J times the ports' velocity, in three sums that need not wait for each other."""
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
    """Empty a row whose response will start at `used`."""
    row.port_b = row.at_b = -1
    row.width_a = row.width_b = 0
    row.response_at = used
    row.push = row.target = row.compliance = 0.0
    row.held = 0
    row.solver = ITERATIVE


@inlined_kernel
def attach_port(forest, ports, port, row, response, used):
    """Let J_a act on `port`; return the response space used so far."""
    here = ports.ports[port]
    tree = ports.supports[forest.bodies[here.body].root]
    row.port_a, row.at_a = port, here.offset
    row.start_a, row.width_a = tree.tree_start, tree.tree_width
    for k in range(0, row.width_a, LANES):
        store(response, used + k, spread(0.0))
    _add_response(here, tree, row.J_a, ports.block, response, used)
    return used + row.width_a


@inlined_kernel
def attach_second_port(forest, ports, port, row, response, used):
    """Let J_b act on `port` besides; return the response space used so far."""
    here = ports.ports[port]
    tree = ports.supports[forest.bodies[here.body].root]
    row.port_b, row.at_b = port, here.offset
    if tree.tree_start == row.start_a:
        _add_response(here, tree, row.J_b, ports.block, response, row.response_at)
        return used
    row.start_b, row.width_b = tree.tree_start, tree.tree_width
    for k in range(0, row.width_b, LANES):
        store(response, used + k, spread(0.0))
    _add_response(here, tree, row.J_b, ports.block, response, used)
    return used + row.width_b


@inlined_kernel
def _add_response(port, tree, J, block, response, at):
    """Add the motion of the tree's columns under the force J on `port`.

    The block is symmetric, so its rows serve for its columns and lie in one piece.
    """
    width = tree.tree_width
    first = tree.tree_block + (port.offset - tree.tree_start) * width
    if port.dof >= 0:
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
    """Return J of `other` times the response of `row`; both act on the same ports."""
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
def least_inverse_mass(row, ports):
    """Return the inverse mass below which nothing moves along a row but by rounding."""
    J = row.J_a
    square = 0.0
    for k in range(6):
        square += J[k] * J[k]
    total = ports.ports[row.port_a].largest * square
    if row.port_b >= 0:
        J = row.J_b
        square = 0.0
        for k in range(6):
            square += J[k] * J[k]
        total += ports.ports[row.port_b].largest * square
    return _ROUNDING * total


@inlined_kernel
def wanted_push(error, time_step, law):
    """Return the displacement rate that takes back some of an error [m or rad], at most so fast."""
    wanted = -law.correction_rate * error / time_step
    return min(max(wanted, -law.correction_speed), law.correction_speed)


@inlined_kernel
def soften(row, error, rate, bend, compliance, damping_time, time_step):
    """Let a row hold `error` [m or rad] at zero as a spring and damper do (SPOOK, AGX eq. 15).

    compliance [m/N or rad/Nm], 0 for a rigid row; damping_time [s]; `rate` is the rate of the
    error at the start of the step. `bend` is the velocity that the row's curvature adds over the
    part of a step that lies between the place where the row is linear and the velocity at its end:
    without it, what turns is stretched.
    """
    share = 1.0 / (1.0 + 4.0 * damping_time / time_step)
    row.compliance = 4.0 * compliance * share / (time_step * time_step)
    row.inverse_mass += row.compliance
    row.target = share * (rate - 4.0 * error / time_step) - bend
