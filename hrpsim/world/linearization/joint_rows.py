# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The rows of joints that hold in a step: limits, friction, mimics, locks, motors, top speeds."""

from hrpsim.constraints.rows import LOCK, LOWER_LIMIT, MIMIC, UPPER_LIMIT, VELOCITY_LIMIT
from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.world.linearization.contact_rows import (
    copy_row,
    note_inertia,
    rate_of,
    respond,
    slope_of,
    stop_derivatives,
)
from hrpsim.world.linearization.room import AT_END


@inner_kernel
def place_joint_rows(s, w, first):
    """Write J of the rows of joints."""
    for number in range(first, s.counts[0].row_count):
        row, local = s.rows.rows[number], w.local[number]
        local.number, local.compliance = number, row.compliance
        local.inverse_mass = row.inverse_mass
        local.J[:] = 0.0
        local.at[0], local.at[1], local.J[0] = w.dof_at[row.source], -1, row.J_a[0]
        if row.at_b >= 0:
            local.at[1] = w.dof_at[s.forest.dofs[row.source].mimic_dof]
            local.J[6] = row.J_b[0]


@inner_kernel
def write_joint_rows(s, w, first, count):
    """Write the rows of joints that hold after `count` others, and how far all are from a bound.

    Returns how many rows there are then.
    """
    h, nv = s.settings[0].time_step, w.velocity.shape[0]
    for number in range(first, s.counts[0].row_count):
        row, local = s.rows.rows[number], w.local[number]
        spare = min(row.impulse - row.lower, row.upper - row.impulse) * row.inverse_mass
        left = abs(rate_of(local, w.twists[AT_END]) + row.compliance * row.impulse - row.target)
        w.row_holds[number] = 1 if spare > left else 0
        w.row_distance[number] = max(spare, left)
        if spare <= left:
            continue
        target, own = w.target[count], parameters_of(s, w, row)
        copy_row(local, w.held[count])
        target[:] = 0.0
        by_gap, by_rate, is_limit = 0.0, 0.0, row.kind == LOWER_LIMIT or row.kind == UPPER_LIMIT
        if own.damping_time < 0.0:
            by_gap = -1.0 / h if is_limit and room_of(s, w, row) > 0.0 else 0.0
        elif is_limit:
            rate = 0.0
            for half in range(2):
                if local.at[half] >= 0:
                    dof = row.source if half == 0 else s.forest.dofs[row.source].mimic_dof
                    rate += local.J[6 * half] * w.velocity[dof]
            if stop_derivatives(row, room_of(s, w, row), rate, own, h, w.law) != 0:
                w.findings[0].met_within = number
            by_gap, by_rate = slope_of(w, 0, row), slope_of(w, 1, row)
            by_inertia = slope_of(w, 2, row)
            respond(w, local.J, local.at)
            note_inertia(w, row, count)
            for j in range(nv):
                target[j] -= by_inertia * w.gradient[0, j]
        elif row.kind == MIMIC or row.kind == LOCK:
            by_rate = 1.0 / (1.0 + 4.0 * own.damping_time / h)
            by_gap = -4.0 * by_rate / h
        for half in range(2):
            if local.at[half] >= 0:
                dof = row.source if half == 0 else s.forest.dofs[row.source].mimic_dof
                target[dof] += by_gap * local.J[6 * half]
                target[nv + dof] += by_rate * local.J[6 * half]
        count += 1
    return count


@inlined_kernel
def parameters_of(s, w, row):
    """Return the parameters of a row's kind of constraint; of a limit for a top speed."""
    kind = LOWER_LIMIT if row.kind == VELOCITY_LIMIT else row.kind
    return s.joint_parameters[row.source, w.parameters[kind - LOWER_LIMIT]]


@inlined_kernel
def room_of(s, w, row):
    """Return the distance of a row of a limit to it, 0 for other rows."""
    dof = s.forest.dofs[row.source]
    if row.kind == LOWER_LIMIT:
        return w.q[dof.q_index] - dof.lower
    return dof.upper - w.q[dof.q_index] if row.kind == UPPER_LIMIT else 0.0
