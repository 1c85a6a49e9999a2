# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Forces along joints from springs, dampers and actuators, with implicit integration."""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Control,
    Dof,
    Friction,
    Records,
    Seconds,
    Vector,
    Work,
)
from hrpsim.engine.kinematics.forest import Forest

POSITIONS, VELOCITIES, EFFORTS = 1, 2, 4  # what a command gives, as bits of `given`
OWN_GAINS = 8  # of the command, in place of the robot's

# The actuators' law: effort + kp (target_position - q) + kd (target_velocity - v), bounded by the
# joint's effort limit. Where the joint would exceed its velocity limit the actuator delivers the
# effort that holds it there, within the effort limit: a constraint (engine.constraints.joint_rows).
CONTROL = np.dtype(
    [
        ("kp", "f8"),  # position gain [Nm/rad or N/m]
        ("kd", "f8"),  # velocity gain [Nms/rad or Ns/m]
        ("target_position", "f8"),
        ("target_velocity", "f8"),
        ("effort", "f8"),  # feed-forward effort [Nm or N]
        ("applied", "f8"),  # effort delivered in the last step [Nm or N]
        ("asked", "f8"),  # effort that the control law asked for in the last step, limited
        ("ramp", "f8"),  # change of the target position in a step
        ("ahead", "f8"),  # change of the target position from the middle to the end of a step
        ("ramp_steps", "i8"),  # number of steps for which `ramp` still acts
        ("saturated", "i8"),  # 1, -1: at the positive or negative effort limit; 0: not limited
        ("limiting", "i8"),  # 1, -1: velocity limit overrides the control law; 0: no override
        ("mark", "i8"),  # `saturated` at the end of the last step
        ("limiting_mark", "i8"),  # `limiting` at the end of the last step
        ("given", "i8"),  # what the command gives, for gains that are set while it lasts
    ]
)

# A joint's dry friction in a step: by a row, or as predicted (engine.step.rows.joint_friction).
BY_ROW, STICKS = 0, 2
FRICTION = np.dtype(
    [
        ("mark", "i8"),  # BY_ROW, STICKS, or 1 or -1: slides in that direction
        ("bound", "f8"),  # magnitude of the predicted friction [Nm or N]
        ("impulse", "f8"),  # impulse of predicted friction, or start impulse of a row [Nms or Ns]
        ("limit", "i8"),  # 1, -1: the joint sticks at the lower or upper limit; 0: neither
        ("limit_impulse", "f8"),  # impulse of the limit [Nms or Ns]
    ]
)

# Part of a limit by which an effort or a velocity is not over it.
_ROUNDING = 1e-9


@inner_kernel
def advance_targets(
    forest: Forest,
    velocity: Vector,
    limit_impulses: Vector,
    time_step: Seconds,
    applied: Vector,
    control: Records[Control],
) -> None:
    """Store the efforts that actuators delivered, and advance target positions that ramp.

    An active velocity limit stays marked (`limiting`) if the limit had an impulse, or if `velocity`
    is beyond the limit.

    Args:
        forest: constants of the bodies and joints.
        velocity: joint velocities (nv,) [rad/s or m/s].
        limit_impulses: impulses of the velocity limits (nv,) [Nms or Ns]. These impulses lower the
            demanded efforts to the delivered efforts.
        time_step: [s].
        applied: mean efforts by the actuators' control laws over the step (nv,) [Nm or N].
        control: CONTROL records (nv,), changed.
    """
    for index in range(forest.joints.shape[0]):
        k = forest.joints[index]
        if k >= control.shape[0]:
            break
        actuator, impulse = control[k], limit_impulses[k]
        actuator.applied = applied[k] - actuator.limiting * (impulse / time_step)
        actuator.asked = actuator.applied
        if impulse == 0.0:
            actuator.limiting = overspeed(velocity[k], forest.dofs[k].velocity_limit)
        actuator.mark, actuator.limiting_mark = actuator.saturated, actuator.limiting
        if actuator.ramp_steps > 0:
            actuator.target_position += actuator.ramp
            actuator.ramp_steps -= 1
        else:
            actuator.ahead = 0.0


