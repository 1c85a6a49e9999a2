"""The constraint part of a step: rows, their solution, and what it does to the motion."""

from __future__ import annotations

import math

import numpy as np

from hrpsim.constraints.connection_rows import is_rigid, remember_connection_impulses
from hrpsim.constraints.contact_rows import friction_impulses
from hrpsim.constraints.displacement import (
    asks_for_displacement,
    turn_to_displacement,
    turn_to_motion,
)
from hrpsim.constraints.joint_rows import remember_joint_impulses
from hrpsim.constraints.rows import DESCENT, DIRECT, ITERATIVE
from hrpsim.constraints.spring_rows import ROWS, remember_spring_impulses
from hrpsim.dynamics.articulated import respond
from hrpsim.dynamics.response import port_velocities
from hrpsim.jit.compiled import inlined_kernel, inner_kernel, late_kernel
from hrpsim.jit.late import DIRECT_ISLAND, STEEPEST_DESCENT, call_with_scene
from hrpsim.solvers.coupled import largest_error, solve_coupled
from hrpsim.solvers.impulses import warm_start
from hrpsim.solvers.projected_gauss_seidel import solve, solve_bounded
from hrpsim.solvers.steepest_descent import PENALTY_WEIGHT, descend
from hrpsim.step.rows.grip import hold_what_slips
from hrpsim.step.rows.loads import add_load, clear_loads, hold_loads
from hrpsim.step.scene.islands import allowed_sweeps, find_worst
from hrpsim.step.scene.scene import RK4
from hrpsim.step.scene.status import DONE

# Steps that the steepest descent may take in one step of the world.
_DESCENT_STEPS = np.int64(2000)

# What a row costs in a round of the direct solver, in updates of a row.
_OF_ROUND = 8

# Residual of a step after which the direct rows are taken to contradict each other [m/s].
_HOPELESS = 1e-3


@inlined_kernel
def constrain(s):
    """Find the impulses of contacts and joint constraints, and the motion they add."""
    if s.tally[0].row_count == 0:
        clear_constraint_motion(s)
        return DONE
    return solve_motion(s)


@inlined_kernel
def solve_rows(s):
    """Solve all islands with the solvers chosen for their rows, from and to s.ports.velocity."""
    tally, rows, units, response = s.tally[0], s.rows.rows, s.rows.units, s.rows.response
    settings, velocity = s.settings[0], s.ports.velocity
    tolerance = settings.tolerance
    has_cones = tally.displaces == 0
    sweeps, residual, converged = 0, 0.0, True
    for k in range(tally.island_count):
        span = s.islands.spans[k]
        if k == tally.direct_island:
            continue
        limit = allowed_sweeps(span, settings) if has_cones else settings.sweep_limit
        if has_cones:
            count, change, done = solve(
                rows,
                tally.row_count,
                units,
                span,
                response,
                tolerance,
                settings.relative_tolerance,
                limit,
                velocity,
                s.rows.descent,
            )
            span.sweeps, span.converged = count, done
            sweeps, residual = max(sweeps, count), max(residual, change)
            converged = converged and done
        else:
            solve_bounded(rows, units, span, response, tolerance, limit, velocity)
    if has_cones:
        tally.sweeps, tally.residual, tally.converged = sweeps, residual, converged
    if tally.direct_island >= 0:
        call_with_scene(s, DIRECT_ISLAND, (tolerance,))
    if has_cones and not tally.converged:
        _, tally.worst_row = find_worst(s)


@late_kernel
def solve_direct_island(s, tolerance):
    """Solve the island with the rows for the direct solver, to `tolerance` [m/s].

    Returns how many updates of rows would have taken about as long.
    """
    tally, rows, units, response = s.tally[0], s.rows.rows, s.rows.units, s.rows.response
    settings, velocity = s.settings[0], s.ports.velocity
    has_cones = tally.displaces == 0
    span = s.islands.spans[tally.direct_island]
    before = span.sweeps if span.slips else 0
    limit = allowed_sweeps(span, settings) - before if has_cones else settings.sweep_limit
    rounds, factorisations, finished = solve_coupled(
        rows,
        tally.row_count,
        units,
        span,
        has_cones,
        response,
        tolerance,
        limit,
        velocity,
        s.direct,
    )
    tally.factorisations += factorisations
    tally.unfinished += 0 if finished else 1
    if has_cones:
        error, _ = largest_error(rows, units, span, velocity)
        span.sweeps, span.converged = before + rounds, error <= tolerance
        tally.sweeps, tally.residual = max(tally.sweeps, span.sweeps), max(tally.residual, error)
        tally.converged = tally.converged and error <= tolerance
    return tally.row_count * (_OF_ROUND * (rounds + 1) + factorisations * tally.row_count)


