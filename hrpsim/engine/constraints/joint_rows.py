# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The rows of joints: limits, dry friction, mimics, locks, motors, and limits of velocity."""

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.constraints.rows import (
    JOINT_FRICTION,
    LOCK,
    LOWER_LIMIT,
    MIMIC,
    MOTOR,
    UPPER_LIMIT,
    VELOCITY_LIMIT,
    attach_constraint_body,
    attach_second_constraint_body,
    coupling,
    slip_by,
    soften,
    soften_stop,
    start_row,
    wanted_correction,
)
from hrpsim.engine.constraints.solver_table import choose_solver
from hrpsim.engine.dynamics.joint_forces import BY_ROW, STICKS, law_effort, limited

# Of each row of a joint, from LOWER_LIMIT on: its name, and the kind of constraint that it is of.
_ROWS = (
    ("lower limit", "limit"),
    ("upper limit", "limit"),
    ("friction", "friction"),
    ("mimic", "mimic"),
    ("lock", "lock"),
    ("motor", "motor"),
)
ROW_NAMES = {LOWER_LIMIT + k: name for k, (name, _) in enumerate(_ROWS)}
ROW_NAMES[VELOCITY_LIMIT] = "velocity limit"  # part of an actuator, not a constraint of its own
JOINT_KINDS = tuple(dict.fromkeys(kind for _, kind in _ROWS))
JOINT_ROW_COUNT = len(ROW_NAMES)

# Columns of the tables of JOINT_PARAMETERS, by kind and by row.
LIMIT_PARAMETERS, FRICTION_PARAMETERS, MIMIC_PARAMETERS, LOCK_PARAMETERS, MOTOR_PARAMETERS = range(
    len(JOINT_KINDS)
)
PARAMETERS_OF_ROW = np.array([JOINT_KINDS.index(kind) for _, kind in _ROWS])

# parameters of one kind of constraint of a degree of freedom: tables are (nv, 5)
JOINT_PARAMETERS = np.dtype(
    [
        ("compliance", "f8"),  # [rad/Nm or m/N]
        ("damping_time", "f8"),  # [s]; -1, at limits and mimics: rigid, corrected like penetration
        ("force_limit", "f8"),  # [Nm or N]
        ("solver", "i8"),
    ]
)

# locks and motors that users set at a joint
JOINT_HOLD = np.dtype(
    [
        ("locked", "i8"),
        ("position", "f8"),  # that it is locked at [rad or m]
        ("driven", "i8"),
        ("speed", "f8"),  # that a motor drives it at [rad/s or m/s]
    ]
)


@inner_kernel
def mark_joint_bodies(s):
    """Mark the degrees of freedom that joint constraints push; return the number of their rows."""
    forest, holds, frictions = s.forest, s.joint_holds, s.work.friction
    impulses, of_dof, time_step = s.joint_impulses, s.constrained.of_dof, s.settings[0].time_step
    for k in range(of_dof.shape[0]):
        of_dof[k] = -1
    count = 0
    for index in range(forest.joints.shape[0]):
        k = forest.joints[index]
        if k >= of_dof.shape[0]:
            break
        dof = forest.dofs[k]
        position, rate, wanted = s.q[dof.q_index], s.velocity[k], 0
        sticks = dof.friction > 0.0 and frictions[k].mark == STICKS
        if not sticks and near_lower_limit(dof, position, rate, time_step, impulses[k]):
            wanted += 1
        if not sticks and near_upper_limit(dof, position, rate, time_step, impulses[k]):
            wanted += 1
        if dof.friction > 0.0 and frictions[k].mark == BY_ROW:
            wanted += 1
        if dof.mimic_dof >= 0:
            wanted += 1
            of_dof[dof.mimic_dof] = 0
        wanted += 1 if holds[k].locked else 0
        wanted += 1 if holds[k].driven else 0
        wanted += 1 if limits_velocity(s.control[k], holds[k]) else 0
        if wanted > 0:
            of_dof[k] = 0
            count += wanted
    return count


@inner_kernel
def near_lower_limit(dof, position, rate, time_step, impulse):
    """Return whether the joint may touch its lower limit in this step."""
    touches = position - dof.lower < 1e-5 - 2.0 * time_step * rate
    return impulse[LOWER_LIMIT - LOWER_LIMIT] > 0.0 or touches


@inner_kernel
def near_upper_limit(dof, position, rate, time_step, impulse):
    """Return whether the joint may touch its upper limit in this step."""
    touches = dof.upper - position < 1e-5 + 2.0 * time_step * rate
    return impulse[UPPER_LIMIT - LOWER_LIMIT] > 0.0 or touches


@inlined_kernel
def limits_velocity(actuator, hold):
    """Return whether a row holds the joint at its velocity limit.

    An actuator that brakes with its effort limit needs no row. A motor has a velocity of its own.
    """
    marked = actuator.limiting != 0 and actuator.saturated != -actuator.limiting
    return marked and not hold.driven


