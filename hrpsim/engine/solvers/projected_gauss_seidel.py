# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The extended projected Gauss-Seidel method (Nakaoka eqs. 16-21), matrix-free.

To solve a row, a sweep reads the velocity of the row's constraint bodies, changes the row's
impulse, and adds the response to the velocity. A sweep costs O(rows). Of the matrix K in the paper,
only the 3x3 block of each contact is computed. The three rows of a contact therefore read and write
the velocities once. The two friction rows of a contact move together, by one common step size, and
are then projected to the disk of radius mu f_n. With a common step, the friction of a sliding
contact converges to exactly the direction against the slip. With separate steps, this is not the
case.

Nesterov's momentum acts over pairs of sweeps, one forward and one backward. After a pair the
impulses are extrapolated by a fraction of the change since the previous pair. The fraction grows
from pair to pair. The fraction falls back to 0 when the last pair points against that change
(O'Donoghue and Candes 2015, gradient scheme). The next sweep restores violated bounds.

A forward and a backward sweep together are a symmetric preconditioner, whose errors decay without
oscillation. Errors of sweeps in one direction oscillate. On many compliant points, momentum would
sustain the oscillation. Mazhar, Heyn, Negrut and Tasora (ACM Trans. Graph. 34, 2015) use momentum
for frictional contact with another gradient step. Products are weighted with the rows' inverse
masses, so linear and angular impulses contribute to one energy.
"""

import math

import numpy as np

from hrpsim.engine.collision.records import SOLVER_MEMORY
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Indices, Island, Matrix, Records, Row, Vector
from hrpsim.engine.constraints.friction_laws import (
    bounds_each_axis,
    friction_bound,
    project_friction,
)
from hrpsim.engine.constraints.point_rows import point_velocity
from hrpsim.engine.constraints.rows import row_velocity
from hrpsim.engine.solvers.impulses import apply_impulse, apply_three

# Sweeps after which those that have not converged are accelerated; a standing robot takes fewer.
FEW_SWEEPS = 20
# With momentum a sweep may change little where the next ones change more: both sweeps of a pair
# must change less than this part of the tolerance.
_CAUTION = 0.1
# Change of a sweep that ends the position correction, as a share of the largest correction.
_ENOUGH = 1e-3


@inner_kernel
def begin_momentum(rows: Records[Row], island_rows: Indices, island: Island, work: Matrix) -> None:
    """Save the present impulses for the momentum of the next pair of sweeps.

    work[0] gets the impulses before the pair, and work[1] the impulses after a sweep.
    """
    for k in range(island.first, island.end):
        for number in range(island_rows[k], island_rows[k] + (3 if k < island.contact_end else 1)):
            work[0, number] = work[1, number] = rows[number].impulse


@inner_kernel
def add_momentum(
    rows: Records[Row],
    island_rows: Indices,
    island: Island,
    response: Vector,
    age: float,
    velocity: Vector,
    work: Matrix,
) -> float:
    """Extrapolate the impulses and `velocity` after a pair of sweeps.

    The impulses before and after the extrapolation are saved in `work`.

    Args:
        rows: ROW records (row capacity,).
        island_rows: numbers of the rows, island by island.
        island: record of the island, with a range of `island_rows`.
        response: responses of all rows.
        age: Nesterov's t_k of this pair, 1 without momentum.
        velocity: velocities of the constraint bodies (columns,) [m/s, rad/s].
        work: saved impulses (2, row capacity).

    Returns:
        `age` of the next pair.
    """
    against = 0.0
    for k in range(island.first, island.end):
        for number in range(island_rows[k], island_rows[k] + (3 if k < island.contact_end else 1)):
            row = rows[number]
            swept, moved = row.impulse - work[0, number], row.impulse - work[1, number]
            against -= swept * moved * row.inverse_mass
    next_age, momentum = 1.0, 0.0
    if against <= 0.0:
        next_age = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * age * age))
        momentum = (age - 1.0) / next_age
    for k in range(island.first, island.contact_end):
        n = island_rows[k]
        normal, x, y = rows[n], rows[n + 1], rows[n + 2]
        by_n = _carry_on(normal, n, momentum, work)
        by_x = _carry_on(x, n + 1, momentum, work)
        by_y = _carry_on(y, n + 2, momentum, work)
        if momentum > 0.0:
            apply_three(normal, x, y, by_n, by_x, by_y, response, velocity)
    for k in range(island.contact_end, island.end):
        by = _carry_on(rows[island_rows[k]], island_rows[k], momentum, work)
        if momentum > 0.0:
            apply_impulse(rows[island_rows[k]], by, response, velocity)
    return next_age


@inlined_kernel
def _carry_on(row: Row, number: Index, share: float, work: Matrix) -> float:
    """Extrapolate the impulse of a row by a fraction of its last change. Return the addition."""
    by = share * (row.impulse - work[1, number])
    work[1, number] = row.impulse
    row.impulse += by
    work[0, number] = row.impulse
    return by


# the contacts and rows that are solved together, as places in a list of rows
ISLAND = np.dtype(
    [
        ("first", "i8"),  # from here normal rows of contacts,
        ("contact_end", "i8"),  # from here single rows,
        ("end", "i8"),
        ("new_count", "i8"),  # contacts among them that the last step did not have
        ("whole", "i8"),  # whether these are all rows, in the order of their numbers
        ("meets", "i8"),  # whether anything may strike in it in this step
        ("timed", "i8"),  # whether its impacts happen at their times, not at the step's start
        ("sweeps", "i8"),  # done in this step
        ("residual", "f8"),  # largest change of a velocity in the last of them, or error left [m/s]
        ("converged", "i8"),  # whether they converged
        ("updates", "i8"),  # in a round of impacts: of rows that would have taken as long, about
        ("slips", "i8"),  # whether friction redistribution is due
        ("attempt", "i8"),  # where one attempt is allowed: which it was (step.rows.hand_over)
        ("memory", SOLVER_MEMORY),  # of its contacts: the one that prevails
    ]
)


@inner_kernel  # many parameters: names the parts of the scene that it reads, not the scene
def solve(
    rows: Records[Row], row_count: int, island_rows: Indices, island: Island, response: Vector,
    tolerance: float, relative_tolerance: float, begin: Index, sweep_limit: int, velocity: Vector,
    work: Matrix,
) -> tuple[int, float, bool]:  # fmt: skip
    """Sweep over the rows of an island until a sweep changes little, and write the impulses.

    With relative_tolerance 0, sweeps end when no row's velocity moves by more than `tolerance`.
    After a few sweeps without convergence, the direction alternates, and momentum is added
    (`add_momentum`). Otherwise sweeps end when `relative_change` of all `row_count` rows falls to
    relative_tolerance.

    Args:
        rows: ROW records (row capacity,).
        row_count: number of rows.
        island_rows: numbers of the rows, island by island.
        island: record of the island, with a range of `island_rows`.
        response: responses of all rows.
        tolerance: largest change of a row's velocity in the last sweep [m/s].
        relative_tolerance: largest relative change of the impulses. 0 to use `tolerance` instead.
        begin: number of sweeps done before.
        sweep_limit: largest number of sweeps, including `begin`.
        velocity: velocities of the constraint bodies (columns,) [m/s, rad/s], as `warm_start` wrote
            them, changed to the velocities with the new impulses.
        work: work space (2, row capacity).

    Returns:
        (sweeps done, largest change of a row's velocity in the last sweep [m/s], whether the sweeps
        converged).
    """
    change, age = 0.0, 1.0
    sweeps = begin
    done = False
    if relative_tolerance > 0.0:
        relative_change(rows, row_count)
    while sweeps < sweep_limit and not done:
        before = change
        # the second sweep of a pair goes backward
        back = relative_tolerance == 0.0 and sweeps > FEW_SWEEPS and (sweeps - FEW_SWEEPS) % 2 == 1
        if back:
            change = _sweep_back(rows, island_rows, island, response, velocity)
        else:
            change = _sweep_forth(rows, row_count, island_rows, island, response, velocity)
        sweeps += 1
        if relative_tolerance > 0.0:
            done = relative_change(rows, row_count) <= relative_tolerance
            continue
        if sweeps <= FEW_SWEEPS:
            done = change <= tolerance
        else:
            done = back and max(change, before) <= _CAUTION * tolerance
        if sweeps == FEW_SWEEPS and not done:
            begin_momentum(rows, island_rows, island, work)
        elif back and not done and sweeps < sweep_limit:
            age = add_momentum(rows, island_rows, island, response, age, velocity, work)
    return sweeps, change, done


@inlined_kernel
def _sweep_forth(
    rows: Records[Row],
    row_count: int,
    island_rows: Indices,
    island: Island,
    response: Vector,
    velocity: Vector,
) -> float:
    """Solve the rows of an island in turn, and return the largest change of a velocity [m/s]."""
    if island.whole:
        return _sweep_all(rows, island.contact_end, row_count, response, velocity)
    return _sweep(rows, island_rows, island, response, velocity)


@inlined_kernel
def _sweep_all(
    rows: Records[Row], contact_count: int, row_count: int, response: Vector, velocity: Vector
) -> float:
    """Solve all rows of the step in turn, and return the largest change of a velocity [m/s]."""
    change = 0.0
    for c in range(contact_count):
        n = 3 * c
        moved = solve_contact(rows[n], rows[n + 1], rows[n + 2], response, velocity)
        change = max(change, moved)
    for number in range(3 * contact_count, row_count):
        change = max(change, solve_bounded_row(rows[number], response, velocity))
    return change


@inlined_kernel
def _sweep(
    rows: Records[Row], island_rows: Indices, island: Island, response: Vector, velocity: Vector
) -> float:
    """Solve the rows of an island in turn, and return the largest change of a velocity [m/s]."""
    change = 0.0
    for k in range(island.first, island.contact_end):
        n = island_rows[k]
        moved = solve_contact(rows[n], rows[n + 1], rows[n + 2], response, velocity)
        change = max(change, moved)
    for k in range(island.contact_end, island.end):
        change = max(change, solve_bounded_row(rows[island_rows[k]], response, velocity))
    return change


@inner_kernel
def _sweep_back(
    rows: Records[Row], island_rows: Indices, island: Island, response: Vector, velocity: Vector
) -> float:
    """Solve the rows of an island from the last to the first. Return the largest change [m/s]."""
    change = 0.0
    for k in range(island.end - 1, island.contact_end - 1, -1):
        change = max(change, solve_bounded_row(rows[island_rows[k]], response, velocity))
    for k in range(island.contact_end - 1, island.first - 1, -1):
        n = island_rows[k]
        moved = solve_contact(rows[n], rows[n + 1], rows[n + 2], response, velocity)
        change = max(change, moved)
    return change


@inner_kernel
def relative_change(rows: Records[Row], row_count: int) -> float:
    """Return the relative change of all impulses since the last call, and save the impulses.

    The change is |l - l_before| / |l| with Euclidean norms over all rows. The norms add Ns and Nms
    without weights, as in Nakaoka 3.1. OpenHRP stops at 1e-3.
    """
    changed, size = 0.0, 0.0
    for number in range(row_count):
        row = rows[number]
        change = row.impulse - row.saved_impulse
        row.saved_impulse = row.impulse
        changed += change * change
        size += row.impulse * row.impulse
    if changed == 0.0:
        return 0.0
    return math.sqrt(changed / size) if size > 0.0 else math.inf


@inlined_kernel
def wanted_impulse(row: Row, velocity: Vector) -> float:
    """Return the impulse with which a row reaches its target (eq. 17) [Ns or Nms].

    All other impulses are fixed.
    """
    if row.inverse_mass <= 0.0:
        return row.impulse
    short = row.target - row_velocity(row, velocity) - row.compliance * row.impulse
    return row.impulse + short / row.inverse_mass


@inlined_kernel
def set_impulse(row: Row, new: float, response: Vector, velocity: Vector) -> float:
    """Set the impulse of a row, and return the change of the row's velocity [m/s].

    Args:
        row: ROW record.
        new: the new impulse [Ns or Nms].
        response: responses of all rows.
        velocity: velocities of the constraint bodies (columns,) [m/s, rad/s].
    """
    change = new - row.impulse
    if change == 0.0:
        return 0.0
    row.impulse = new
    apply_impulse(row, change, response, velocity)
    return abs(change) * row.inverse_mass


@inlined_kernel
def solve_bounded_row(row: Row, response: Vector, velocity: Vector) -> float:
    """Set the impulse of one row to reach the target within its bounds.

    Returns:
        The change of the row's velocity [m/s].
    """
    new = min(max(wanted_impulse(row, velocity), row.lower), row.upper)
    return set_impulse(row, new, response, velocity)


@inner_kernel
def solve_contact(normal: Row, x: Row, y: Row, response: Vector, velocity: Vector) -> float:
    """Set the three impulses of a contact, normal first, then friction.

    Returns:
        The largest change of a row's velocity [m/s].
    """
    along_n, along_x, along_y = point_velocity(normal, x, y, velocity)
    new = min(max(_wanted_impulse(normal, along_n), normal.lower), normal.upper)
    change_n = new - normal.impulse
    normal.impulse = new
    along_x += normal.cross * change_n
    along_y += y.cross * change_n
    new_x, new_y = wanted_friction(normal, x, y, along_x, along_y)
    change_x, change_y = new_x - x.impulse, new_y - y.impulse
    x.impulse, y.impulse = new_x, new_y
    if change_n != 0.0 or change_x != 0.0 or change_y != 0.0:
        apply_three(normal, x, y, change_n, change_x, change_y, response, velocity)
    change = max(abs(change_x) * x.inverse_mass, abs(change_y) * y.inverse_mass)
    return max(change, abs(change_n) * normal.inverse_mass)


@inlined_kernel
def solve_friction(normal: Row, x: Row, y: Row, response: Vector, velocity: Vector) -> float:
    """Set the friction impulses of one contact under its normal impulse.

    Returns:
        The largest change of a row's velocity [m/s].
    """
    along_x, along_y = row_velocity(x, velocity), row_velocity(y, velocity)
    new_x, new_y = wanted_friction(normal, x, y, along_x, along_y)
    change = set_impulse(x, new_x, response, velocity)
    return max(change, set_impulse(y, new_y, response, velocity))


@inlined_kernel
def wanted_friction(
    normal: Row, x: Row, y: Row, along_x: float, along_y: float
) -> tuple[float, float]:
    """Return the friction impulses that stop a contact's slip, limited by its normal impulse.

    All other impulses are fixed.

    Args:
        normal: ROW record of the contact's normal.
        x: ROW record of the first tangent.
        y: ROW record of the second tangent.
        along_x: velocity of the row x [m/s].
        along_y: velocity of the row y [m/s].

    Returns:
        (impulse of row x, impulse of row y) [Ns].
    """
    new_x, new_y = _wanted_impulse(x, along_x), _wanted_impulse(y, along_y)
    law, bound = normal.friction_model, friction_bound(normal)
    if bounds_each_axis(law):
        stopped, _ = project_friction(law, bound, new_x, new_y)
        new_y -= y.mass * x.cross * (stopped - x.impulse)
    return project_friction(law, bound, new_x, new_y)


@inlined_kernel
def bounded_friction(normal: Row, x: float, y: float) -> tuple[float, float]:
    """Limit the friction impulses of a contact by its normal impulse and friction law.

    Returns:
        (impulse of row x, impulse of row y) [Ns].
    """
    return project_friction(normal.friction_model, friction_bound(normal), x, y)


@inlined_kernel
def _wanted_impulse(row: Row, along: float) -> float:
    """Return `wanted_impulse` of a contact's row whose velocity is `along` [m/s]."""
    impulse_at_rest = row.impulse + row.mass * (row.target - row.compliance * row.impulse)
    return impulse_at_rest - row.mass * along


@inner_kernel
def solve_bounded(
    rows: Records[Row],
    island_rows: Indices,
    island: Island,
    response: Vector,
    tolerance: float,
    sweep_limit: int,
    velocity: Vector,
) -> None:
    """Sweep over rows without friction cones, as in position corrections.

    A few sweeps suffice, because the next steps correct remaining errors of dense islands.

    Args:
        rows: ROW records (row capacity,).
        island_rows: numbers of the rows, island by island.
        island: record of the island, with a range of `island_rows`.
        response: responses of all rows.
        tolerance: accepted change of a velocity [m/s].
        sweep_limit: largest number of sweeps.
        velocity: velocities of the constraint bodies (columns,) [m/s, rad/s].
    """
    largest_target = 0.0
    for sweep in range(sweep_limit):
        change = 0.0
        for k in range(island.first, island.end):
            first = island_rows[k]
            for number in range(first, first + (3 if k < island.contact_end else 1)):
                row = rows[number]
                if row.lower < row.upper:
                    change = max(change, solve_bounded_row(row, response, velocity))
                    largest_target = max(largest_target, abs(row.target))
        if change <= tolerance or (sweep >= FEW_SWEEPS and change <= _ENOUGH * largest_target):
            break
