"""What acts along a joint: spring, damper, actuator, and how a step may take them implicitly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.compiled import kernel
from hrpsim.model.system import FREE


class JointControl(NamedTuple):
    """The actuators' law: effort + kp (target_position - q) + kd (target_velocity - v), (nv,) each.

    The sum is limited by the joint's effort limit, and never drives a joint further that already
    moves faster than its velocity limit.
    """

    kp: np.ndarray  # [Nm/rad] or [N/m]
    kd: np.ndarray  # [Nms/rad] or [Ns/m]
    target_position: np.ndarray
    target_velocity: np.ndarray
    effort: np.ndarray  # [Nm] or [N]
    applied: np.ndarray  # what the actuators delivered in the last step


def new_joint_control(dof_count: int) -> JointControl:
    """Return actuators that do nothing."""
    return JointControl(*(np.zeros(dof_count) for _ in JointControl._fields))


@kernel
def joint_forces(system, control, q, velocity, horizon, effort_out, joint_inertia_out):
    """Write the effort along every joint (nv,) and the inertia it sees besides the links' (nv,).

    With `horizon` = 0 the forces are those of the state itself. With `horizon` = dt springs,
    dampers and gains are taken at the end of the step (linearly implicit Euler: the force at
    q + dt v', v'), which adds dt c + dt^2 k to the inertia and keeps any stiffness stable.
    """
    for k in range(system.dof_body.shape[0]):
        body = system.dof_body[k]
        joint_inertia_out[k] = 0.0
        if system.joint_type[body] == FREE:
            effort_out[k] = 0.0
            continue
        rate = velocity[k]
        ahead = q[system.q_index[body]] + horizon * rate
        stiffness, damping = system.stiffness[k], system.damping[k]
        inertia = system.rotor_inertia[k] + horizon * (damping + horizon * stiffness)
        passive = -stiffness * (ahead - system.rest[k]) - damping * rate
        demand = (
            control.effort[k]
            + control.kp[k] * (control.target_position[k] - ahead)
            + control.kd[k] * (control.target_velocity[k] - rate)
        )
        active = limited(demand, rate, system.effort_limit[k], system.velocity_limit[k])
        if active == demand:
            inertia += horizon * (control.kd[k] + horizon * control.kp[k])
        effort_out[k] = passive + active
        joint_inertia_out[k] = inertia


@kernel
def delivered_effort(system, control, q_before, velocity, velocity_after, horizon):
    """Write control.applied: the actuator's share of a step that `joint_forces` began."""
    for k in range(system.dof_body.shape[0]):
        body = system.dof_body[k]
        if system.joint_type[body] == FREE:
            continue
        kp, kd = control.kp[k], control.kd[k]
        position, rate = q_before[system.q_index[body]], velocity[k]
        demand = (
            control.effort[k]
            + kp * (control.target_position[k] - position - horizon * rate)
            + kd * (control.target_velocity[k] - rate)
        )
        active = limited(demand, rate, system.effort_limit[k], system.velocity_limit[k])
        if active == demand and horizon > 0.0:
            active -= (kd + horizon * kp) * (velocity_after[k] - rate)
        control.applied[k] = active


@kernel
def limited(demand, rate, effort_limit, velocity_limit):
    """Return what an actuator delivers of `demand` [Nm or N] at the joint velocity `rate`."""
    if (rate > velocity_limit and demand > 0.0) or (rate < -velocity_limit and demand < 0.0):
        return 0.0
    return min(max(demand, -effort_limit), effort_limit)
