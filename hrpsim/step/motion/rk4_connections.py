# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Forces of rigid connections at each stage of an rk4 step.

Held over a step, a force keeps the direction it had at the start: a linkage that turns would gain
energy, to first order. So rigid connections on the direct solver are solved again at every stage,
for accelerations: J a = -dJ/dt v - 2 k dg/dt - k^2 g. The errors g are those at the start of the
step: those that a stage adds belong to the method, and correcting them would cost its order.
Contacts, limits, springs and all other bounded constraints keep the force of the step.
"""

import numpy as np

from hrpsim.constraints.connection_rows import write_stage_rows
from hrpsim.constraints.rows import VELOCITY
from hrpsim.dynamics.articulated import wrench_response
from hrpsim.dynamics.response import constrained_responses, constrained_velocities
from hrpsim.jit.compiled import inner_kernel
from hrpsim.jit.lazy_kernels import lazy_kernel
from hrpsim.solvers.block_ldl import factorise
from hrpsim.solvers.direct_system import write_direct_matrix
from hrpsim.solvers.pivoting import set_side, solve_active_rows
from hrpsim.step.motion.momentum import expect_wrenches
from hrpsim.step.rows.constrain import is_solved_at_stages
from hrpsim.step.rows.constraint_wrenches import add_wrench, clear_body_wrenches
from hrpsim.step.scene.status import DONE

_DECAY = 0.2  # k times the time step


@inner_kernel
def begin_stages(settings, counts, stats, rows, direct):
    """Return whether any row is solved at the stages; clear its impulses of earlier stages."""
    found = False
    if stats.direct_rows == 0:
        return found
    for number in range(counts.row_count):
        if is_solved_at_stages(settings, rows.rows[number]):
            found = True
        direct.before[number] = 0.0
    return found


@lazy_kernel(np.int64)
def solve_stage(s, stage):
    """Add the accelerations by rigid connections at this stage to work.dv; sum their forces."""
    settings, counts = s.settings[0], s.counts[0]
    work, constrained, rows = s.work, s.constrained, s.rows.rows
    constrained_responses(
        s.forest, s.kinematics, s.articulated, counts.constrained_count, constrained
    )
    constrained_velocities(
        s.forest, s.kinematics, s.velocity, counts.constrained_count, constrained
    )
    decay = _DECAY / settings.time_step if stage == 0 else 0.0
    weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
    write_stage_rows(
        s.forest, s.kinematics, decay, s.connections, work.placed_connection[0], constrained, s.rows
    )
    constrained_velocities(s.forest, s.kinematics, work.dv, counts.constrained_count, constrained)
    _solve(settings, counts, constrained, s.rows, s.direct)
    clear_body_wrenches(s.articulated)
    for number in range(counts.row_count):
        if s.direct.active[number]:
            add_wrench(s.articulated, constrained, work, rows[number], rows[number].impulse)
            s.direct.before[number] += weight * rows[number].impulse
    expect_wrenches(s, weight * settings.time_step)
    wrench_response(s.forest, s.kinematics, s.articulated, work.no_effort, work.change)
    for k in range(work.dv.shape[0]):
        work.dv[k] += work.change[k]
    return DONE


@inner_kernel
def _solve(settings, counts, constrained, rows, direct):
    """Write the forces that give the rows their target accelerations."""
    system, row_count = direct, counts.row_count
    write_direct_matrix(constrained, rows, system)
    for number in range(row_count):
        row = rows.rows[number]
        chosen = is_solved_at_stages(settings, row)
        set_side(number, 1 if chosen else 0, system)
        if chosen:
            row.impulse = 0.0
    for _ in range(row_count):
        failed = factorise(system.elimination, system.active, system.matrix, system.factor)
        if failed < 0:
            break
        set_side(failed, 0, system)
    velocity, response = constrained.velocity, rows.response
    solve_active_rows(rows.rows, row_count, response, settings.tolerance, velocity, system)


@inner_kernel
def end_stages(settings, counts, rows, direct):
    """Give the rows that were solved at the stages the impulse of all of them."""
    for number in range(counts.row_count):
        if direct.active[number]:
            row = rows.rows[number]
            row.impulse = settings.time_step * direct.before[number]
            row.quantity = VELOCITY
