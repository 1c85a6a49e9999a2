# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Actuators and rigid connections at the stages of an rk4 step.

In an rk4 step, the force of a constraint is computed once. With a constant force of a velocity
limit, the joint would drift off the limit (an error of second order) as other forces change. The
force is therefore recomputed at every stage. The force is the effort with which the joint reaches
the limit at the end of the step (hybrid dynamics: Featherstone 2008, chapter 9). An actuator that
brakes with its effort limit applies this limit at every stage.

A constant force of a connection would keep its direction over the step. A rotating linkage would
then gain energy, to first order. Rigid connections of the direct solver are therefore solved at
every stage, for the acceleration a:

    J a = -dJ/dt v - 2 k dg/dt - k^2 g.

Here J is the Jacobian, v the velocity, g the position error at the start of the step and k the rate
of its decay. Errors within the stages are not corrected, because this would lower the order of the
method. Contacts, limits, springs and all other bounded constraints have the same force over the
whole step.
"""

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Control,
    Counts,
    Index,
    Records,
    Row,
    Scene,
    Settings,
    Vector,
    Work,
)
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.connection_rows import write_stage_rows
from hrpsim.engine.constraints.rows import VELOCITY_LIMIT, Rows
from hrpsim.engine.dynamics.articulated import wrench_response
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.dynamics.joint_forces import add_delivered_effort, law_effort
from hrpsim.engine.dynamics.response import constrained_responses, constrained_velocities
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.solvers.active_rows import set_side, solve_active_rows
from hrpsim.engine.solvers.block_ldl import factorise
from hrpsim.engine.solvers.direct_system import DirectSystem, write_direct_matrix
from hrpsim.engine.step.motion.momentum import expect_wrenches
from hrpsim.engine.step.motion.records import Rk4
from hrpsim.engine.step.rows.constrain import is_solved_at_stages
from hrpsim.engine.step.rows.constraint_wrenches import add_wrench, clear_body_wrenches
from hrpsim.engine.step.scene.status import DONE

# Inertia that prescribes the acceleration of a joint, as a multiple of the joint's own inertia.
_HEAVY = 1e9
_DECAY = 0.2  # k times the time step


@inlined_kernel
def first_joint_row(counts: Counts) -> int:
    """Return the number of the first row that belongs to a joint."""
    return 3 * counts.contact_count + counts.connection_rows


@inner_kernel
def hold_velocity_limits(s: Scene) -> None:
    """Change the efforts [Nm or N] and inertias [kg m^2 or kg] of joints at velocity limits.

    Each of these joints then reaches its limit at the end of the step. The kernel changes `effort`
    and `joint_inertia` of s.work at a stage.
    """
    work = s.work
    for number in range(first_joint_row(s.counts[0]), s.counts[0].row_count):
        row = s.rows.rows[number]
        if row.kind == VELOCITY_LIMIT and row.impulse > 0.0:
            k, inertia = row.source, _prescribing_inertia(row)
            work.joint_inertia[k] += inertia
            work.effort[k] += _change_of_law(
                s.forest, s.q, s.velocity, s.control, s.rk4, work, k
            ) + inertia * _acceleration_to_limit(s.settings[0], s.forest, s.control, work, k)


@inner_kernel
def release_velocity_limits(
    settings: Settings,
    counts: Counts,
    forest: Forest,
    control: Records[Control],
    rows: Rows,
    work: Work,
    weight_before: float,
) -> bool:
    """Release joints whose actuator cannot apply the effort of a velocity limit at a stage.

    Released joints brake with the effort limit, or follow the actuator's control law. The impulses
    of the rows are set accordingly.

    Args:
        settings: settings of the step.
        counts: numbers of contacts and rows.
        forest: constants of the bodies and joints.
        control: CONTROL records (nv,).
        rows: rows of the step. `impulse` is changed.
        work: work arrays. `constraint_effort` and `applied` [Nm or N] are changed.
        weight_before: sum of the weights of the earlier stages, which stay unchanged [1].

    Returns:
        Whether any joint was released, so that the stage must be computed again.
    """
    time_step = settings.time_step
    changed = False
    for number in range(first_joint_row(counts), counts.row_count):
        row = rows.rows[number]
        if row.kind != VELOCITY_LIMIT or not 0.0 < row.impulse < row.upper:
            continue
        k, direction = row.source, control[row.source].limiting
        surplus = work.dv[k] - _acceleration_to_limit(settings, forest, control, work, k)
        unbounded = row.impulse + time_step * direction * _prescribing_inertia(row) * surplus
        allowed = min(max(unbounded, 0.0), row.upper)
        if allowed != unbounded:
            rise = direction * (allowed - row.impulse) / time_step
            row.impulse = allowed
            work.constraint_effort[k] -= rise
            work.applied[k] += weight_before * rise
            changed = True
    return changed


@inner_kernel
def add_stage_efforts(s: Scene, weight: float, held: bool) -> None:
    """Add the actuators' efforts at a stage, times `weight`, to work.applied (nv,) [Nm or N].

    Args:
        s: the scene.
        weight: weight of the stage [1].
        held: whether work.dv includes the effect of `hold_velocity_limits`.
    """
    work = s.work
    add_delivered_effort(s.forest, s.control, s.q, s.velocity, 0.0, weight, work)
    for number in range(first_joint_row(s.counts[0]), s.counts[0].row_count):
        row = s.rows.rows[number]
        if row.kind == VELOCITY_LIMIT and row.impulse > 0.0 and held:
            k = row.source
            missing = (
                _acceleration_to_limit(s.settings[0], s.forest, s.control, work, k) - work.dv[k]
            )
            effort = (
                _change_of_law(s.forest, s.q, s.velocity, s.control, s.rk4, work, k)
                + _prescribing_inertia(row) * missing
            )
            work.applied[k] += weight * effort


@inlined_kernel
def _prescribing_inertia(row: Row) -> float:
    """Return a large inertia that prescribes a joint's acceleration, 0 at full braking."""
    return _HEAVY / row.inverse_mass if row.impulse < (1.0 - 1e-9) * row.upper else 0.0


