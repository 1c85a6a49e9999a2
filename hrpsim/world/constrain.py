"""The constraint part of a step: rows, their solution, and what it does to the motion."""

from __future__ import annotations

from hrpsim.compiled import inner_kernel
from hrpsim.constraints.contact_rows import (
    contact_response_space,
    mark_contact_ports,
    write_contact_rows,
)
from hrpsim.constraints.joint_rows import (
    mark_joint_ports,
    remember_joint_impulses,
    write_joint_rows,
)
from hrpsim.constraints.rows import CONTACT_ROW
from hrpsim.dynamics.articulated import respond
from hrpsim.dynamics.response import number_ports, port_responses, port_velocities
from hrpsim.solvers.projected_gauss_seidel import needs_push, solve, solve_push, warm_start
from hrpsim.world.status import DONE, MORE_BLOCKS, MORE_RESPONSES, MORE_ROWS

# Contacts that begin have no impulses to start from and need more sweeps: up to this many times the
# limit, as long as that is not more than so many updates of rows (about a millisecond).
_COLD_SWEEPS = 10
_COLD_UPDATES = 50_000


@inner_kernel
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


@inner_kernel
def prepare_rows(s):
    """Write every row, or say which array must grow first."""
    tally, settings = s.tally[0], s.settings[0]
    time_step = settings.time_step
    contacts, contact_count = s.collision.contacts, tally.contact_count
    mark_contact_ports(contacts, contact_count, s.ports)
    joint_row_count = mark_joint_ports(
        s.forest, s.q, s.velocity, time_step, s.joint_impulses, s.ports
    )
    tally.row_count = 3 * contact_count + joint_row_count
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
        settings,
        time_step,
        s.work.directions,
        s.ports,
        s.rows,
    )
    write_joint_rows(
        s.forest,
        s.q,
        s.velocity,
        time_step,
        settings,
        s.joint_impulses,
        s.ports,
        3 * contact_count,
        used,
        s.rows,
    )
    return DONE


@inner_kernel
def solve_motion(s):
    """Solve for the impulses; write the joint and body accelerations they add.

    The rows look at the motion of the step's first Jacobian under the velocity at its end, for
    that is what moves the bodies; velocity-product accelerations of the links take no part.
    """
    tally, settings, work, ports = s.tally[0], s.settings[0], s.work, s.ports
    rows, response = s.rows.rows, s.rows.response
    time_step = settings.time_step
    for k in range(work.change.shape[0]):
        work.change[k] = s.velocity[k] + time_step * work.dv[k]
    port_velocities(s.forest, s.kinematics, work.change, tally.port_count, ports)
    warm_start(rows, tally.row_count, response, ports.velocity)
    tally.sweeps, tally.residual = solve(
        rows,
        tally.contact_count,
        tally.row_count,
        response,
        settings.tolerance,
        allowed_sweeps(tally, settings),
        ports.velocity,
    )
    clear_loads(s)
    for number in range(tally.row_count):
        row = rows[number]
        add_load(s, row, row.impulse / time_step)
    hold_loads(s)
    respond(s.forest, s.kinematics, s.articulated, work.joint_load, work.change)


@inner_kernel
def allowed_sweeps(tally, settings):
    """Return the sweep limit of this step."""
    if tally.new_count == 0:
        return settings.sweep_limit
    more = min(_COLD_SWEEPS * settings.sweep_limit, _COLD_UPDATES // tally.row_count)
    return max(settings.sweep_limit, more)


@inner_kernel
def plan_push(s):
    """Find the displacement rate that takes back penetration and limit violation: work.push."""
    tally, settings, work, ports = s.tally[0], s.settings[0], s.work, s.ports
    rows, response = s.rows.rows, s.rows.response
    tally.pushed = 0
    if not needs_push(rows, tally.contact_count, tally.row_count):
        return
    tally.pushed = 1
    for k in range(ports.velocity.shape[0]):
        ports.velocity[k] = 0.0
    solve_push(
        rows,
        tally.contact_count,
        tally.row_count,
        response,
        settings.tolerance,
        settings.sweep_limit,
        ports.velocity,
    )
    clear_loads(s)
    for number in range(tally.row_count):
        row = rows[number]
        if row.push_impulse != 0.0:
            add_load(s, row, row.push_impulse)
    respond(s.forest, s.kinematics, s.articulated, work.joint_load, work.push)


@inner_kernel
def add_load(s, row, force):
    """Add what a row does with `force` to the bodies' loads and the joints' efforts."""
    if force == 0.0:
        return
    if row.source < s.tally[0].contact_count and row.kind == CONTACT_ROW:
        contact = s.collision.contacts[row.source]
        first = contact.body_a if contact.body_a >= 0 else contact.body_b
        load = s.articulated[first].load
        for r in range(6):
            load[r] += row.J_a[r] * force
        if row.at_b >= 0:
            load = s.articulated[contact.body_b].load
            for r in range(6):
                load[r] += row.J_b[r] * force
    else:
        s.work.joint_load[row.source] += row.J_a[0] * force
        if row.at_b >= 0:
            s.work.joint_load[row.leader] += row.J_b[0] * force


@inner_kernel
def clear_loads(s):
    """Empty the bodies' loads and the joints' constraint efforts."""
    for i in range(s.articulated.shape[0]):
        load = s.articulated[i].load
        for r in range(6):
            load[r] = 0.0
    for k in range(s.work.joint_load.shape[0]):
        s.work.joint_load[k] = 0.0


@inner_kernel
def hold_loads(s):
    """Keep the constraint forces on bodies for RK4's later stages."""
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


@inner_kernel
def remember_impulses(s):
    """Keep the impulses of this step for the next one's start."""
    tally, rows = s.tally[0], s.rows.rows
    contacts, previous = s.collision.contacts, s.collision.previous
    tally.penetration = 0.0
    tally.previous_count = tally.contact_count
    for c in range(tally.contact_count):
        contact, kept = contacts[c], previous[c]
        tally.penetration = max(tally.penetration, -contact.gap)
        kept.shape_a, kept.shape_b = contact.shape_a, contact.shape_b
        kept.feature = contact.feature
        for r in range(3):
            kept.impulse[r] = rows[3 * c + r].impulse
            contact.impulse[r] = kept.impulse[r] + contact.struck[r]
    remember_joint_impulses(rows, 3 * tally.contact_count, tally.row_count, s.joint_impulses)