@inner_kernel
def write_joint_rows(s, lead, first, used):
    # long: a branch for each kind of row, in the order of their codes
    """Write the joints' rows from row `first` on, and return (next row, response space used).

    Args:
        s: the scene.
        lead: time from `q` to the middle of the step, as compliant rows count it [s].
        first: first row.
        used: response space used before.
    """
    forest, q, velocity, constrained = s.forest, s.q, s.velocity, s.constrained
    settings, acceleration, frictions = s.settings[0], s.work.dv, s.work.friction
    parameters, holds, impulses = s.joint_parameters, s.joint_holds, s.joint_impulses
    rows, response, time_step = s.rows.rows, s.rows.response, settings.time_step
    number = first
    for index in range(forest.joints.shape[0]):
        k = forest.joints[index]
        if k >= forest.dofs.shape[0]:
            break
        if constrained.of_dof[k] < 0:
            continue
        dof = forest.dofs[k]
        position, rate, impulse = q[dof.q_index], velocity[k], impulses[k]
        limit, sticks = parameters[k, LIMIT_PARAMETERS], dof.friction > 0.0
        sticks = sticks and frictions[k].mark == STICKS
        if not sticks and near_lower_limit(dof, position, rate, time_step, impulse):
            row = rows[number]
            used = _attach(forest, constrained, k, 1.0, limit, time_step, row, response, used)
            _limit(position - dof.lower, rate, acceleration[k], lead, settings, limit, row)
            _start_from(impulse, LOWER_LIMIT, row)
            number += 1
        if not sticks and near_upper_limit(dof, position, rate, time_step, impulse):
            row = rows[number]
            used = _attach(forest, constrained, k, -1.0, limit, time_step, row, response, used)
            _limit(dof.upper - position, -rate, -acceleration[k], lead, settings, limit, row)
            _start_from(impulse, UPPER_LIMIT, row)
            number += 1
        if dof.friction > 0.0 and frictions[k].mark == BY_ROW:
            row, own = rows[number], parameters[k, FRICTION_PARAMETERS]
            used = _attach(forest, constrained, k, 1.0, own, time_step, row, response, used)
            row.upper = min(row.upper, dof.friction * time_step)
            row.lower = -row.upper
            slip_by(row, own.compliance, own.damping_time, time_step)
            row.kind = JOINT_FRICTION
            row.impulse = min(max(frictions[k].impulse, row.lower), row.upper)
            number += 1
        if dof.mimic_dof >= 0:
            row, own = rows[number], parameters[k, MIMIC_PARAMETERS]
            used = _attach(forest, constrained, k, 1.0, own, time_step, row, response, used)
            used = _follow(forest, constrained, dof, row, response, used)
            error = position - dof.mimic_offset
            error -= dof.mimic_ratio * q[forest.dofs[dof.mimic_dof].q_index]
            rate -= dof.mimic_ratio * velocity[dof.mimic_dof]
            _hold(error, rate, lead, settings, own, row)
            _start_from(impulse, MIMIC, row)
            number += 1
        if holds[k].locked:
            row, own = rows[number], parameters[k, LOCK_PARAMETERS]
            used = _attach(forest, constrained, k, 1.0, own, time_step, row, response, used)
            _hold(position - holds[k].position, velocity[k], lead, settings, own, row)
            _start_from(impulse, LOCK, row)
            number += 1
        if holds[k].driven:
            row, own = rows[number], parameters[k, MOTOR_PARAMETERS]
            used = _attach(forest, constrained, k, 1.0, own, time_step, row, response, used)
            slip_by(row, own.compliance, own.damping_time, time_step)
            row.target = holds[k].speed
            _start_from(impulse, MOTOR, row)
            number += 1
    return number, used


@inner_kernel
def write_velocity_limit_rows(s, horizon, first, used):
    """Write the rows of velocity limits from row `first` on, and return the response space used.

    With the velocity v at the end of the step and the effort u by the actuator's law: 0 <= l, l <=
    dt (u + effort limit), (limit - v) l = 0. The lower limit is the mirror image. The actuator
    therefore delivers u - l / dt, between u and full braking.

    Args:
        s: the scene.
        horizon: as passed to `joint_forces`, which wrote `work.actuator_inertia` [s].
        first: first row.
        used: response space used before.
    """
    forest, velocity, constrained, holds = s.forest, s.velocity, s.constrained, s.joint_holds
    rows, response, time_step = s.rows.rows, s.rows.response, s.settings[0].time_step
    number = first
    for index in range(forest.joints.shape[0]):
        k = forest.joints[index]
        if k >= forest.dofs.shape[0]:
            break
        actuator = s.control[k]
        if not limits_velocity(actuator, holds[k]):
            continue
        dof, side, row = forest.dofs[k], actuator.limiting, rows[number]
        own = s.joint_parameters[k, LIMIT_PARAMETERS]
        used = _attach(forest, constrained, k, -side, own, time_step, row, response, used)
        acceleration = (side * dof.velocity_limit - velocity[k]) / time_step
        position, inertia = s.q[dof.q_index], s.work.actuator_inertia[k]
        law = law_effort(dof, actuator, position, velocity[k], acceleration, inertia, horizon)
        room = side * limited(law, dof.effort_limit) + dof.effort_limit
        row.target, row.lower, row.upper = -dof.velocity_limit, 0.0, time_step * room
        _start_from(s.joint_impulses[k], VELOCITY_LIMIT, row)
        row.impulse = min(row.impulse, row.upper)
        number += 1
    return used


