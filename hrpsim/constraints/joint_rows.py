"""The rows of joints: limits, dry friction, mimics, locks and motors."""

from __future__ import annotations

import numpy as np

from hrpsim.constraints.rows import (
    CONNECTION,
    DRIVE,
    JOINT_FRICTION,
    LOCK,
    LOWER_LIMIT,
    MIMIC,
    MOTOR,
    SPRING,
    UPPER_LIMIT,
    attach_port,
    attach_second_port,
    coupling,
    soften,
    start_row,
    wanted_push,
)
from hrpsim.jit.compiled import inlined_kernel, inner_kernel

LIMIT_LAW, FRICTION_LAW, MIMIC_LAW, LOCK_LAW, MOTOR_LAW = range(5)

# how one kind of constraint of a degree of freedom is held: tables are (nv, 5)
JOINT_LAW = np.dtype(
    [
        ("compliance", "f8"),  # [rad/Nm or m/N]
        ("damping_time", "f8"),  # [s]; -1, at limits and mimics: rigid, taken back like penetration
        ("force_limit", "f8"),  # [Nm or N]
        ("solver", "i8"),
    ]
)

# what users ask of a joint besides commands to its actuator
JOINT_HOLD = np.dtype(
    [
        ("locked", "i8"),
        ("position", "f8"),  # that it is locked at [rad or m]
        ("driven", "i8"),
        ("speed", "f8"),  # that a motor drives it at [rad/s or m/s]
    ]
)

# what the rows of a degree of freedom used in the last step: where the next step starts from
JOINT_IMPULSE = np.dtype(
    [
        ("lower", "f8"),
        ("upper", "f8"),
        ("friction", "f8"),
        ("mimic", "f8"),
        ("lock", "f8"),
        ("motor", "f8"),
    ]
)


@inner_kernel
def mark_joint_ports(forest, q, velocity, time_step, holds, impulses, ports_out):
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
        wanted += 1 if holds[k].locked else 0
        wanted += 1 if holds[k].driven else 0
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
def write_joint_rows(
    forest, q, velocity, time_step, law, laws, holds, impulses, ports, first, used, rows_out
):
    """Write the joints' rows from row `first` on; return (next row, response space used).

    `law` holds the world's numbers for corrections, `laws` those of every joint's constraints.
    """
    rows, response = rows_out.rows, rows_out.response
    number = first
    for k in range(forest.dofs.shape[0]):
        dof = forest.dofs[k]
        if ports.of_dof[k] < 0 or dof.q_index < 0:
            continue
        position, rate, impulse = q[dof.q_index], velocity[k], impulses[k]
        if near_lower_limit(dof, position, rate, time_step, impulse):
            row = rows[number]
            used = _attach(
                forest, ports, k, 1.0, laws[k, LIMIT_LAW], time_step, row, response, used
            )
            _limit(position - dof.lower, rate, time_step, law, laws[k, LIMIT_LAW], row)
            row.kind, row.impulse = LOWER_LIMIT, impulse.lower
            number += 1
        if near_upper_limit(dof, position, rate, time_step, impulse):
            row = rows[number]
            used = _attach(
                forest, ports, k, -1.0, laws[k, LIMIT_LAW], time_step, row, response, used
            )
            _limit(dof.upper - position, -rate, time_step, law, laws[k, LIMIT_LAW], row)
            row.kind, row.impulse = UPPER_LIMIT, impulse.upper
            number += 1
        if dof.friction > 0.0:
            row, own = rows[number], laws[k, FRICTION_LAW]
            used = _attach(forest, ports, k, 1.0, own, time_step, row, response, used)
            row.upper = min(row.upper, dof.friction * time_step)
            row.lower = -row.upper
            soften(row, 0.0, 0.0, 0.0, own.compliance, own.damping_time, time_step)
            row.kind, row.impulse = JOINT_FRICTION, impulse.friction
            number += 1
        if dof.mimic_dof >= 0:
            row, own = rows[number], laws[k, MIMIC_LAW]
            used = _attach(forest, ports, k, 1.0, own, time_step, row, response, used)
            used = _follow(forest, ports, dof, row, response, used)
            error = position - dof.mimic_offset
            error -= dof.mimic_ratio * q[forest.dofs[dof.mimic_dof].q_index]
            rate -= dof.mimic_ratio * velocity[dof.mimic_dof]
            _hold(error, rate, time_step, law, own, row)
            row.kind, row.impulse = MIMIC, impulse.mimic
            number += 1
        if holds[k].locked:
            row, own = rows[number], laws[k, LOCK_LAW]
            used = _attach(forest, ports, k, 1.0, own, time_step, row, response, used)
            _hold(position - holds[k].position, velocity[k], time_step, law, own, row)
            row.kind, row.impulse = LOCK, impulse.lock
            number += 1
        if holds[k].driven:
            row, own = rows[number], laws[k, MOTOR_LAW]
            used = _attach(forest, ports, k, 1.0, own, time_step, row, response, used)
            soften(row, 0.0, 0.0, 0.0, own.compliance, own.damping_time, time_step)
            row.target = holds[k].speed
            row.kind, row.impulse = MOTOR, impulse.motor
            number += 1
    return number, used


