# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Actuators at the stages of an rk4 step: their efforts, and joints at their velocity limits.

The force that holds a velocity limit is found once a step, as every constraint's. Held constant
over the step it would leave the limit by the change of all other forces, to second order. So it is
found again at every stage, as the effort for which the joint has the acceleration that takes it to
the limit at the end of the step (hybrid dynamics: Featherstone 2008, chapter 9). An actuator that
brakes with its effort limit delivers that at every stage.
"""

from hrpsim.constraints.rows import VELOCITY_LIMIT
from hrpsim.dynamics.joint_forces import add_delivered_effort, law_effort
from hrpsim.jit.compiled import inlined_kernel, inner_kernel

# Inertia that prescribes the acceleration of a joint, as a multiple of what the joint sees.
_HEAVY = 1e9


@inlined_kernel
def first_joint_row(counts):
    """Return the number of the first row of a joint."""
    return 3 * counts.contact_count + counts.connection_rows


@inner_kernel
def hold_velocity_limits(s):
    """Change the efforts and inertias of a stage at joints that are at their velocity limit."""
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
def release_velocity_limits(settings, counts, forest, control, rows, work, weight_before):
    """Release joints whose velocity limit a stage cannot hold; return whether there are any.

    They brake with their effort limit, or follow their law. The rows' impulses are then those, and
    the stage is to be found again. `weight_before`: of the stages before, which stay as they are.
    """
    time_step = settings.time_step
    changed = False
    for number in range(first_joint_row(counts), counts.row_count):
        row = rows.rows[number]
        if row.kind != VELOCITY_LIMIT or not 0.0 < row.impulse < row.upper:
            continue
        k, side = row.source, control[row.source].limiting
        surplus = work.dv[k] - _acceleration_to_limit(settings, forest, control, work, k)
        wanted = row.impulse + time_step * side * _prescribing_inertia(row) * surplus
        allowed = min(max(wanted, 0.0), row.upper)
        if allowed != wanted:
            rise = side * (allowed - row.impulse) / time_step
            row.impulse = allowed
            work.constraint_effort[k] -= rise
            work.applied[k] += weight_before * rise
            changed = True
    return changed


@inner_kernel
def add_stage_efforts(s, weight, held):
    """Add `weight` times the actuators' efforts at a stage to work.applied.

    `held`: whether `hold_velocity_limits` had its part in work.dv.
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
def _prescribing_inertia(row):
    """Return the inertia that prescribes a joint's acceleration; 0 where it brakes fully."""
    return _HEAVY / row.inverse_mass if row.impulse < (1.0 - 1e-9) * row.upper else 0.0


@inlined_kernel
def _acceleration_to_limit(settings, forest, control, work, k):
    """Return the acceleration that takes a joint to its velocity limit in the step."""
    limit = control[k].limiting * forest.dofs[k].velocity_limit
    return (limit - work.velocity_after_impacts[k]) / settings.time_step


@inlined_kernel
def _change_of_law(forest, q, velocity, control, rk4, work, k):
    """Return the difference from an actuator's law of a stage to that of the start of the step."""
    dof, actuator = forest.dofs[k], control[k]
    position, rate = rk4.q_start[dof.q_index], work.velocity_after_impacts[k]
    start = law_effort(dof, actuator, position, rate, 0.0, 0.0, 0.0)
    return start - law_effort(dof, actuator, q[dof.q_index], velocity[k], 0.0, 0.0, 0.0)