@inner_kernel
def joint_forces(
    forest: Forest,
    control: Records[Control],
    q: Vector,
    velocity: Vector,
    horizon: Seconds,
    work: Work,
) -> None:
    """Write the effort along every joint, and the inertia that springs, dampers and gains add.

    The kernel writes `effort` [Nm or N], `joint_inertia` and `actuator_inertia` [kg m^2 or kg]
    (nv,) of `work`. `actuator_inertia` is the inertia by the actuator's gains while no limit acts.
    This array is only written if `horizon` is not 0. Entries of free bodies stay unchanged.

    An actuator marked `saturated` gives its effort limit instead.

    Args:
        forest: constants of the bodies and joints.
        control: CONTROL records (nv,).
        q: configuration (nq,). With `horizon` = dt, the configuration at the middle of the step.
        velocity: velocity (nv,) [rad/s or m/s]. With `horizon` = dt, the velocity at the start of
            the step.
        horizon: 0 gives the forces of the state itself. A time step dt [s] takes springs, dampers
            and gains implicitly (see `damping_inertia`, `spring_inertia`), which keeps any
            stiffness stable.
        work: work arrays.
    """
    for index in range(forest.joints.shape[0]):
        k = forest.joints[index]
        if k >= forest.dofs.shape[0]:
            break
        dof, actuator = forest.dofs[k], control[k]
        position, rate = q[dof.q_index], velocity[k]
        stiffness, damping, follows = dof.stiffness, dof.damping, False
        passive = -stiffness * (position - dof.rest) - damping * rate
        ahead = actuator.ahead if horizon > 0.0 else 0.0
        demanded_effort = demand(actuator, position + ahead, rate)
        if horizon == 0.0:
            active = limited(demanded_effort, dof.effort_limit)
        elif actuator.saturated != 0:
            active = actuator.saturated * dof.effort_limit
        else:
            active, follows = demanded_effort, True
            stiffness += actuator.kp
            damping += actuator.kd
        work.effort[k] = passive + active
        work.joint_inertia[k] = dof.rotor_inertia
        if horizon > 0.0:
            work.joint_inertia[k] += spring_inertia(stiffness, horizon)
            damped = damping_inertia(damping, dof.own_inertia, horizon)
            work.joint_inertia[k] += damped
            if not follows:
                damped = damping_inertia(dof.damping + actuator.kd, dof.own_inertia, horizon)
            work.actuator_inertia[k] = _actuator_inertia(dof, actuator, damped, horizon)


@inner_kernel
def apply_frictions(frictions: Records[Friction], effort: Vector, joint_inertia: Vector) -> None:
    """Add predicted dry friction to the efforts. Joints that stick get infinite inertia.

    Args:
        frictions: FRICTION records (nv,).
        effort: efforts on joints (nv,) [Nm or N], changed.
        joint_inertia: inertia added at joints (nv,) [kg m^2 or kg], changed.
    """
    for k in range(frictions.shape[0]):
        mark = frictions[k].mark
        if mark == STICKS:
            joint_inertia[k] = math.inf
        elif mark != BY_ROW:
            effort[k] -= mark * frictions[k].bound


@inlined_kernel
def spring_inertia(stiffness: float, time_step: Seconds) -> float:
    """Return the inertia that a spring adds to a joint in an implicit step [kg m^2 or kg].

    The force of the spring is -k (q + dt (v' - v) / 4). q is the position at the middle of the
    step. v and v' are the velocities at both ends of the step. Like the trapezoidal rule, this rule
    is symmetric in time, accurate to second order, stable at any stiffness, and loses no energy.

    Args:
        stiffness: stiffness k of the spring [Nm/rad or N/m].
        time_step: dt [s].
    """
    return 0.25 * time_step * time_step * stiffness