@inner_kernel
def _attach(forest, ports, k, sign, own, time_step, row, response, used):
    """Make the row act along degree of freedom `k`, with up to the force its law allows."""
    start_row(row, used)
    for s in range(6):
        row.J_a[s] = 0.0
    row.J_a[0] = sign
    used = attach_port(forest, ports, ports.of_dof[k], row, response, used)
    row.inverse_mass = coupling(row, row, response)
    row.upper = own.force_limit * time_step
    row.lower = -row.upper
    row.solver, row.source = own.solver, k
    return used


@inlined_kernel
def _limit(room, rate, time_step, law, own, row):
    """Write what a limit asks for that is `room` away [rad or m] and changes at `rate`."""
    row.lower = 0.0
    row.push = -room / time_step
    if room > 0.0:
        row.target = row.push
    elif own.damping_time < 0.0:
        row.push = min(law.correction_rate * row.push, law.correction_speed)
    else:
        row.push = 0.0
        soften(row, room, rate, 0.0, own.compliance, own.damping_time, time_step)


@inlined_kernel
def _follow(forest, ports, dof, row, response, used):
    """Make the row act against the joint that is mimicked, by its ratio."""
    for s in range(6):
        row.J_b[s] = 0.0
    row.J_b[0] = -dof.mimic_ratio
    used = attach_second_port(forest, ports, ports.of_dof[dof.mimic_dof], row, response, used)
    row.inverse_mass = coupling(row, row, response)
    return used


@inlined_kernel
def _hold(error, rate, time_step, law, own, row):
    """Write what a row asks for that holds `error` [rad or m] at zero."""
    if own.damping_time < 0.0:
        row.push = wanted_push(error, time_step, law)
    else:
        soften(row, error, rate, 0.0, own.compliance, own.damping_time, time_step)


@inner_kernel
def remember_joint_impulses(rows, first, row_count, impulses_out):
    """Keep the impulses of the joint rows for the next step's start."""
    for k in range(impulses_out.shape[0]):
        kept = impulses_out[k]
        kept.lower = kept.upper = kept.friction = 0.0
        kept.mimic = kept.lock = kept.motor = 0.0
    for number in range(first, row_count):
        row = rows[number]
        if row.kind == CONNECTION or row.kind == DRIVE or row.kind == SPRING:
            continue
        kept = impulses_out[row.source]
        if row.kind == LOWER_LIMIT:
            kept.lower = row.impulse
        elif row.kind == UPPER_LIMIT:
            kept.upper = row.impulse
        elif row.kind == JOINT_FRICTION:
            kept.friction = row.impulse
        elif row.kind == MIMIC:
            kept.mimic = row.impulse
        elif row.kind == LOCK:
            kept.lock = row.impulse
        else:
            kept.motor = row.impulse
