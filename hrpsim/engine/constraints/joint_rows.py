# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Constraint rows of joints: limits, dry friction, mimics, locks, velocity servos and limits."""

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Control,
    Dof,
    Friction,
    Index,
    JointHold,
    JointParameters,
    Matrix,
    Records,
    Row,
    Scene,
    Settings,
    Vector,
)
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
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.dynamics.joint_forces import BY_ROW, STICKS, law_effort, limited
from hrpsim.engine.kinematics.forest import Forest

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
        ("position", "f8"),  # position of the lock [rad or m]
        ("driven", "i8"),
        ("speed", "f8"),  # target speed of the motor [rad/s or m/s]
    ]
)


# how many rows a degree of freedom has in a step; if it has any, whether it has each of them
JOINT_ROWS = np.dtype(
    [("count", "i8"), *((name.replace(" ", "_"), "i8") for name in ROW_NAMES.values())]
)


@inner_kernel
def find_joint_rows(s: Scene) -> int:
    """Find the constraint rows that each joint needs in this step, and return the number of rows.

    The kernel writes s.joint_rows, and marks the degrees of freedom that these rows push.
    """
    # Arrays and numbers are read here: to the compiler, what is written might be the same memory.
    forest, of_dof, joint_rows, holds = s.forest, s.constrained.of_dof, s.joint_rows, s.joint_holds
    frictions, control, q, velocity = s.work.friction, s.control, s.q, s.velocity
    impulses, time_step, count = s.joint_impulses, s.settings[0].time_step, 0
    for k in range(of_dof.shape[0]):
        of_dof[k] = -1
    for index in range(forest.joints.shape[0]):
        k = forest.joints[index]
        if k >= of_dof.shape[0]:
            break
        dof, has, hold = forest.dofs[k], joint_rows[k], holds[k]
        ahead = 2.0 * time_step * velocity[k]
        lower, upper = _near_limits(dof, frictions[k], q[dof.q_index], ahead, impulses[k])
        friction = int(dof.friction > 0.0 and frictions[k].mark == BY_ROW)
        mimic, velocity_limit = int(dof.mimic_dof >= 0), int(_limits_velocity(control[k], hold))
        has.count = lower + upper + friction + mimic + hold.locked + hold.driven + velocity_limit
        if has.count == 0:
            continue
        has.lower_limit, has.upper_limit, has.friction = lower, upper, friction
        has.mimic, has.lock, has.motor = mimic, hold.locked, hold.driven
        has.velocity_limit = velocity_limit
        of_dof[k] = 0
        if mimic:
            of_dof[dof.mimic_dof] = 0
        count += has.count
    return count


@inlined_kernel
def _near_limits(
    dof: Dof, friction: Friction, position: float, ahead: float, impulse: Vector
) -> tuple[int, int]:
    """Return whether a joint may touch its lower and its upper limit in this step, 0 or 1 each.

    A joint that sticks by dry friction touches neither limit.

    Args:
        dof: constants of the joint.
        friction: FRICTION record of the joint.
        position: position of the joint [rad or m].
        ahead: motion of the joint in two steps [rad or m].
        impulse: impulses of the joint's rows in the last step (7,).
    """
    sticks = dof.friction > 0.0 and friction.mark == STICKS
    lower = impulse[LOWER_LIMIT - LOWER_LIMIT] > 0.0 or position - dof.lower < 1e-5 - ahead
    upper = impulse[UPPER_LIMIT - LOWER_LIMIT] > 0.0 or dof.upper - position < 1e-5 + ahead
    return int(lower and not sticks), int(upper and not sticks)


@inlined_kernel
def _limits_velocity(actuator: Control, hold: JointHold) -> bool:
    """Return whether the velocity limit of a joint needs a row.

    An actuator that brakes with its effort limit needs no row. A velocity servo needs none either,
    because the row of the servo prescribes the velocity.
    """
    marked = actuator.limiting != 0 and actuator.saturated != -actuator.limiting
    return marked and not hold.driven


