"""The constraint part of a step: rows, their solution, and what it does to the motion."""

from __future__ import annotations

import math

import numpy as np

from hrpsim.collision.contacts import copy_friction_state
from hrpsim.compiled import inlined_kernel, inner_kernel
from hrpsim.constraints.connection_rows import (
    connection_response_space,
    is_rigid,
    mark_connection_ports,
    remember_connection_impulses,
    write_connection_rows,
)
from hrpsim.constraints.contact_rows import (
    contact_response_space,
    friction_impulses,
    mark_contact_ports,
    write_contact_rows,
)
from hrpsim.constraints.displacement import (
    asks_for_displacement,
    turn_to_displacement,
    turn_to_motion,
)
from hrpsim.constraints.joint_rows import (
    mark_joint_ports,
    remember_joint_impulses,
    write_joint_rows,
)
from hrpsim.constraints.penalty_rows import STABLE_BELOW, write_penalty_rows
from hrpsim.constraints.rows import DESCENT, DIRECT, ITERATIVE, SPLIT
from hrpsim.constraints.spring_rows import (
    ROWS,
    mark_spring_ports,
    remember_spring_impulses,
    write_spring_rows,
)
from hrpsim.dynamics.articulated import respond
from hrpsim.dynamics.response import number_ports, port_responses, port_velocities
from hrpsim.solvers.coupled import largest_error, solve_coupled
from hrpsim.solvers.direct_system import assemble_direct_system
from hrpsim.solvers.projected_gauss_seidel import solve, solve_bounded, warm_start
from hrpsim.solvers.steepest_descent import PENALTY_WEIGHT, descend
from hrpsim.world.islands import find_islands, find_worst
from hrpsim.world.scene import RK4, SEMI_IMPLICIT
from hrpsim.world.status import (
    DONE,
    MORE_BLOCKS,
    MORE_DIRECT,
    MORE_RESPONSES,
    MORE_ROWS,
    TOO_STIFF,
)

# Contacts that begin have no impulses to start from and need more sweeps: up to this many times the
# limit, as long as that is not more than so many updates of rows (about a millisecond).
_COLD_SWEEPS = 10
_COLD_UPDATES = 50_000

# Steps that the steepest descent may take in one step of the world.
_DESCENT_STEPS = np.int64(2000)

# Residual of a step after which the direct rows are taken to contradict each other [m/s].
_HOPELESS = 1e-3


@inlined_kernel
def constrain(s):
    """Find the impulses of contacts and joint constraints, and the motion they add."""
    status = prepare_rows(s)
    if status != DONE:
        return status
    if s.tally[0].row_count == 0:
        clear_constraint_motion(s)
    else:
        solve_motion(s)
    return DONE


@inlined_kernel
def prepare_rows(s):
    """Write every row, or say which array must grow first."""
    tally, settings = s.tally[0], s.settings[0]
    time_step = settings.time_step
    tally.direct_rows = tally.split_rows = tally.factorisations = tally.unfinished = 0
    contacts, contact_count = s.collision.contacts, tally.contact_count
    mark_contact_ports(contacts, contact_count, s.ports)
    joint_row_count = mark_joint_ports(
        s.forest, s.q, s.velocity, time_step, s.joint_holds, s.joint_impulses, s.ports
    )
    connection_row_count = mark_connection_ports(s.connections, s.ports)
    spring_row_count = mark_spring_ports(s.spring_hinges, s.ports)
    tally.row_count = 3 * contact_count + connection_row_count + joint_row_count
    tally.row_count += spring_row_count
    tally.island_count, tally.direct_island = 0, -1
    if tally.row_count == 0:
        return DONE
    tally.needed = tally.row_count
    if tally.row_count > s.rows.rows.shape[0]:
        return MORE_ROWS
    tally.port_count, tally.needed = number_ports(s.forest, s.ports)
    if tally.needed > s.ports.block.shape[0]:
        return MORE_BLOCKS
    tally.needed = contact_response_space(s.forest, contacts, contact_count, s.ports)
    tally.needed += 2 * joint_row_count * s.ports.velocity.shape[0]
    tally.needed += connection_response_space(s.forest, s.connections, s.ports)
    tally.needed += 12 * spring_row_count
    if tally.needed > s.rows.response.shape[0]:
        return MORE_RESPONSES
    port_responses(s.forest, s.kinematics, s.articulated, tally.port_count, s.ports)
    port_velocities(s.forest, s.kinematics, s.velocity, tally.port_count, s.ports)
    used = write_contact_rows(
        s.forest,
        contacts,
        contact_count,
        s.collision.shapes,
        s.materials,
        s.solver_choice,
        settings,
        time_step,
        s.work.directions,
        s.ports,
        s.rows,
    )
    tally.stiffness, stiffest = write_penalty_rows(
        s.forest,
        s.kinematics,
        contacts,
        contact_count,
        s.collision.shapes,
        s.materials,
        s.solver_choice,
        settings,
        time_step,
        s.work.directions,
        s.ports,
        s.rows,
    )
    if tally.stiffness >= STABLE_BELOW:
        tally.needed = stiffest
        return TOO_STIFF
    number, used = write_connection_rows(
        s.forest,
        s.kinematics,
        time_step,
        0.5 * time_step if settings.integrator == SEMI_IMPLICIT else time_step,
        settings,
        s.connections,
        s.work.joined[0],
        s.ports,
        3 * contact_count,
        used,
        s.rows,
    )
    number, used = write_joint_rows(
        s.forest,
        s.q,
        s.velocity,
        time_step,
        settings,
        s.joint_laws,
        s.joint_holds,
        s.joint_impulses,
        s.ports,
        number,
        used,
        s.rows,
    )
    write_spring_rows(
        s.forest,
        s.kinematics,
        s.spring_hinges,
        settings,
        time_step,
        s.work.placed_hinge[0],
        s.ports,
        number,
        used,
        s.rows,
    )
    find_islands(s)
    return assemble_direct(s)


