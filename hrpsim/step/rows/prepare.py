"""The rows of a step: how many there are, what they say, which islands they make."""

from __future__ import annotations

from hrpsim.constraints.connection_rows import (
    connection_response_space,
    mark_connection_ports,
    write_connection_rows,
)
from hrpsim.constraints.contact_rows import (
    contact_response_space,
    mark_contact_ports,
    write_contact_rows,
)
from hrpsim.constraints.joint_rows import mark_joint_ports, write_joint_rows
from hrpsim.constraints.penalty_rows import STABLE_BELOW, write_penalty_rows
from hrpsim.constraints.rows import DIRECT, SPLIT
from hrpsim.constraints.spring_rows import mark_spring_ports, write_spring_rows
from hrpsim.dynamics.response import number_ports, port_responses, port_velocities
from hrpsim.jit.compiled import inlined_kernel, late_kernel
from hrpsim.jit.late import (
    CONNECTIONS,
    DIRECT_SYSTEM,
    PENALTY_CONTACTS,
    SPRING_HINGES,
    call_with_scene,
)
from hrpsim.solvers.direct_system import assemble_direct_system
from hrpsim.step.scene.islands import find_islands
from hrpsim.step.scene.scene import SEMI_IMPLICIT
from hrpsim.step.scene.status import (
    DONE,
    MORE_BLOCKS,
    MORE_DIRECT,
    MORE_RESPONSES,
    MORE_ROWS,
    NEEDS_KERNEL,
    TOO_STIFF,
)


@inlined_kernel
def prepare_rows(s):
    """Write every row, or say which array must grow first."""
    status = _count_rows(s)
    if status != DONE or s.tally[0].row_count == 0:
        return status
    status = _write_rows(s)
    if status != DONE:
        return status
    find_islands(s)
    return assemble_direct(s)


@inlined_kernel
def _count_rows(s):
    """Count the rows and the room that they need, or say which array must grow first."""
    tally, settings = s.tally[0], s.settings[0]
    time_step = settings.time_step
    tally.direct_rows = tally.split_rows = tally.factorisations = tally.unfinished = 0
    contacts, contact_count = s.collision.contacts, tally.contact_count
    mark_contact_ports(contacts, contact_count, s.ports)
    joint_row_count = mark_joint_ports(
        s.forest, s.q, s.velocity, time_step, s.joint_holds, s.joint_impulses, s.ports
    )
    tally.connection_rows = mark_connection_ports(s.connections, s.ports)
    spring_row_count = mark_spring_ports(s.spring_hinges, s.ports)
    tally.row_count = 3 * contact_count + tally.connection_rows + joint_row_count
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
    return DONE


@inlined_kernel
def _write_rows(s):
    """Write every row into the room that there is; TOO_STIFF where a penalty contact explodes."""
    tally, settings = s.tally[0], s.settings[0]
    time_step = settings.time_step
    contacts, contact_count = s.collision.contacts, tally.contact_count
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
    if s.late[PENALTY_CONTACTS] != 0:
        status = call_with_scene(s, PENALTY_CONTACTS, ())
        if status != DONE:
            return status
    if tally.connection_rows > 0:
        used = call_with_scene(s, CONNECTIONS, (used,))
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
        3 * contact_count + tally.connection_rows,
        used,
        s.rows,
    )
    if s.spring_hinges.shape[0] > 0:
        call_with_scene(s, SPRING_HINGES, (number, used))
    return DONE


@late_kernel
def write_penalties(s):
    """Give the rows of penalty contacts their impulses; TOO_STIFF where one explodes."""
    tally = s.tally[0]
    tally.stiffness, stiffest = write_penalty_rows(
        s.forest,
        s.kinematics,
        s.collision.contacts,
        tally.contact_count,
        s.collision.shapes,
        s.materials,
        s.solver_choice,
        s.settings[0],
        s.settings[0].time_step,
        s.work.directions,
        s.ports,
        s.rows,
    )
    if tally.stiffness < STABLE_BELOW:
        return DONE
    tally.needed = stiffest
    return TOO_STIFF


@late_kernel
def write_connections(s, used):
    """Write the rows of connections; return the response space used."""
    settings = s.settings[0]
    time_step = settings.time_step
    _, used = write_connection_rows(
        s.forest,
        s.kinematics,
        time_step,
        0.5 * time_step if settings.integrator == SEMI_IMPLICIT else time_step,
        settings,
        s.connections,
        s.work.joined[0],
        s.ports,
        3 * s.tally[0].contact_count,
        used,
        s.rows,
    )
    return used


@late_kernel
def write_springs(s, first, used):
    """Write the rows of spring hinges from row `first` on."""
    write_spring_rows(
        s.forest,
        s.kinematics,
        s.spring_hinges,
        s.settings[0],
        s.settings[0].time_step,
        s.work.placed_hinge[0],
        s.ports,
        first,
        used,
        s.rows,
    )
    return DONE


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
    if s.late[DIRECT_SYSTEM] == 0:
        tally.needed = DIRECT_SYSTEM
        return NEEDS_KERNEL
    return call_with_scene(s, DIRECT_SYSTEM, ())


@late_kernel
def write_direct_system(s):
    """Write the direct solver's system, or say that it must grow."""
    if assemble_direct_system(s.forest, s.ports, s.rows, s.tally[0].row_count, s.direct):
        return DONE
    return MORE_DIRECT