@inlined_kernel
def damping_inertia(damping: float, inertia: float, time_step: Seconds) -> float:
    """Return the inertia that a damper adds to a joint in an implicit step [kg m^2 or kg].

    The force of the damper is -c (v + s (v' - v)), so the inertia is s dt c. With z = c dt /
    `inertia`, s = (1 + z) / (2 + z). A damped inertia then slows by 1 / (1 + z + z^2/2), the (0, 2)
    Pade approximant of exp(-z). The rule is accurate to second order and monotone for any z.

    Args:
        damping: damping coefficient c [Nms/rad or Ns/m].
        inertia: lower bound of the joint's effective inertia [kg m^2 or kg]. A larger inertia also
            slows monotonically and to second order.
        time_step: dt [s].
    """
    if damping <= 0.0:
        return 0.0
    added = damping * time_step
    return added * (inertia + added) / (2.0 * inertia + added)


def damping_slopes(
    damping: np.ndarray, inertia: np.ndarray, time_step: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives of `damping_inertia`.

    Args:
        damping: damping coefficients (n,), not negative [Nms/rad or Ns/m].
        inertia: inertias (n,) [kg m^2 or kg]. Results for joints without inertia are meaningless.
        time_step: [s].

    Returns:
        (derivative with respect to the damping (n,) [s], derivative with respect to the inertia
        (n,) [1]).
    """
    added, least = time_step * damping, np.where(inertia > 0.0, inertia, 1.0)
    square = (2.0 * least + added) ** 2
    by_damping = time_step * (2.0 * least**2 + 4.0 * least * added + added**2) / square
    return by_damping, -(added**2) / square


@inner_kernel
def revise_limited(
    forest: Forest,
    control: Records[Control],
    q: Vector,
    velocity: Vector,
    work: Work,
    time_step: Seconds,
    implicit: bool,
    may_release: bool,
) -> bool:
    """Mark actuators at velocity or effort limits, and return whether a mark has changed.

    The marks are computed from the acceleration work.dv + work.change (nv,), which was solved with
    the present marks. This acceleration includes constraint forces. A load that a joint limit or
    the ground bears therefore does not load the actuator.

    Args:
        forest: constants of the bodies and joints.
        control: CONTROL records (nv,). `saturated` and `limiting` are changed.
        q: configuration (nq,), as passed to `joint_forces`.
        velocity: velocity at the start of the step (nv,) [rad/s or m/s].
        work: work arrays. `dv`, `change` and `actuator_inertia` are read.
        time_step: [s].
        implicit: whether effort limits are checked as well, as in an implicit step.
        may_release: False prevents marks of effort limits from being cleared.
    """
    changed = False
    for index in range(forest.joints.shape[0]):
        k = forest.joints[index]
        if k >= forest.dofs.shape[0]:
            break
        dof, actuator = forest.dofs[k], control[k]
        acceleration = work.dv[k] + work.change[k]
        beyond = overspeed(velocity[k] + time_step * acceleration, dof.velocity_limit)
        if beyond != 0 and actuator.limiting != beyond and actuator.saturated != -beyond:
            actuator.limiting = beyond
            changed = True
        if not implicit:
            continue
        effort = demand(actuator, q[dof.q_index] + actuator.ahead, velocity[k])
        effort -= work.actuator_inertia[k] * acceleration
        if actuator.saturated == 0:
            if abs(effort) > (1.0 + _ROUNDING) * dof.effort_limit:
                actuator.saturated = 1 if effort > 0.0 else -1
                changed = True
        elif beyond != 0 and actuator.saturated == -beyond:
            continue  # it brakes with its effort limit
        elif may_release and actuator.saturated * effort < (1.0 - _ROUNDING) * dof.effort_limit:
            actuator.saturated = 0
            changed = True
    return changed


@inlined_kernel
def overspeed(rate: float, velocity_limit: float) -> int:
    """Return 1 if a joint velocity is beyond its upper limit, -1 beyond its lower limit, else 0."""
    if abs(rate) <= (1.0 + _ROUNDING) * velocity_limit:
        return 0
    return 1 if rate > 0.0 else -1


@inlined_kernel
def _actuator_inertia(dof: Dof, actuator: Control, damped: float, time_step: Seconds) -> float:
    """Return the inertia that the actuator's gains add to a joint in an implicit step.

    damped: inertia that the damping gain and the joint's damper add together.
    """
    kd_inertia = 0.0
    if actuator.kd > 0.0:
        kd_inertia = actuator.kd / (dof.damping + actuator.kd) * damped
    return kd_inertia + spring_inertia(actuator.kp, time_step)


@inner_kernel
def restore_marks(control: Records[Control]) -> None:
    """Restore `saturated` and `limiting` of every actuator to their values after the last step."""
    for k in range(control.shape[0]):
        control[k].saturated, control[k].limiting = control[k].mark, control[k].limiting_mark


@inner_kernel
def add_delivered_effort(
    forest: Forest,
    control: Records[Control],
    q: Vector,
    velocity: Vector,
    horizon: Seconds,
    weight: float,
    work: Work,
) -> None:
    """Add the efforts of the actuators' control laws, times `weight`, to work.applied.

    The acceleration is work.dv + work.change. Entries of free bodies stay unchanged.

    Args:
        forest: constants of the bodies and joints.
        control: CONTROL records (nv,).
        q: configuration (nq,), as passed to `joint_forces`.
        velocity: velocity (nv,) [rad/s or m/s], as passed to `joint_forces`.
        horizon: as passed to `joint_forces` [s].
        weight: factor of the efforts, for means over the stages of a step.
        work: work arrays. `applied` (nv,) [Nm or N] is changed.
    """
    for index in range(forest.joints.shape[0]):
        k = forest.joints[index]
        if k >= forest.dofs.shape[0]:
            break
        dof, actuator = forest.dofs[k], control[k]
        rate, acceleration = velocity[k], work.dv[k] + work.change[k]
        position, inertia = q[dof.q_index], work.actuator_inertia[k]
        effort = law_effort(dof, actuator, position, rate, acceleration, inertia, horizon)
        work.applied[k] += weight * effort


@inlined_kernel
def law_effort(
    dof: Dof,
    actuator: Control,
    position: float,
    rate: float,
    acceleration: float,
    inertia: float,
    horizon: Seconds,
) -> float:
    """Return the effort of an actuator's control law over one step [Nm or N].

    Args:
        dof: record of the joint's degree of freedom.
        actuator: CONTROL record.
        position: position of the joint, as passed to `joint_forces` [rad or m].
        rate: velocity of the joint, as passed to `joint_forces` [rad/s or m/s].
        acceleration: acceleration of the joint over the step [rad/s^2 or m/s^2].
        inertia: `actuator_inertia` that `joint_forces` wrote [kg m^2 or kg].
        horizon: time step or 0, as passed to `joint_forces` [s].
    """
    if horizon == 0.0:
        return limited(demand(actuator, position, rate), dof.effort_limit)
    if actuator.saturated != 0:
        return actuator.saturated * dof.effort_limit
    return demand(actuator, position + actuator.ahead, rate) - inertia * acceleration


@inner_kernel
def demand(actuator: Control, position: float, rate: float) -> float:
    """Return the effort demanded by the actuator's gains and command, before the limit [Nm or N].

    Args:
        actuator: CONTROL record.
        position: position of the joint [rad or m].
        rate: velocity of the joint [rad/s or m/s].
    """
    return (
        actuator.effort
        + actuator.kp * (actuator.target_position - position)
        + actuator.kd * (actuator.target_velocity - rate)
    )


@inlined_kernel
def demand_slope(actuator: Control, kind: int) -> float:
    """Return the derivative of `demand` with respect to one quantity of the command.

    Units: 1 for the effort, [Nm/rad or N/m] for a position, [Nms/rad or Ns/m] for a velocity.

    Args:
        actuator: CONTROL record.
        kind: 0 for the effort, 1 for the target position, 2 for the target velocity.
    """
    if kind == 0:
        return 1.0
    return actuator.kp if kind == 1 else actuator.kd


@inlined_kernel
def limited(wanted: float, effort_limit: float) -> float:
    """Return the effort `wanted` [Nm or N], clamped to the range +-`effort_limit` [Nm or N]."""
    return min(max(wanted, -effort_limit), effort_limit)
