# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Forces of rigid connections at each stage of an rk4 step.

Held over a step, a force keeps the direction it had at the start: a linkage that turns would gain
energy, to first order. So rigid connections on the direct solver are solved again at every stage,
for accelerations: J a = -dJ/dt v - 2 k dg/dt - k^2 g. The errors g are those at the start of the
step, for what a stage adds to them is the method's own, and taking it back would cost its order.
Contacts, limits, springs and whatever else has bounds keep the force of the step.
"""

from __future__ import annotations

import numpy as np

from hrpsim.constraints.connection_rows import write_stage_rows
from hrpsim.constraints.rows import VELOCITY
from hrpsim.dynamics.articulated import wrench_response
from hrpsim.dynamics.response import site_responses, site_velocities
from hrpsim.jit.compiled import inner_kernel
from hrpsim.jit.on_demand import on_demand_kernel
from hrpsim.solvers.block_ldl import factorise
from hrpsim.solvers.direct_system import write_direct_matrix
from hrpsim.solvers.pivoting import set_side, solve_active_rows
from hrpsim.step.motion.momentum import expect_wrenches
from hrpsim.step.rows.constrain import is_solved_at_stages
from hrpsim.step.rows.constraint_wrenches import add_wrench, clear_body_wrenches
from hrpsim.step.scene.status import DONE

_DECAY = 0.2  # k times the time step


@inner_kernel
def begin_stages(s):
    """Return whether any row is solved at the stages; forget what they used before."""
    found = False
    if s.step_stats[0].direct_rows == 0:
        return found
    for number in range(s.step_stats[0].row_count):
        if is_solved_at_stages(s, s.rows.rows[number]):
            found = True
        s.direct.before[number] = 0.0
    return found


@on_demand_kernel(np.int64)
def solve_stage(s, stage):
    """Add to work.dv what rigid connections do at this stage; count their forces."""
    stats, work, sites, rows = s.step_stats[0], s.work, s.sites, s.rows.rows
    site_responses(s.forest, s.kinematics, s.articulated, stats.site_count, sites)
    site_velocities(s.forest, s.kinematics, s.velocity, stats.site_count, sites)
    decay = _DECAY / s.settings[0].time_step if stage == 0 else 0.0
    weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
    write_stage_rows(
        s.forest, s.kinematics, decay, s.connections, work.placed_connection[0], sites, s.rows
    )
    site_velocities(s.forest, s.kinematics, work.dv, stats.site_count, sites)
    _solve(s)
    clear_body_wrenches(s)
    for number in range(stats.row_count):
        if s.direct.active[number]:
            add_wrench(s, rows[number], rows[number].impulse)
            s.direct.before[number] += weight * rows[number].impulse
    expect_wrenches(s, weight * s.settings[0].time_step)
    wrench_response(s.forest, s.kinematics, s.articulated, work.no_effort, work.change)
    for k in range(work.dv.shape[0]):
        work.dv[k] += work.change[k]
    return DONE


@inner_kernel
def _solve(s):
    """Write the forces that give the rows the accelerations they ask for."""
    system, rows, row_count = s.direct, s.rows.rows, s.step_stats[0].row_count
    write_direct_matrix(s.sites, s.rows, system)
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
    velocity, response = s.sites.velocity, s.rows.response
    solve_active_rows(rows, row_count, response, s.settings[0].tolerance, velocity, system)


@inner_kernel
def end_stages(s):
    """Give the rows that were solved at the stages the impulse of all of them."""
    for number in range(s.step_stats[0].row_count):
        if s.direct.active[number]:
            row = s.rows.rows[number]
            row.impulse = s.settings[0].time_step * s.direct.before[number]
            row.quantity = VELOCITY