@inlined_kernel
def _acceleration_to_limit(
    settings: Settings, forest: Forest, control: Records[Control], work: Work, k: Index
) -> float:
    """Return the acceleration with which a joint reaches its velocity limit in the step."""
    limit = control[k].limiting * forest.dofs[k].velocity_limit
    return (limit - work.velocity_after_impacts[k]) / settings.time_step


@inlined_kernel
def _change_of_law(
    forest: Forest,
    q: Vector,
    velocity: Vector,
    control: Records[Control],
    rk4: Rk4,
    work: Work,
    k: Index,
) -> float:
    """Return the decrease of an actuator's effort by its law from the step's start to a stage."""
    dof, actuator = forest.dofs[k], control[k]
    position, rate = rk4.q_start[dof.q_index], work.velocity_after_impacts[k]
    start = law_effort(dof, actuator, position, rate, 0.0, 0.0, 0.0)
    return start - law_effort(dof, actuator, q[dof.q_index], velocity[k], 0.0, 0.0, 0.0)


@lazy_kernel(brings=("solve_stage",))
def begin_stages(s: Scene) -> int:
    """Set the impulses of earlier stages to zero. Return whether rows are solved at the stages."""
    solved = 0
    for number in range(s.counts[0].row_count):
        if is_solved_at_stages(s.settings[0], s.rows.rows[number]):
            solved = 1
        s.direct.before[number] = 0.0
    return solved


@lazy_kernel(np.int64)
def solve_stage(s: Scene, stage: int) -> int:
    """Add the accelerations from rigid connections at a stage to work.dv, and sum the forces.

    The kernel writes `change` (nv,) [rad/s^2, m/s^2] of s.work. The weighted forces [N or Nm] of
    the rows are added to s.direct.before.
    """
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
def _solve(
    settings: Settings,
    counts: Counts,
    constrained: ConstraintBodies,
    rows: Rows,
    direct: DirectSystem,
) -> None:
    """Write the forces that give the rows the target accelerations."""
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
    tolerance = settings.tolerance
    solve_active_rows(rows.rows, row_count, False, response, tolerance, velocity, system)


@inner_kernel
def end_stages(settings: Settings, counts: Counts, rows: Rows, direct: DirectSystem) -> None:
    """Set the impulse of rows solved at the stages to the sum over the stages [Ns or Nms]."""
    for number in range(counts.row_count):
        if direct.active[number]:
            row = rows.rows[number]
            row.impulse = settings.time_step * direct.before[number]