@inner_kernel
def write_joint_rows(s: Scene, first: Index, used: int) -> tuple[int, int]:
    """Write the joints' rows from row `first` on.

    Args:
        s: the scene.
        first: first row.
        used: number of entries of `response` used before.

    Returns:
        (next row, number of entries of `response` used so far).
    """
    rows, number = s.rows.rows, first
    for index in range(s.forest.joints.shape[0]):
        k = s.forest.joints[index]
        if k >= s.forest.dofs.shape[0]:
            break
        has = s.joint_rows[k]
        if has.count == 0:
            continue
        if has.lower_limit:
            used = _write_limit(s, k, LOWER_LIMIT, rows[number], used)
            number += 1
        if has.upper_limit:
            used = _write_limit(s, k, UPPER_LIMIT, rows[number], used)
            number += 1
        if has.friction:
            used = _write_friction(s, k, rows[number], used)
            number += 1
        if has.mimic:
            used = _write_mimic(s, k, rows[number], used)
            number += 1
        if has.lock:
            used = _write_lock(s, k, rows[number], used)
            number += 1
        if has.motor:
            used = _write_motor(s, k, rows[number], used)
            number += 1
    return number, used


@inner_kernel
def _write_limit(s: Scene, k: Index, kind: int, row: Row, used: int) -> int:
    """Write the row of a joint limit. Return the number of entries of `response` used so far."""
    dof, own = s.forest.dofs[k], s.joint_parameters[k, LIMIT_PARAMETERS]
    position, rate, acceleration = s.q[dof.q_index], s.velocity[k], s.work.dv[k]
    if kind == LOWER_LIMIT:
        used = _attach(s, k, 1.0, own, row, used)
        _limit(position - dof.lower, rate, acceleration, s.settings[0], own, row)
    else:
        used = _attach(s, k, -1.0, own, row, used)
        _limit(dof.upper - position, -rate, -acceleration, s.settings[0], own, row)
    _start_from(s.joint_impulses[k], kind, row)
    return used


@inlined_kernel
def _write_friction(s: Scene, k: Index, row: Row, used: int) -> int:
    """Write the row of dry friction. Return the number of entries of `response` used so far."""
    own, time_step = s.joint_parameters[k, FRICTION_PARAMETERS], s.settings[0].time_step
    used = _attach(s, k, 1.0, own, row, used)
    row.upper = min(row.upper, s.forest.dofs[k].friction * time_step)
    row.lower = -row.upper
    slip_by(row, own.compliance, own.damping_time, time_step)
    row.kind = JOINT_FRICTION
    row.impulse = min(max(s.work.friction[k].impulse, row.lower), row.upper)
    return used


@inlined_kernel
def _write_mimic(s: Scene, k: Index, row: Row, used: int) -> int:
    """Write the row of a mimic joint. Return the number of entries of `response` used so far."""
    dof, own = s.forest.dofs[k], s.joint_parameters[k, MIMIC_PARAMETERS]
    used = _attach(s, k, 1.0, own, row, used)
    used = _follow(s.forest, s.constrained, dof, row, s.rows.response, used)
    leader = s.q[s.forest.dofs[dof.mimic_dof].q_index]
    error = mimic_error(dof, s.q[dof.q_index], leader)
    rate = s.velocity[k] - dof.mimic_ratio * s.velocity[dof.mimic_dof]
    _hold(error, rate, s.settings[0], own, row)
    _start_from(s.joint_impulses[k], MIMIC, row)
    return used


@inlined_kernel
def _write_lock(s: Scene, k: Index, row: Row, used: int) -> int:
    """Write the row of a locked joint. Return the number of entries of `response` used so far."""
    own, position = s.joint_parameters[k, LOCK_PARAMETERS], s.q[s.forest.dofs[k].q_index]
    used = _attach(s, k, 1.0, own, row, used)
    _hold(position - s.joint_holds[k].position, s.velocity[k], s.settings[0], own, row)
    _start_from(s.joint_impulses[k], LOCK, row)
    return used


