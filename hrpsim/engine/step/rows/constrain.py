# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The constraint stage of a step: rows, solution, and effect on the motion."""

import math

import numpy as np

from hrpsim.engine.collision.records import Collision
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Articulated,
    Connection,
    Contact,
    Counts,
    Friction,
    Kinematics,
    Matrix,
    Records,
    Rk4,
    Row,
    Scene,
    Settings,
    StepStats,
    Work,
    WorstRow,
)
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.connection_rows import is_rigid, remember_connection_impulses
from hrpsim.engine.constraints.contact_rows import friction_impulses
from hrpsim.engine.constraints.displacement import (
    bound_displacement,
    turn_to_displacement,
    turn_to_motion,
)
from hrpsim.engine.constraints.joint_rows import remember_joint_impulses
from hrpsim.engine.constraints.rows import CONTACT_ROW, Rows
from hrpsim.engine.constraints.solver_table import DIRECT
from hrpsim.engine.dynamics.articulated import wrench_response
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.dynamics.response import constrained_velocities
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.solvers.impulses import warm_start
from hrpsim.engine.step.rows.constraint_wrenches import add_wrench, clear_wrenches, hold_wrenches
from hrpsim.engine.step.rows.friction_redistribution import redistribute_friction
from hrpsim.engine.step.rows.hand_over import correct_island, solve_island
from hrpsim.engine.step.scene.islands import summarise
from hrpsim.engine.step.scene.records import FIRST_ATTEMPTS, REMAINDER
from hrpsim.engine.step.scene.status import DONE

# Residual of a step from which on the direct rows are contradictory [m/s].
_HOPELESS = 1e-3


@inlined_kernel
def constrain(s: Scene, extent: int) -> int:
    """Find the impulses of contacts and joint constraints, and the resulting motion.

    `extent` is WHOLE, FIRST_ATTEMPTS, or REMAINDER after the first attempts.

    Reads: articulated, collision, connections, constrained, counts, direct, forest, islands,
    kinematics, newton, newton_part, rows, settings, step_stats, velocity, work.
    Writes: articulated, collision, constrained, counts, direct, islands, newton, newton_part, rk4,
    rows, step_stats, work.
    """
    if s.counts[0].row_count == 0:
        clear_constraint_motion(
            s.settings[0], s.step_stats[0], s.kinematics, s.articulated, s.rk4, s.work
        )
        return DONE
    return solve_motion(s, extent)


@lazy_kernel(np.int64)
def solve_rows(s: Scene, extent: int) -> int:
    """Solve all islands with the solvers chosen for the rows.

    The kernel reads and changes s.constrained.velocity. The island of the direct solver comes last.
    Other islands that this solver takes over then use only a fraction of its work limit. Every
    world with constraints needs this kernel, so it is compiled in parallel with the step
    (announcement.py).

    Args:
        s: the scene.
        extent: WHOLE, FIRST_ATTEMPTS or REMAINDER.

    Returns:
        DONE, or the status of the array that is too small.
    """
    counts = s.counts[0]
    for turn in range(1, counts.island_count + 1):
        status = solve_island(s, (counts.direct_island + turn) % counts.island_count, extent)
        if status != DONE:
            return status
    summarise(counts, s.step_stats[0], s.constrained, s.rows, s.islands.ranges)
    return DONE


@inlined_kernel
def solve_motion(s: Scene, extent: int) -> int:
    """Solve for the impulses, and compute the accelerations that the impulses cause.

    The rows combine the Jacobian at the start of the step with the velocity at the end, because
    this velocity moves the bodies. The velocity-product accelerations of the links are left out.
    The kernel writes `change` (nv,) [rad/s^2, m/s^2] of s.work, and `impulse` of rows.

    Args:
        s: the scene.
        extent: WHOLE, FIRST_ATTEMPTS or REMAINDER.

    Returns:
        DONE, or the status of the array that is too small.
    """
    settings, counts, stats = s.settings[0], s.counts[0], s.step_stats[0]
    work, constrained = s.work, s.constrained
    rows, response = s.rows.rows, s.rows.response
    time_step = settings.time_step
    if extent != REMAINDER:
        for k in range(work.change.shape[0]):
            work.change[k] = s.velocity[k] + time_step * work.dv[k]
        constrained_velocities(
            s.forest, s.kinematics, work.change, counts.constrained_count, constrained
        )
        if stats.residual > _HOPELESS:
            forget_direct_impulses(rows, counts.row_count)
        warm_start(rows, counts.contact_count, counts.row_count, response, constrained.velocity)
    status = solve_rows(s, extent)
    if status != DONE:
        return status
    if settings.relative_tolerance == 0.0 and (extent != FIRST_ATTEMPTS or stats.converged):
        status = redistribute_friction(s)
        if status != DONE:
            return status
    clear_wrenches(s.articulated, work)
    _add_forces(settings, counts, constrained, s.rows, s.articulated, work, False)
    hold_wrenches(settings, s.kinematics, s.articulated, s.rk4)
    _add_forces(settings, counts, constrained, s.rows, s.articulated, work, True)
    wrench_response(s.forest, s.kinematics, s.articulated, work.constraint_effort, work.change)
    return DONE


