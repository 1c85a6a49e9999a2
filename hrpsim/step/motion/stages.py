"""Forces of rigid connections at each stage of an rk4 step.

Held over a step, a force keeps the direction it had at the start: a linkage that turns would gain
energy, to first order. So rigid connections on the direct solver are solved again at every stage,
for accelerations: J a = -dJ/dt v - 2 k dg/dt - k^2 g. The errors g are those at the start of the
step, for what a stage adds to them is the method's own, and taking it back would cost its order.
Contacts, limits, springs and whatever else has bounds keep the force of the step.
"""

from __future__ import annotations

from hrpsim.constraints.connection_rows import write_stage_rows
from hrpsim.dynamics.articulated import respond
from hrpsim.dynamics.response import port_responses, port_velocities
from hrpsim.jit.compiled import inner_kernel, late_kernel
from hrpsim.solvers.block_ldl import factorise
from hrpsim.solvers.direct_system import write_direct_matrix
from hrpsim.solvers.pivoting import set_side, solve_active_rows
from hrpsim.step.motion.momentum import expect_loads
from hrpsim.step.rows.constrain import is_solved_at_stages
from hrpsim.step.rows.loads import add_load, clear_body_loads
from hrpsim.step.scene.status import DONE

_DECAY = 0.2  # k times the time step


@inner_kernel
def begin_stages(s):
    """Return whether any row is solved at the stages; forget what they used before."""
    found = False
    if s.tally[0].direct_rows == 0:
        return found
    for number in range(s.tally[0].row_count):
        if is_solved_at_stages(s, s.rows.rows[number]):
            found = True
        s.direct.before[number] = 0.0
    return found


@late_kernel
def solve_stage(s, stage):
    """Add to work.dv what rigid connections do at this stage; count their forces."""
    tally, work, ports, rows = s.tally[0], s.work, s.ports, s.rows.rows
    port_responses(s.forest, s.kinematics, s.articulated, tally.port_count, ports)
    port_velocities(s.forest, s.kinematics, s.velocity, tally.port_count, ports)
    decay = _DECAY / s.settings[0].time_step if stage == 0 else 0.0
    weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
    write_stage_rows(s.forest, s.kinematics, decay, s.connections, work.joined[0], ports, s.rows)
    port_velocities(s.forest, s.kinematics, work.dv, tally.port_count, ports)
    _solve(s)
    clear_body_loads(s)
    for number in range(tally.row_count):
        if s.direct.active[number]:
            add_load(s, rows[number], rows[number].impulse)
            s.direct.before[number] += weight * rows[number].impulse
    expect_loads(s, weight * s.settings[0].time_step)
    respond(s.forest, s.kinematics, s.articulated, work.no_effort, work.change)
    for k in range(work.dv.shape[0]):
        work.dv[k] += work.change[k]
    return DONE


@inner_kernel
def _solve(s):
    """Write the forces that give the rows the accelerations they ask for."""
    system, rows, row_count = s.direct, s.rows.rows, s.tally[0].row_count
    write_direct_matrix(s.ports, s.rows, system)
    for number in range(row_count):
        row = rows[number]
        chosen = is_solved_at_stages(s, row)
        set_side(number, 1 if chosen else 0, system)
        if chosen:
            row.impulse = 0.0
    for _ in range(row_count):
        failed = factorise(system.elimination, system.active, system.matrix, system.factor)
        if failed < 0:
            break
        set_side(failed, 0, system)
    velocity, response = s.ports.velocity, s.rows.response
    solve_active_rows(rows, row_count, response, s.settings[0].tolerance, velocity, system)


@inner_kernel
def end_stages(s):
    """Give the rows that were solved at the stages the impulse of all of them."""
    for number in range(s.tally[0].row_count):
        if s.direct.active[number]:
            s.rows.rows[number].impulse = s.settings[0].time_step * s.direct.before[number]
