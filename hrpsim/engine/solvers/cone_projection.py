# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find impulses with which all contacts stick, by sweeps over a convex problem (Anitescu 2006).

Redundant contacts can share a load in many ways. Gauss-Seidel sweeps bound friction by the present
normal impulses, and end with an arbitrary distribution. A contact may then slip although all
contacts would stick with another distribution. In this file the three impulses of a contact change
together, along the negative gradient of the energy of the relative velocities. The impulses are
then projected onto the cone |l_t| <= mu l_n. A slipping contact gets a larger normal impulse, and
contacts with unused friction get a smaller one.

If a distribution without slip exists, its energy is zero, so that the sweeps find it (the convex
problem of Anitescu, Math. Program. 105 (2006)). A contact that slips in this solution also
separates, which violates Coulomb's law. Gauss-Seidel sweeps therefore follow.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Contact,
    Indices,
    Island,
    Matrix,
    Records,
    Row,
    Vector,
)
from hrpsim.engine.constraints.friction_laws import is_isotropic, project_onto_cone
from hrpsim.engine.constraints.point_rows import point_velocity
from hrpsim.engine.constraints.solver_table import ITERATIVE
from hrpsim.engine.solvers.impulses import apply_three
from hrpsim.engine.solvers.projected_gauss_seidel import (
    add_momentum,
    begin_momentum,
    solve_bounded_row,
    solve_contact,
)

# The sweeps diverge where their change exceeds the least one by this factor.
_GROWTH = 1e3

# Share of the largest normal impulse of its island from which on a contact is loaded.
_LOADED = 1e-3

# They are given up where the largest slip falls by less than this factor in a period.
_NEARER = 0.8


@inlined_kernel
def has_free_cone(normal: Row) -> bool:
    """Return whether a contact's impulses may have any value in the friction cone.

    Only these contacts are projected onto their cones. Penalty contacts and contacts of the direct
    solver are excluded, because springs or the direct solver determine their impulses.
    """
    is_cone = normal.solver == ITERATIVE and is_isotropic(normal.friction_model)
    return is_cone and not normal.lower > 0.0


@inner_kernel  # many parameters: names the parts of the scene that it reads, not the scene
def solve_cones(
    contacts: Records[Contact], rows: Records[Row], island_rows: Indices, island: Island,
    response: Vector, tolerance: float, sweep_limit: int, period: int, velocity: Vector,
    work: Matrix,
) -> tuple[int, bool]:  # fmt: skip
    """Sweep forward and backward over an island until a pair of sweeps changes little.

    `projected_gauss_seidel.solve` explains the arguments. Contacts without a free cone are solved
    as in that function, and may make the problem non-convex. The sweeps end early if the changes
    grow. They also end if a contact slips nearly as fast as `period` sweeps before, because this
    contact cannot come to rest.

    Returns:
        (number of sweeps, whether all contacts may come to rest).
    """
    sweeps, age, limit = 0, 1.0, math.inf
    slip = _largest_slip(contacts, rows, island_rows, island, velocity)
    begin_momentum(rows, island_rows, island, work)
    while sweeps + 1 < sweep_limit:
        change = _sweep(rows, island_rows, island, response, velocity, False)
        change = max(change, _sweep(rows, island_rows, island, response, velocity, True))
        sweeps += 2
        limit = min(limit, _GROWTH * change)
        if change <= tolerance or not change <= limit:
            break
        if sweeps % period == 0:
            before, slip = slip, _largest_slip(contacts, rows, island_rows, island, velocity)
            if slip > _NEARER * before:
                return sweeps, False
        if sweeps + 1 < sweep_limit:
            age = add_momentum(rows, island_rows, island, response, age, velocity, work)
    return sweeps, True


@inner_kernel
def least_load(rows: Records[Row], island_rows: Indices, island: Island) -> float:
    """Return the normal impulse above which a contact of an island counts as loaded [Ns]."""
    largest = 0.0
    for k in range(island.first, island.contact_end):
        largest = max(largest, rows[island_rows[k]].impulse)
    return _LOADED * largest


@inner_kernel
def _largest_slip(
    contacts: Records[Contact],
    rows: Records[Row],
    island_rows: Indices,
    island: Island,
    velocity: Vector,
) -> float:
    """Return the largest slip of a loaded contact that did not slide at the start [m/s]."""
    largest, load = 0.0, least_load(rows, island_rows, island)
    for k in range(island.first, island.contact_end):
        n = island_rows[k]
        normal = rows[n]
        if normal.impulse > load and not contacts[n // 3].slides and has_free_cone(normal):
            _, x, y = point_velocity(normal, rows[n + 1], rows[n + 2], velocity)
            largest = max(largest, x * x + y * y)
    return math.sqrt(largest)


@inner_kernel
def _sweep(
    rows: Records[Row],
    island_rows: Indices,
    island: Island,
    response: Vector,
    velocity: Vector,
    back: bool,
) -> float:
    """Solve the rows of an island in turn, and return the largest change of a velocity [m/s].

    back: whether the sweep runs from the last row to the first.
    """
    change = 0.0
    for step in range(island.first, island.end):
        k = island.first + island.end - 1 - step if back else step
        n = island_rows[k]
        if k >= island.contact_end:
            change = max(change, solve_bounded_row(rows[n], response, velocity))
            continue
        normal, x, y = rows[n], rows[n + 1], rows[n + 2]
        if has_free_cone(normal):
            moved = _project_contact(normal, x, y, response, velocity)
        else:
            moved = solve_contact(normal, x, y, response, velocity)
        change = max(change, moved)
    return change


@inner_kernel
def _project_contact(normal: Row, x: Row, y: Row, response: Vector, velocity: Vector) -> float:
    """Move a contact's impulses against the contact's velocity, and project them onto the cone.

    Returns:
        The change of velocity [m/s].
    """
    along_n, along_x, along_y = point_velocity(normal, x, y, velocity)
    half = 0.5 * (normal.inverse_mass - x.inverse_mass)
    square = half * half + normal.cross * normal.cross + y.cross * y.cross
    largest = 0.5 * (normal.inverse_mass + x.inverse_mass) + math.sqrt(square)
    if largest <= 0.0:
        return 0.0
    step = 1.0 / largest
    new_n = normal.impulse + step * _short(normal, along_n)
    new_x, new_y = x.impulse + step * _short(x, along_x), y.impulse + step * _short(y, along_y)
    new_n, new_x, new_y = project_onto_cone(normal.friction, normal.upper, new_n, new_x, new_y)
    by_n, by_x, by_y = new_n - normal.impulse, new_x - x.impulse, new_y - y.impulse
    normal.impulse, x.impulse, y.impulse = new_n, new_x, new_y
    apply_three(normal, x, y, by_n, by_x, by_y, response, velocity)
    return largest * max(abs(by_n), abs(by_x), abs(by_y))


@inlined_kernel
def _short(row: Row, along: float) -> float:
    """Return the residual of a row: target minus velocity minus compliance term [m/s]."""
    return row.target - along - row.compliance * row.impulse