@inlined_kernel
def assemble_direct(s):
    """Write the direct solver's system, if any row is for it."""
    tally = s.tally[0]
    for number in range(tally.row_count):
        solver = s.rows.rows[number].solver
        tally.direct_rows += 1 if solver == DIRECT else 0
        tally.split_rows += 1 if solver == SPLIT else 0
    if tally.direct_rows + tally.split_rows == 0:
        return DONE
    if assemble_direct_system(s.forest, s.ports, s.rows, tally.row_count, s.direct):
        return DONE
    return MORE_DIRECT


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
            )
            sweeps, residual = max(sweeps, count), max(residual, change)
            converged = converged and done
        else:
            solve_bounded(rows, units, span, response, tolerance, limit, velocity)
    if tally.direct_island >= 0:
        span = s.islands.spans[tally.direct_island]
        limit = allowed_sweeps(span, settings) if has_cones else settings.sweep_limit
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
            sweeps, residual = max(sweeps, rounds), max(residual, error)
            converged = converged and error <= tolerance
    if has_cones:
        tally.sweeps, tally.residual, tally.converged = sweeps, residual, converged
        if not converged:
            _, tally.worst_row = find_worst(s)


@inlined_kernel
def solve_motion(s):
    """Solve for the impulses; write the joint and body accelerations they add.

    The rows look at the motion of the step's first Jacobian under the velocity at its end, for
    that is what moves the bodies; velocity-product accelerations of the links take no part.
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
    descend_springs(s)
    solve_rows(s)
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


@inner_kernel
def descend_springs(s):
    """Find the constraint forces of springs for the steepest descent; hold them from there on."""
    tally, rows = s.tally[0], s.rows.rows
    tally.descents, tally.short = 0, 0.0
    first = tally.row_count - ROWS * s.spring_hinges.shape[0]
    wanted = False
    for number in range(first, tally.row_count):
        wanted = wanted or rows[number].solver == DESCENT
    if not wanted:
        return
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


@inner_kernel
def allowed_sweeps(span, settings):
    """Return the sweep limit of an island in this step."""
    if span.new_count == 0:
        return settings.sweep_limit
    row_count = 2 * (span.contact_end - span.first) + span.end - span.first
    more = min(_COLD_SWEEPS * settings.sweep_limit, _COLD_UPDATES // row_count)
    return max(settings.sweep_limit, more)


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


@inlined_kernel
def add_load(s, row, force):
    """Add what a row does with `force` to the bodies' loads and the joints' efforts."""
    if force == 0.0:
        return
    _add_to_port(s, row.port_a, row.J_a, force)
    if row.port_b >= 0:
        _add_to_port(s, row.port_b, row.J_b, force)


@inlined_kernel
def _add_to_port(s, number, J, force):
    """Add the force along J on a port."""
    port = s.ports.ports[number]
    if port.dof >= 0:
        s.work.joint_load[port.dof] += J[0] * force
    else:
        load = s.articulated[port.body].load
        for r in range(6):
            load[r] += J[r] * force


@inlined_kernel
def clear_loads(s):
    """Empty the bodies' loads and the joints' constraint efforts."""
    clear_body_loads(s)
    for k in range(s.work.joint_load.shape[0]):
        s.work.joint_load[k] = 0.0


@inlined_kernel
def clear_body_loads(s):
    """Empty the bodies' loads."""
    for i in range(s.articulated.shape[0]):
        load = s.articulated[i].load
        for r in range(6):
            load[r] = 0.0


@inlined_kernel
def hold_loads(s):
    """Keep the constraint forces on bodies for RK4's later stages."""
    if s.settings[0].integrator != RK4:
        return
    for i in range(s.articulated.shape[0]):
        held, load, here = s.work.held[i], s.articulated[i].load, s.kinematics[i]
        for r in range(6):
            held.load[r] = load[r]
        for r in range(3):
            held.p[r], held.origin[r] = here.p[r], here.origin[r]


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
        contact, kept = contacts[c], previous[c]
        copy_friction_state(contact, kept)
        tally.penetration = max(tally.penetration, -contact.gap)
        kept.shape_a, kept.shape_b = contact.shape_a, contact.shape_b
        kept.feature = contact.feature
        kept.axis_angle = contact.axis_angle
        normal, x, y = rows[3 * c], rows[3 * c + 1], rows[3 * c + 2]
        kept.impulse[0] = normal.impulse
        kept.impulse[1], kept.impulse[2] = friction_impulses(contact, normal, x, y)
        for r in range(3):
            contact.impulse[r] = kept.impulse[r] + contact.struck[r]
    remember_connection_impulses(rows, s.connections)
    remember_spring_impulses(rows, s.spring_hinges)
    remember_joint_impulses(rows, 3 * tally.contact_count, tally.row_count, s.joint_impulses)
