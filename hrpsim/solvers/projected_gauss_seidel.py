"""The extended projected Gauss-Seidel method (Nakaoka eqs. 16-21), matrix-free.

A row reads the velocity of the ports it touches, changes its impulse, and writes the change back
through its response: a sweep costs O(rows), and the matrix K of the papers is never formed.
The two friction rows of a contact move together, by one common step size, and are then brought
back to the disk of radius mu f_n; a common step makes the fixed point of a sliding contact point
exactly against the slip, which separate steps do not.
"""

from __future__ import annotations

import math

from hrpsim.compiled import inlined_kernel, inner_kernel
from hrpsim.constraints.rows import CONE, SLIP_DIRECTION, row_velocity


@inlined_kernel
def apply_impulse(row, impulse, response, velocity):
    """Add the motion that an impulse on `row` causes to the ports' velocity."""
    at, start = row.response_at, row.start_a
    for k in range(row.width_a):
        velocity[start + k] += response[at + k] * impulse
    if row.width_b > 0:
        at, start = at + row.width_a, row.start_b
        for k in range(row.width_b):
            velocity[start + k] += response[at + k] * impulse


@inner_kernel
def warm_start(rows, row_count, response, velocity):
    """Apply the impulses that the rows start from."""
    for number in range(row_count):
        row = rows[number]
        if row.impulse != 0.0:
            apply_impulse(row, row.impulse, response, velocity)


@inner_kernel
def solve(rows, contact_count, row_count, response, tolerance, sweep_limit, velocity):
    """Sweep until no row's velocity moves by more than `tolerance` [m/s]; write the impulses.

    `velocity` are the ports' velocities without constraint forces, after `warm_start`; it ends as
    the velocity with them. Returns (sweeps done, largest change in the last sweep [m/s]).
    """
    change = 0.0
    sweeps = 0
    while sweeps < sweep_limit:
        change = 0.0
        for c in range(contact_count):
            n = 3 * c
            moved = solve_contact(rows[n], rows[n + 1], rows[n + 2], response, velocity)
            change = max(change, moved)
        for number in range(3 * contact_count, row_count):
            change = max(change, solve_bounded_row(rows[number], response, velocity))
        sweeps += 1
        if change <= tolerance:
            break
    return sweeps, change


@inlined_kernel
def wanted_impulse(row, velocity):
    """Return the impulse that would give the row its target, all others held (eq. 17)."""
    if row.inverse_mass <= 0.0:
        return row.impulse
    short = row.target - row_velocity(row, velocity) - row.compliance * row.impulse
    return row.impulse + short / row.inverse_mass


@inlined_kernel
def set_impulse(row, new, response, velocity):
    """Give the row a new impulse; return how much its own velocity changes [m/s]."""
    change = new - row.impulse
    if change == 0.0:
        return 0.0
    row.impulse = new
    apply_impulse(row, change, response, velocity)
    return abs(change) * row.inverse_mass


@inlined_kernel
def solve_bounded_row(row, response, velocity):
    """Solve one row within its bounds; return its change of velocity [m/s]."""
    new = min(max(wanted_impulse(row, velocity), row.lower), row.upper)
    return set_impulse(row, new, response, velocity)


@inner_kernel
def solve_contact(normal, x, y, response, velocity):
    """Solve one contact's three rows in turn; return the largest change of velocity [m/s]."""
    change = solve_bounded_row(normal, response, velocity)
    return max(change, solve_friction(normal, x, y, response, velocity))


@inlined_kernel
def solve_friction(normal, x, y, response, velocity):
    """Solve the friction of one contact under its normal impulse; return the change [m/s].

    normal.friction_model says how: CONE, Nakaoka eqs. 19-21; PYRAMID, each tangent within
    +-mu f_n; SLIP_DIRECTION, one force of 0 to mu f_n along x.
    """
    limit = normal.friction * normal.impulse
    if limit == 0.0 and x.impulse == 0.0 and y.impulse == 0.0:
        return 0.0
    if normal.friction_model != CONE:
        return _solve_axes(normal.friction_model, limit, x, y, response, velocity)
    new_x = wanted_impulse(x, velocity)
    new_y = wanted_impulse(y, velocity)
    length = math.sqrt(new_x * new_x + new_y * new_y)
    if length > limit:
        scale = limit / length
        new_x *= scale
        new_y *= scale
    change = set_impulse(x, new_x, response, velocity)
    return max(change, set_impulse(y, new_y, response, velocity))


@inlined_kernel
def _solve_axes(model, limit, x, y, response, velocity):
    """Solve the friction along each tangent for itself."""
    if model == SLIP_DIRECTION:
        return set_impulse(x, min(max(wanted_impulse(x, velocity), 0.0), limit), response, velocity)
    new = min(max(wanted_impulse(x, velocity), -limit), limit)
    change = set_impulse(x, new, response, velocity)
    new = min(max(wanted_impulse(y, velocity), -limit), limit)
    return max(change, set_impulse(y, new, response, velocity))


@inner_kernel
def solve_bounded(rows, row_count, response, tolerance, sweep_limit, velocity):
    """Sweep over rows that have bounds only, no cones, as those of position corrections."""
    for _ in range(sweep_limit):
        change = 0.0
        for number in range(row_count):
            row = rows[number]
            if row.lower < row.upper:
                change = max(change, solve_bounded_row(row, response, velocity))
        if change <= tolerance:
            break
