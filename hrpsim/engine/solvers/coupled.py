# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Solve rows of the direct, the iterative and the split solver as one problem.

The method is block Gauss-Seidel. The rows for the direct solver are one block, which is solved
exactly for given impulses of all other rows. Then all other rows, and the friction of sliding
direct contacts, are solved one by one (projected Gauss-Seidel). Both steps are one round. Rounds
repeat until nothing changes. In the first round, the block includes the normals of split contacts,
without friction. The iteration of split contacts starts from that result.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Indices, Island, Records, Row, Vector
from hrpsim.engine.constraints.friction_laws import friction_bound, friction_holds
from hrpsim.engine.constraints.rows import row_velocity
from hrpsim.engine.constraints.solver_table import DIRECT, ITERATIVE, SPLIT
from hrpsim.engine.solvers.active_rows import find_velocity, save_start, set_side
from hrpsim.engine.solvers.direct_system import DirectSystem
from hrpsim.engine.solvers.pivoting import (
    allowed_work,
    choose_active,
    leave_to_iteration,
    settle_active_rows,
)
from hrpsim.engine.solvers.projected_gauss_seidel import (
    bounded_friction,
    set_impulse,
    solve_bounded_row,
    solve_contact,
    solve_friction,
    wanted_friction,
    wanted_impulse,
)

# How often a direct contact may begin to slide or to close, and how many rounds it may slide.
_RETURNS = 3
_ROUNDS = 20


@inner_kernel  # many parameters: names the parts of the scene that it reads, not the scene
def solve_coupled(
    rows: Records[Row], row_count: int, island_rows: Indices, island: Island, has_cones: bool,
    response: Vector, tolerance: float, round_limit: int, work: int, velocity: Vector,
    system: DirectSystem,
) -> tuple[int, int, int, bool]:  # fmt: skip
    """Solve an island with rows of several solvers. Write impulses and the resulting velocity.

    If the direct solver does not finish, or exceeds its work limit, its rows are solved iteratively
    in the remaining rounds.

    Args:
        rows: ROW records (row capacity,).
        row_count: number of rows.
        island_rows: numbers of the rows, island by island.
        island: record of the island, with a range of `island_rows`.
        has_cones: whether friction cones bound the tangential impulses of contacts. If not, each
            tangential row has its own bounds.
        response: responses of all rows.
        tolerance: accepted change of a velocity [m/s].
        round_limit: largest number of rounds.
        work: number of multiplications done for direct rows in this step so far.
        velocity: velocities of the constraint bodies (columns,) [m/s, rad/s], start and result.
        system: system of the direct solver.

    Returns:
        (number of rounds, number of factorisations, `work` at the end, whether the direct solver
        finished).
    """
    save_start(rows, row_count, velocity, system)
    choose_active(rows, row_count, has_cones, tolerance, velocity, system)
    limit = allowed_work(work, row_count, system)
    finished, factorisations, work = settle_active_rows(
        rows, row_count, has_cones, response, tolerance, work, limit, velocity, system
    )
    _release_split(rows, row_count, system)
    change = previous = math.inf
    rounds = 0
    given_up = False
    # The block that is solved last in a round may move rows that were at rest: check twice.
    while rounds < round_limit and (
        _moves(change, previous, tolerance) or not (finished or given_up)
    ):
        if not finished and not given_up:
            given_up = True
            return_to_start(rows, row_count, response, velocity, system)
        rounds += 1
        previous = change
        change = _sweep(
            rows, island_rows, island, has_cones, rounds, finished, response, velocity, system
        )
        if finished:
            finished, more, work = settle_active_rows(
                rows, row_count, has_cones, response, tolerance, work, limit, velocity, system
            )
            factorisations += more
    if not finished and not given_up:
        return_to_start(rows, row_count, response, velocity, system)
    elif has_cones and change > tolerance:
        _bring_into_cones(rows, island_rows, island, response, velocity)
    return rounds, factorisations, work, finished


@inlined_kernel
def _moves(change: float, previous: float, tolerance: float) -> bool:
    """Return whether another round is needed after two rounds with these largest changes [m/s]."""
    return change > tolerance or (change > 0.0 and previous > tolerance)


@inlined_kernel
def _bring_into_cones(
    rows: Records[Row], island_rows: Indices, island: Island, response: Vector, velocity: Vector
) -> None:
    """Project the friction of all contacts of an island onto the bounds of the friction law."""
    for k in range(island.first, island.contact_end):
        n = island_rows[k]
        _bring_into_cone(rows[n], rows[n + 1], rows[n + 2], response, velocity)


