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
from hrpsim.constraints.rows import JOINT_FRICTION, row_velocity


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
            moved = _solve_contact(rows[n], rows[n + 1], rows[n + 2], response, velocity)
            change = max(change, moved)
        for number in range(3 * contact_count, row_count):
            row = rows[number]
            new = wanted_impulse(row, row.impulse, row.target, velocity)
            new = min(max(new, row.lower), row.upper)
            change = max(change, _set_impulse(row, new, response, velocity))
        sweeps += 1
        if change <= tolerance:
            break
    return sweeps, change


@inlined_kernel
def wanted_impulse(row, impulse, target, velocity):
    """Return the impulse that would give the row its target, all others held (eq. 17)."""
    if row.inverse_mass <= 0.0:
        return impulse
    return impulse - (row_velocity(row, velocity) - target) / row.inverse_mass


@inlined_kernel
def _set_impulse(row, new, response, velocity):
    """Give the row a new impulse; return how much its own velocity changes [m/s]."""
    change = new - row.impulse
    if change == 0.0:
        return 0.0
    row.impulse = new
    apply_impulse(row, change, response, velocity)
    return abs(change) * row.inverse_mass


@inner_kernel
def _solve_contact(normal, x, y, response, velocity):
    """Solve one contact's three rows in turn; return the largest change of velocity [m/s]."""
    new = max(wanted_impulse(normal, normal.impulse, normal.target, velocity), 0.0)
    change = _set_impulse(normal, new, response, velocity)
    limit = normal.friction * new
    if limit == 0.0 and x.impulse == 0.0 and y.impulse == 0.0:
        return change
    new_x = wanted_impulse(x, x.impulse, 0.0, velocity)
    new_y = wanted_impulse(y, y.impulse, 0.0, velocity)
    length = math.sqrt(new_x * new_x + new_y * new_y)
    if length > limit:
        scale = limit / length
        new_x *= scale
        new_y *= scale
    change = max(change, _set_impulse(x, new_x, response, velocity))
    return max(change, _set_impulse(y, new_y, response, velocity))


@inner_kernel
def needs_push(rows, contact_count, row_count):
    """Return whether any row asks for a position correction."""
    for c in range(contact_count):
        if rows[3 * c].push > 0.0 or rows[3 * c].held:
            return True
    for number in range(3 * contact_count, row_count):
        row = rows[number]
        if row.push > 0.0 or (row.push != 0.0 and row.lower < 0.0):
            return True
    return False


@inner_kernel
def solve_push(rows, contact_count, row_count, response, tolerance, sweep_limit, velocity):
    """Find the impulses of the position correction; write push_impulse.

    `velocity` starts as zero: it is a displacement rate, never added to the state's velocity, so
    that taking back penetration gives no kinetic energy.
    """
    for number in range(row_count):
        rows[number].push_impulse = 0.0
    for _ in range(sweep_limit):
        change = 0.0
        for number in range(row_count):
            row = rows[number]
            is_contact = number < 3 * contact_count
            is_tangent = is_contact and number % 3 != 0
            if row.kind == JOINT_FRICTION or row.inverse_mass <= 0.0:
                continue
            if is_tangent and not row.held:
                continue
            new = wanted_impulse(row, row.push_impulse, row.push, velocity)
            if not is_contact:
                new = min(max(new, row.lower), row.upper)
            elif not row.held:
                new = max(new, 0.0)
            moved = new - row.push_impulse
            if moved != 0.0:
                row.push_impulse = new
                apply_impulse(row, moved, response, velocity)
                change = max(change, abs(moved) * row.inverse_mass)
        if change <= tolerance:
            break