@inlined_kernel
def solve_motion(s):
    """Solve for the impulses; write the joint and body accelerations they add.

    The rows look at the motion of the step's first Jacobian under the velocity at its end, for
    that is what moves the bodies; velocity-product accelerations of the links take no part.
    Returns DONE, or NEEDS_KERNEL.
    """
    tally, work, ports = s.tally[0], s.work, s.ports
    rows, response = s.rows.rows, s.rows.response
    time_step = s.settings[0].time_step
    for k in range(work.change.shape[0]):
        work.change[k] = s.velocity[k] + time_step * work.dv[k]
    port_velocities(s.forest, s.kinematics, work.change, tally.port_count, ports)
    if tally.residual > _HOPELESS:
        forget_direct_impulses(rows, tally.row_count)
    warm_start(rows, tally.contact_count, tally.row_count, response, ports.velocity)
    tally.descents, tally.short = 0, 0.0
    if s.spring_hinges.shape[0] > 0:
        call_with_scene(s, STEEPEST_DESCENT, ())
    solve_rows(s)
    if s.settings[0].relative_tolerance == 0.0:
        status = hold_what_slips(s)
        if status != DONE:
            return status
    clear_loads(s)
    rate = 1.0 / time_step
    for number in range(tally.row_count):
        if not is_solved_at_stages(s, rows[number]):
            add_load(s, rows[number], rate * rows[number].impulse)
    hold_loads(s)
    for number in range(tally.row_count):
        if is_solved_at_stages(s, rows[number]):
            add_load(s, rows[number], rate * rows[number].impulse)
    respond(s.forest, s.kinematics, s.articulated, work.joint_load, work.change)
    return DONE


@late_kernel
def descend_springs(s):
    """Find the constraint forces of springs for the steepest descent; hold them from there on."""
    tally, rows = s.tally[0], s.rows.rows
    first = tally.row_count - ROWS * s.spring_hinges.shape[0]
    wanted = False
    for number in range(first, tally.row_count):
        wanted = wanted or rows[number].solver == DESCENT
    if not wanted:
        return DONE
    tally.descents, tally.short, _ = descend(
        rows,
        first,
        tally.row_count,
        s.rows.response,
        PENALTY_WEIGHT,
        _DESCENT_STEPS,
        s.ports.velocity,
        s.rows.descent[0],
        s.rows.descent[1],
    )
    for number in range(first, tally.row_count):
        row = rows[number]
        if row.solver == DESCENT:
            row.lower = row.upper = row.impulse
            row.solver = ITERATIVE
    return DONE


@inlined_kernel
def is_solved_at_stages(s, row):
    """Return whether a row's force is found at every stage of rk4, not held over the step."""
    return s.settings[0].integrator == RK4 and row.solver == DIRECT and is_rigid(row)


@inner_kernel
def forget_direct_impulses(rows, row_count):
    """Let direct rows without bounds start from nothing, after a step that could not satisfy them.

    Rows that contradict each other press harder every time that they are solved again from where
    they are; those that do not need no start.
    """
    for number in range(row_count):
        row = rows[number]
        if row.solver == DIRECT and math.isinf(row.lower) and math.isinf(row.upper):
            row.impulse = 0.0


@inlined_kernel
def plan_push(s):
    """Find the displacement rate that takes back penetration and limit violation: work.push."""
    tally = s.tally[0]
    tally.pushed = 0
    if asks_for_displacement(s.rows.rows, tally.contact_count, tally.row_count):
        solve_displacement(s)


@inner_kernel
def solve_displacement(s):
    """Find the displacement rate that the rows ask for: work.push."""
    tally, ports, rows = s.tally[0], s.ports, s.rows.rows
    tally.pushed = 1
    for k in range(ports.velocity.shape[0]):
        ports.velocity[k] = 0.0
    turn_to_displacement(rows, tally.row_count)
    tally.displaces = 1
    solve_rows(s)
    tally.displaces = 0
    clear_loads(s)
    for number in range(tally.row_count):
        add_load(s, rows[number], rows[number].impulse)
    turn_to_motion(rows, tally.row_count)
    respond(s.forest, s.kinematics, s.articulated, s.work.joint_load, s.work.push)


@inner_kernel
def clear_constraint_motion(s):
    """Say that no constraint adds anything."""
    clear_loads(s)
    hold_loads(s)
    for i in range(s.articulated.shape[0]):
        da = s.articulated[i].da
        for r in range(6):
            da[r] = 0.0
    for k in range(s.work.change.shape[0]):
        s.work.change[k] = 0.0
    s.tally[0].sweeps = 0
    s.tally[0].residual = 0.0
    s.tally[0].converged = 1
    s.tally[0].worst_row = -1


@inlined_kernel
def remember_impulses(s):
    """Keep the impulses of this step for the next one's start."""
    tally, rows = s.tally[0], s.rows.rows
    contacts, previous = s.collision.contacts, s.collision.previous
    tally.penetration = 0.0
    tally.previous_count = tally.contact_count
    tally.born_count += tally.new_count
    for c in range(tally.contact_count):
        contact = contacts[c]
        tally.penetration = max(tally.penetration, -contact.gap)
        normal, x, y = rows[3 * c], rows[3 * c + 1], rows[3 * c + 2]
        contact.warm[0] = normal.impulse
        contact.warm[1], contact.warm[2] = friction_impulses(contact, normal, x, y)
        for r in range(3):
            contact.impulse[r] = contact.warm[r] + contact.struck[r]
        previous[c] = contact
    remember_connection_impulses(rows, s.connections)
    remember_spring_impulses(rows, s.spring_hinges)
    remember_joint_impulses(rows, 3 * tally.contact_count, tally.row_count, s.joint_impulses)
