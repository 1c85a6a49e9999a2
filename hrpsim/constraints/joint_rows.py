"""The rows of joints: limits, dry friction and mimics."""

from __future__ import annotations

import math

import numpy as np

from hrpsim.compiled import inner_kernel
from hrpsim.constraints.rows import (
    JOINT_FRICTION,
    LOWER_LIMIT,
    MIMIC,
    UPPER_LIMIT,
    attach_port,
    attach_second_port,
    coupling,
    start_row,
)

# what the rows of a degree of freedom used in the last step: where the next step starts from
JOINT_IMPULSE = np.dtype([("lower", "f8"), ("upper", "f8"), ("friction", "f8"), ("mimic", "f8")])


@inner_kernel
def mark_joint_ports(forest, q, velocity, time_step, impulses, ports_out):
    """Mark the degrees of freedom that joint constraints push; return the number of their rows."""
    of_dof = ports_out.of_dof
    for k in range(of_dof.shape[0]):
        of_dof[k] = -1
    count = 0
    for k in range(of_dof.shape[0]):
        dof = forest.dofs[k]
        if dof.q_index < 0:
            continue
        wanted = 0
        if near_lower_limit(dof, q[dof.q_index], velocity[k], time_step, impulses[k]):
            wanted += 1
        if near_upper_limit(dof, q[dof.q_index], velocity[k], time_step, impulses[k]):
            wanted += 1
        if dof.friction > 0.0:
            wanted += 1
        if dof.mimic_dof >= 0:
            wanted += 1
            of_dof[dof.mimic_dof] = 0
        if wanted > 0:
            of_dof[k] = 0
            count += wanted
    return count


@inner_kernel
def near_lower_limit(dof, position, rate, time_step, impulse):
    """Return whether the joint may touch its lower limit in this step."""
    return impulse.lower > 0.0 or position - dof.lower < 1e-5 - 2.0 * time_step * rate


@inner_kernel
def near_upper_limit(dof, position, rate, time_step, impulse):
    """Return whether the joint may touch its upper limit in this step."""
    return impulse.upper > 0.0 or dof.upper - position < 1e-5 + 2.0 * time_step * rate


@inner_kernel
def write_joint_rows(forest, q, velocity, time_step, law, impulses, ports, first, used, rows_out):
    """Write the joints' rows from row `first` on; return the number of all rows."""
    rows, response = rows_out.rows, rows_out.response
    number = first
    for k in range(forest.dofs.shape[0]):
        dof = forest.dofs[k]
        if ports.of_dof[k] < 0 or dof.q_index < 0:
            continue
        position, impulse = q[dof.q_index], impulses[k]
        if near_lower_limit(dof, position, velocity[k], time_step, impulse):
            row = rows[number]
            used = _attach(forest, ports, k, 1.0, row, response, used)
            _limit(position - dof.lower, time_step, law, impulse.lower, row)
            row.kind = LOWER_LIMIT
            number += 1
        if near_upper_limit(dof, position, velocity[k], time_step, impulse):
            row = rows[number]
            used = _attach(forest, ports, k, -1.0, row, response, used)
            _limit(dof.upper - position, time_step, law, impulse.upper, row)
            row.kind = UPPER_LIMIT
            number += 1
        if dof.friction > 0.0:
            row = rows[number]
            used = _attach(forest, ports, k, 1.0, row, response, used)
            row.upper = dof.friction * time_step
            row.lower = -row.upper
            row.impulse = impulse.friction
            row.kind = JOINT_FRICTION
            number += 1
        if dof.mimic_dof >= 0:
            row = rows[number]
            used = _attach(forest, ports, k, 1.0, row, response, used)
            error = position - dof.mimic_offset
            error -= dof.mimic_ratio * q[forest.dofs[dof.mimic_dof].q_index]
            used = _follow(forest, ports, dof, error, time_step, law, row, response, used)
            row.impulse = impulse.mimic
            number += 1
    return number


@inner_kernel
def _attach(forest, ports, k, sign, row, response, used):
    """Make the row act along degree of freedom `k`."""
    start_row(row, used)
    for s in range(6):
        row.J_a[s] = 0.0
    row.J_a[0] = sign
    used = attach_port(forest, ports, ports.of_dof[k], row, response, used)
    row.inverse_mass = coupling(row, row, response)
    row.source = k
    return used


@inner_kernel
def _limit(room, time_step, law, impulse, row):
    """Write what a limit asks for that is `room` away [rad or m]."""
    row.push = -room / time_step
    if room > 0.0:
        row.target = row.push
    else:
        row.push = min(law.correction_rate * row.push, law.correction_speed)
    row.lower, row.upper = 0.0, math.inf
    row.impulse = impulse


@inner_kernel
def _follow(forest, ports, dof, error, time_step, law, row, response, used):
    """Make the row hold the rate of a joint to that of the joint it mimics."""
    for s in range(6):
        row.J_b[s] = 0.0
    row.J_b[0] = -dof.mimic_ratio
    used = attach_second_port(forest, ports, ports.of_dof[dof.mimic_dof], row, response, used)
    row.inverse_mass = coupling(row, row, response)
    wanted = -law.correction_rate * error / time_step
    row.push = min(max(wanted, -law.correction_speed), law.correction_speed)
    row.lower, row.upper = -math.inf, math.inf
    row.kind, row.leader = MIMIC, dof.mimic_dof
    return used


@inner_kernel
def remember_joint_impulses(rows, first, row_count, impulses_out):
    """Keep the impulses of the joint rows for the next step's start."""
    for k in range(impulses_out.shape[0]):
        kept = impulses_out[k]
        kept.lower = kept.upper = kept.friction = kept.mimic = 0.0
    for number in range(first, row_count):
        row = rows[number]
        kept = impulses_out[row.source]
        if row.kind == LOWER_LIMIT:
            kept.lower = row.impulse
        elif row.kind == UPPER_LIMIT:
            kept.upper = row.impulse
        elif row.kind == JOINT_FRICTION:
            kept.friction = row.impulse
        else:
            kept.mimic = row.impulse
