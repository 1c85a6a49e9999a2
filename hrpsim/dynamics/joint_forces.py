"""What acts along a joint: spring, damper, actuator, and how a step may take them implicitly."""

from __future__ import annotations

import numpy as np

from hrpsim.compiled import inner_kernel

# The actuators' law: effort + kp (target_position - q) + kd (target_velocity - v). The sum is
# limited by the joint's effort limit, and never drives a joint further that already moves faster
# than its velocity limit.
CONTROL = np.dtype(
    [
        ("kp", "f8"),  # [Nm/rad] or [N/m]
        ("kd", "f8"),  # [Nms/rad] or [Ns/m]
        ("target_position", "f8"),
        ("target_velocity", "f8"),
        ("effort", "f8"),  # feed-forward [Nm] or [N]
        ("applied", "f8"),  # what the actuator delivered in the last step
    ]
)


@inner_kernel
def joint_forces(forest, control, q, velocity, horizon, effort_out, joint_inertia_out):
    """Write the effort along every joint (nv,) and the inertia it sees besides the links' (nv,).

    With `horizon` = 0 the forces are those of the state itself. With `horizon` = dt springs,
    dampers and gains are taken at the end of the step (linearly implicit Euler: the force at
    q + dt v', v'), which adds dt c + dt^2 k to the inertia and keeps any stiffness stable.
    """
    for k in range(forest.dofs.shape[0]):
        dof, law = forest.dofs[k], control[k]
        if dof.q_index < 0:
            joint_inertia_out[k] = 0.0
            effort_out[k] = 0.0
            continue
        rate = velocity[k]
        ahead = q[dof.q_index] + horizon * rate
        inertia = dof.rotor_inertia + horizon * (dof.damping + horizon * dof.stiffness)
        passive = -dof.stiffness * (ahead - dof.rest) - dof.damping * rate
        wanted = demand(law, ahead, rate)
        active = limited(wanted, rate, dof.effort_limit, dof.velocity_limit)
        if active == wanted:
            inertia += horizon * (law.kd + horizon * law.kp)
        effort_out[k] = passive + active
        joint_inertia_out[k] = inertia


@inner_kernel
def delivered_effort(forest, control, q_before, velocity_before, velocity, horizon):
    """Write control.applied: the actuator's share of a step that `joint_forces` began."""
    for k in range(forest.dofs.shape[0]):
        dof, law = forest.dofs[k], control[k]
        if dof.q_index < 0:
            continue
        rate = velocity_before[k]
        wanted = demand(law, q_before[dof.q_index] + horizon * rate, rate)
        active = limited(wanted, rate, dof.effort_limit, dof.velocity_limit)
        if active == wanted and horizon > 0.0:
            active -= (law.kd + horizon * law.kp) * (velocity[k] - rate)
        law.applied = active


@inner_kernel
def demand(law, position, rate):
    """Return what the actuator's law asks for [Nm or N]."""
    return (
        law.effort
        + law.kp * (law.target_position - position)
        + law.kd * (law.target_velocity - rate)
    )


@inner_kernel
def limited(wanted, rate, effort_limit, velocity_limit):
    """Return what an actuator delivers of `wanted` [Nm or N] at the joint velocity `rate`."""
    if (rate > velocity_limit and wanted > 0.0) or (rate < -velocity_limit and wanted < 0.0):
        return 0.0
    return min(max(wanted, -effort_limit), effort_limit)