@inner_kernel
def mark_full_brakes(rows, first, row_count, control):
    """Mark actuators that brake with their whole effort limit, and return whether any mark is new.

    A marked actuator then delivers its effort limit, whatever effort its law requires at the speed
    found.

    Args:
        rows: ROW records (row capacity,).
        first: first row of the velocity limits.
        row_count: number of rows.
        control: CONTROL records (nv,).
    """
    changed = False
    for number in range(first, row_count):
        row = rows[number]
        if row.kind == VELOCITY_LIMIT and row.impulse >= (1.0 - 1e-9) * row.upper:
            actuator = control[row.source]
            actuator.saturated = -actuator.limiting
            changed = True
    return changed


@inlined_kernel
def _start_from(impulse, kind, row):
    """Make a row one of a kind, warm-started from its impulse of the last step."""
    row.kind, row.impulse = kind, impulse[kind - LOWER_LIMIT]


@inner_kernel  # many parameters: names the parts of the scene that it reads, not the scene
def _attach(forest, constrained, k, sign, own, time_step, row, response, used):
    """Make the row act along degree of freedom `k`, with up to the force its law allows."""
    start_row(row, used)
    for s in range(6):
        row.J_a[s] = 0.0
    row.J_a[0] = sign
    used = attach_constraint_body(forest, constrained, constrained.of_dof[k], row, response, used)
    row.inverse_mass = coupling(row, row, response)
    row.upper = own.force_limit * time_step
    row.lower = -row.upper
    row.source = k
    choose_solver(row, own.solver)
    return used


@inlined_kernel
def _limit(room, rate, acceleration, lead, settings, own, row):
    """Write the target of a limit at the distance `room` [rad or m], which changes at `rate`.

    `acceleration` is the acceleration of the distance without constraints.
    """
    time_step, damping_time = settings.time_step, own.damping_time
    row.lower = 0.0
    row.correction_velocity = -room / time_step
    if damping_time >= 0.0:
        row.correction_velocity = min(row.correction_velocity, 0.0)
        room += lead * rate
        soften_stop(row, room, rate, acceleration, own.compliance, damping_time, time_step)
    elif room > 0.0:
        row.target = row.correction_velocity
    else:
        row.correction_velocity = min(
            settings.correction_rate * row.correction_velocity, settings.correction_speed
        )


@inlined_kernel
def _follow(forest, constrained, dof, row, response, used):
    """Make the row act against the joint that is mimicked, by its ratio."""
    for s in range(6):
        row.J_b[s] = 0.0
    row.J_b[0] = -dof.mimic_ratio
    used = attach_second_constraint_body(
        forest, constrained, constrained.of_dof[dof.mimic_dof], row, response, used
    )
    row.inverse_mass = coupling(row, row, response)
    return used


@inlined_kernel
def _hold(error, rate, lead, settings, own, row):
    """Write the target of a row that holds `error` [rad or m] at zero."""
    time_step = settings.time_step
    if own.damping_time < 0.0:
        row.correction_velocity = wanted_correction(error, time_step, settings)
    else:
        error += lead * rate
        soften(row, error, rate, 0.0, own.compliance, own.damping_time, time_step)


@inner_kernel
def remember_joint_impulses(forest, rows, first, row_count, frictions, impulses_out):
    """Store the impulses of joint constraints, from which the next step starts."""
    for index in range(forest.joints.shape[0]):
        k = forest.joints[index]
        if k >= impulses_out.shape[0]:
            break
        for kind in range(JOINT_ROW_COUNT):
            impulses_out[k, kind] = 0.0
        if forest.dofs[k].friction > 0.0 and frictions[k].mark != BY_ROW:
            friction = frictions[k]
            impulses_out[k, JOINT_FRICTION - LOWER_LIMIT] = friction.impulse
            impulses_out[k, LOWER_LIMIT - LOWER_LIMIT] = max(friction.limit_impulse, 0.0)
            impulses_out[k, UPPER_LIMIT - LOWER_LIMIT] = max(-friction.limit_impulse, 0.0)
    for number in range(first, row_count):
        row = rows[number]
        if LOWER_LIMIT <= row.kind and row.kind < LOWER_LIMIT + JOINT_ROW_COUNT:
            impulses_out[row.source, row.kind - LOWER_LIMIT] = row.impulse