@inlined_kernel
def _write_motor(s: Scene, k: Index, row: Row, used: int) -> int:
    """Write the row of a velocity servo. Return the number of entries of `response` used so far."""
    own = s.joint_parameters[k, MOTOR_PARAMETERS]
    used = _attach(s, k, 1.0, own, row, used)
    slip_by(row, own.compliance, own.damping_time, s.settings[0].time_step)
    row.target = s.joint_holds[k].speed
    _start_from(s.joint_impulses[k], MOTOR, row)
    return used


@inner_kernel
def write_velocity_limit_rows(s: Scene, first: Index, used: int) -> int:
    """Write the rows of velocity limits from row `first` on.

    u is the effort by the actuator's control law [Nm or N], and v is the velocity at the end of the
    step. The impulse l of a row [Nms or Ns] obeys

        0 <= l <= dt (u + effort limit),   (limit - v) l = 0.

    The lower limit is the mirror image. The actuator therefore delivers u - l / dt, between u and
    full braking.

    Args:
        s: the scene.
        first: first row.
        used: number of entries of `response` used before.

    Returns:
        The number of entries of `response` used so far.
    """
    forest, velocity, settings, number = s.forest, s.velocity, s.settings[0], first
    time_step, horizon = settings.time_step, settings.horizon
    for index in range(forest.joints.shape[0]):
        k = forest.joints[index]
        if k >= forest.dofs.shape[0]:
            break
        if s.joint_rows[k].count == 0 or not s.joint_rows[k].velocity_limit:
            continue
        actuator = s.control[k]
        dof, direction, row = forest.dofs[k], actuator.limiting, s.rows.rows[number]
        own = s.joint_parameters[k, LIMIT_PARAMETERS]
        used = _attach(s, k, -direction, own, row, used)
        acceleration = (direction * dof.velocity_limit - velocity[k]) / time_step
        position, inertia = s.q[dof.q_index], s.work.actuator_inertia[k]
        effort = law_effort(dof, actuator, position, velocity[k], acceleration, inertia, horizon)
        room = direction * limited(effort, dof.effort_limit) + dof.effort_limit
        row.target, row.lower, row.upper = -dof.velocity_limit, 0.0, time_step * room
        _start_from(s.joint_impulses[k], VELOCITY_LIMIT, row)
        row.impulse = min(row.impulse, row.upper)
        number += 1
    return used


@inner_kernel
def mark_full_brakes(
    rows: Records[Row], first: Index, row_count: int, control: Records[Control]
) -> bool:
    """Mark actuators that brake with their whole effort limit. Return whether any mark is new.

    A marked actuator delivers its effort limit. Its control law is ignored.

    Args:
        rows: ROW records (row capacity,).
        first: first row of the velocity limits.
        row_count: number of rows.
        control: CONTROL records (nv,). `saturated` is changed.
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
def _start_from(impulse: Vector, kind: int, row: Row) -> None:
    """Write the kind of a row, and copy the row's impulse of the last step for the warm start."""
    row.kind, row.impulse = kind, impulse[kind - LOWER_LIMIT]


@inner_kernel
def _attach(s: Scene, k: Index, sign: float, own: JointParameters, row: Row, used: int) -> int:
    """Attach a row with the parameters `own` to degree of freedom `k`. Write the bounds.

    sign: 1 or -1, direction of the row's effort. used: number of entries of `response` used before.

    Returns:
        The number of entries of `response` used so far.
    """
    constrained, response = s.constrained, s.rows.response
    start_row(row, used)
    for r in range(6):
        row.J_a[r] = 0.0
    row.J_a[0] = sign
    used = attach_constraint_body(s.forest, constrained, constrained.of_dof[k], row, response, used)
    row.inverse_mass = coupling(row, row, response)
    row.upper = own.force_limit * s.settings[0].time_step
    row.lower = -row.upper
    row.source = k
    choose_solver(row, own.solver)
    return used