@inlined_kernel  # many parameters: names the parts of the scene that it reads, not the scene
def _sweep(
    rows: Records[Row], island_rows: Indices, island: Island, has_cones: bool, rounds: int,
    finished: bool, response: Vector, velocity: Vector, system: DirectSystem,
) -> float:  # fmt: skip
    """Solve each row outside the direct block once. Return the largest change of velocity [m/s]."""
    change = 0.0
    for k in range(island.first, island.contact_end):
        number = island_rows[k]
        normal, x, y = rows[number], rows[number + 1], rows[number + 2]
        if normal.solver == DIRECT and finished:
            if not has_cones:
                continue
            moved = _hold_cone(rows, number, rounds, response, velocity, system)
        else:
            moved = _solve_contact(normal, x, y, has_cones, response, velocity)
        change = max(change, moved)
    for k in range(island.contact_end, island.end):
        row = rows[island_rows[k]]
        if (row.solver == ITERATIVE or not finished) and row.lower < row.upper:
            change = max(change, solve_bounded_row(row, response, velocity))
    return change


@inner_kernel
def return_to_start(
    rows: Records[Row], row_count: int, response: Vector, velocity: Vector, system: DirectSystem
) -> None:
    """Restore the impulses and the velocity from which the solution started."""
    for number in range(row_count):
        rows[number].impulse = system.start[number]
    find_velocity(rows, row_count, response, velocity, system)


@inner_kernel
def _release_split(rows: Records[Row], row_count: int, system: DirectSystem) -> None:
    """Move the split contacts to the iterative solver for the remaining rounds."""
    for number in range(row_count):
        if rows[number].solver == SPLIT:
            rows[number].solver = ITERATIVE
            set_side(number, 0, system)


@inlined_kernel
def _solve_contact(
    normal: Row, x: Row, y: Row, has_cones: bool, response: Vector, velocity: Vector
) -> float:
    """Solve one contact iteratively, and return the largest change of velocity [m/s]."""
    if has_cones:
        return solve_contact(normal, x, y, response, velocity)
    change = 0.0
    for row in (normal, x, y):
        if row.lower < row.upper:
            change = max(change, solve_bounded_row(row, response, velocity))
    return change


@inner_kernel
def _hold_cone(
    rows: Records[Row],
    number: Index,
    rounds: int,
    response: Vector,
    velocity: Vector,
    system: DirectSystem,
) -> float:
    """Keep the friction of a direct contact in its cone, and return the change of velocity [m/s].

    Sticking friction is part of the direct block. Friction beyond the cone is projected onto the
    cone, and the contact slides. This function solves sliding friction. If the friction returns to
    the inside of the cone, the contact sticks again. A contact is moved to the iterative solver if
    it alternates between both states, or slides without converging.
    """
    normal, x, y = rows[number], rows[number + 1], rows[number + 2]
    active = system.active
    undecided = system.slides[number] > _RETURNS
    if undecided or (rounds > _ROUNDS and active[number] and not active[number + 1]):
        leave_to_iteration(rows, number, system)
        return solve_contact(normal, x, y, response, velocity)
    if not active[number]:
        return 0.0
    if active[number + 1]:
        new_x, new_y = bounded_friction(normal, x.impulse, y.impulse)
        beyond = math.hypot(new_x - x.impulse, new_y - y.impulse)
        if beyond <= 1e-9 * friction_bound(normal):
            return 0.0
        change = set_impulse(x, new_x, response, velocity)
        change = max(change, set_impulse(y, new_y, response, velocity))
        set_side(number + 1, 0, system)
        set_side(number + 2, 0, system)
        system.slides[number] += 1
        return change
    change = solve_friction(normal, x, y, response, velocity)
    if friction_holds(normal, x, y, 0.999):
        set_side(number + 1, 1, system)
        set_side(number + 2, 1, system)
    return change


@inner_kernel
def _bring_into_cone(normal: Row, x: Row, y: Row, response: Vector, velocity: Vector) -> None:
    """Project the friction of a contact onto its bounds after the solution stopped early."""
    new_x, new_y = bounded_friction(normal, x.impulse, y.impulse)
    set_impulse(x, new_x, response, velocity)
    set_impulse(y, new_y, response, velocity)


@inner_kernel
def largest_error(
    rows: Records[Row], island_rows: Indices, island: Island, velocity: Vector
) -> tuple[float, int]:
    """Find the row of an island with the largest velocity error.

    The error of a row is the change of its velocity if only this row were solved again.

    Returns:
        (error [m/s], number of the row), or (0, -1) for an island without rows.
    """
    largest, worst = 0.0, -1
    for k in range(island.first, island.end):
        number = island_rows[k]
        row = rows[number]
        new = min(max(wanted_impulse(row, velocity), row.lower), row.upper)
        error = abs(new - row.impulse) * row.inverse_mass
        if error > largest:
            largest, worst = error, number
        if k < island.contact_end:
            normal, x, y = rows[number], rows[number + 1], rows[number + 2]
            along_x, along_y = row_velocity(x, velocity), row_velocity(y, velocity)
            new_x, new_y = wanted_friction(normal, x, y, along_x, along_y)
            error = abs(new_x - x.impulse) * x.inverse_mass
            error = max(error, abs(new_y - y.impulse) * y.inverse_mass)
            if error > largest:
                largest, worst = error, number + 1
    return largest, worst