@inner_kernel
def _add_forces(
    settings: Settings,
    counts: Counts,
    constrained: ConstraintBodies,
    rows: Rows,
    articulated: Records[Articulated],
    work: Work,
    at_stages: bool,
) -> None:
    """Add the forces of the rows that are solved at the stages of rk4, or of all other rows."""
    rate = 1.0 / settings.time_step
    for number in range(counts.row_count):
        row = rows.rows[number]
        if is_solved_at_stages(settings, row) == at_stages:
            add_wrench(articulated, constrained, work, row, rate * row.impulse)


@inlined_kernel
def is_solved_at_stages(settings: Settings, row: Row) -> int:
    """Return whether the force of a row is solved at every stage of rk4, not once per step."""
    return settings.staged and row.solver == DIRECT and is_rigid(row)


@inner_kernel
def forget_direct_impulses(rows: Records[Row], row_count: int) -> None:
    """Set the impulses of unbounded direct rows to zero after a step without a solution.

    With warm starts, the impulses of contradictory rows grow in every step. The impulses of other
    rows do not change, because bounds and friction cones limit them.
    """
    for number in range(row_count):
        row = rows[number]
        unbounded = math.isinf(row.lower) and math.isinf(row.upper)
        if row.solver == DIRECT and row.kind != CONTACT_ROW and unbounded:
            row.impulse = 0.0


@lazy_kernel()
def solve_displacement(s: Scene) -> int:
    """Compute the displacement rate of all bodies that meets the rows' targets.

    The kernel writes `correction_velocity` (nv,) [rad/s, m/s] of s.work.
    """
    counts = s.counts[0]
    constrained, rows = s.constrained, s.rows.rows
    for k in range(constrained.velocity.shape[0]):
        constrained.velocity[k] = 0.0
    turn_to_displacement(rows, counts.row_count)
    for k in range(counts.island_count):
        correct_island(s, k)
        bound_displacement(rows, s.rows.island_rows, s.islands.ranges[k], constrained.velocity)
    clear_wrenches(s.articulated, s.work)
    for number in range(counts.row_count):
        add_wrench(s.articulated, constrained, s.work, rows[number], rows[number].impulse)
    turn_to_motion(rows, counts.row_count)
    wrench_response(
        s.forest, s.kinematics, s.articulated, s.work.constraint_effort, s.work.correction_velocity
    )
    return DONE


@inner_kernel
def clear_constraint_motion(
    settings: Settings,
    stats: StepStats,
    kinematics: Records[Kinematics],
    articulated: Records[Articulated],
    rk4: Rk4,
    work: Work,
) -> None:
    """Set the motion and the forces that constraints caused to zero."""
    clear_wrenches(articulated, work)
    hold_wrenches(settings, kinematics, articulated, rk4)
    for i in range(articulated.shape[0]):
        da = articulated[i].delta_acceleration
        for r in range(6):
            da[r] = 0.0
    for k in range(work.change.shape[0]):
        work.change[k] = 0.0
    stats.sweeps = 0
    stats.residual = 0.0
    stats.converged = 1
    stats.worst_row = -1


@inlined_kernel
def remember_impulses(
    counts: Counts,
    forest: Forest,
    frictions: Records[Friction],
    joint_impulses: Matrix,
    collision: Collision,
    connections: Records[Connection],
    rows: Rows,
) -> None:
    """Store the impulses of this step for the warm start of the next step.

    Args:
        counts: numbers of contacts and rows. `previous_count` and `born_count` are changed.
        forest: constants of the bodies and joints.
        frictions: FRICTION records (nv,).
        joint_impulses: impulses for each degree of freedom and kind of row (nv, kinds) [Nms or Ns],
            written.
        collision: contacts, whose `warm` and `impulse` [Ns] are written, and copies of the
            contacts.
        connections: CONNECTION_RECORD records. `impulse` is written.
        rows: rows of the step.
    """
    contacts, previous = collision.contacts, collision.previous
    counts.previous_count = counts.contact_count
    counts.born_count += counts.new_count
    for c in range(counts.contact_count):
        contact = contacts[c]
        normal, x, y = rows.rows[3 * c], rows.rows[3 * c + 1], rows.rows[3 * c + 2]
        contact.warm[0] = normal.impulse
        contact.warm[1], contact.warm[2] = friction_impulses(contact, normal, x, y)
        for r in range(3):
            contact.impulse[r] = contact.warm[r] + contact.impact_impulse[r]
    for c in range(counts.contact_count):  # a separate loop, so that no copy waits for a write
        previous[c] = contacts[c]
    remember_connection_impulses(rows.rows, connections)
    first = 3 * counts.contact_count
    remember_joint_impulses(forest, rows.rows, first, counts.row_count, frictions, joint_impulses)


@inner_kernel
def keep_worst(
    counts: Counts,
    stats: StepStats,
    contacts: Records[Contact],
    rows: Rows,
    worst: Records[WorstRow],
    before: int,
) -> None:
    """Record the row with the largest error in this step, and in all steps of the call so far.

    Args:
        counts: numbers of contacts and rows.
        stats: results of the step.
        contacts: contacts of the step.
        rows: rows of the step.
        worst: the two worst rows (2,), written.
        before: number of earlier steps of this call that did not converge.
    """
    last = worst[0]
    last.residual, last.kind = stats.residual, -1
    if 0 <= stats.worst_row < counts.row_count:
        row = rows.rows[stats.worst_row]
        last.kind, last.source, last.other = row.kind, row.source, -1
        if row.kind == CONTACT_ROW:
            contact = contacts[row.source]
            last.source, last.other = contact.shape_a, contact.shape_b
    if before == 0 or last.residual > worst[1].residual:
        worst[1] = last