@inlined_kernel
def _limit(
    room: float,
    rate: float,
    acceleration: float,
    settings: Settings,
    own: JointParameters,
    row: Row,
) -> None:
    """Write the target of a limit's row, rigid or compliant.

    room: distance of the joint from the limit [rad or m].
    rate: rate of this distance [rad/s or m/s].
    acceleration: acceleration of this distance without constraints [rad/s^2 or m/s^2].
    """
    time_step, damping_time = settings.time_step, own.damping_time
    row.lower = 0.0
    if damping_time >= 0.0:
        row.correction_velocity = min(-room / time_step, 0.0)
        room += settings.lead * rate
        soften_stop(row, room, rate, acceleration, own.compliance, damping_time, time_step)
    else:
        row.target, row.correction_velocity = rigid_limit_law(room, settings)


@inlined_kernel
def rigid_limit_law(room: float, settings: Settings) -> tuple[float, float]:
    """Return target velocity and position correction for the row of a rigid joint limit.

    Args:
        room: distance to the limit [rad or m].
        settings: settings of the step.

    Returns:
        (target, displacement rate of the correction) [rad/s or m/s].
    """
    closing = -room / settings.time_step
    if room > 0.0:
        return closing, closing
    return 0.0, min(settings.correction_rate * closing, settings.correction_speed)


@inlined_kernel
def rigid_limit_slopes(room: float, settings: Settings) -> tuple[float, float]:
    """Return the derivatives of both results of `rigid_limit_law` with respect to `room` [1/s].

    Args:
        room: distance of the joint from its limit [rad or m].
        settings: settings of the step.
    """
    slope = -1.0 / settings.time_step
    if room > 0.0:
        return slope, slope
    slope *= settings.correction_rate
    return 0.0, slope if slope * room < settings.correction_speed else 0.0


@inlined_kernel
def mimic_error(dof: Dof, position: float, leader: float) -> float:
    """Return the position error of a mimic joint [rad or m].

    Args:
        dof: record of the mimic joint's degree of freedom.
        position: position of the mimic joint [rad or m].
        leader: position of the leading joint [rad or m].
    """
    return position - dof.mimic_offset - dof.mimic_ratio * leader


@inlined_kernel
def _follow(
    forest: Forest, constrained: ConstraintBodies, dof: Dof, row: Row, response: Vector, used: int
) -> int:
    """Attach the row of a mimic joint to the leading joint as well, with the mimic ratio."""
    for s in range(6):
        row.J_b[s] = 0.0
    row.J_b[0] = -dof.mimic_ratio
    used = attach_second_constraint_body(
        forest, constrained, constrained.of_dof[dof.mimic_dof], row, response, used
    )
    row.inverse_mass = coupling(row, row, response)
    return used


@inlined_kernel
def _hold(error: float, rate: float, settings: Settings, own: JointParameters, row: Row) -> None:
    """Write the target of a row that keeps `error` [rad or m] at zero."""
    time_step = settings.time_step
    if own.damping_time < 0.0:
        row.correction_velocity = wanted_correction(error, time_step, settings)
    else:
        error += settings.lead * rate
        soften(row, error, rate, 0.0, own.compliance, own.damping_time, time_step)


@inner_kernel
def remember_joint_impulses(
    forest: Forest,
    rows: Records[Row],
    first: Index,
    row_count: int,
    frictions: Records[Friction],
    impulses_out: Matrix,
) -> None:
    """Store the impulses of joint constraints for the warm start of the next step.

    Args:
        forest: constants of the bodies and joints.
        rows: ROW records (row capacity,).
        first: first row of the joints.
        row_count: number of rows.
        frictions: FRICTION records (nv,), for friction without a row.
        impulses_out: impulses for each degree of freedom and kind of row (nv, kinds) [Nms or Ns],
            written.
    """
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
