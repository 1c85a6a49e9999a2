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
        ("ramp", "f8"),  # what each step adds to the target position
        ("ramp_steps", "i8"),  # for how many more steps
        ("saturated", "i8"),  # +1, -1: the last implicit step found it at its effort limit
    ]
)

# Part of an effort limit by which a demand is not over it.
_ROUNDING = 1e-9


@inner_kernel
def advance_targets(control):
    """Move every target position on by one step of its ramp."""
    for k in range(control.shape[0]):
        law = control[k]
        if law.ramp_steps > 0:
            law.target_position += law.ramp
            law.ramp_steps -= 1


@inner_kernel
def joint_forces(forest, control, q, velocity, horizon, effort_out, joint_inertia_out):
    """Write the effort along every joint (nv,) and the inertia it sees besides the links' (nv,).

    With `horizon` = 0 the forces are those of the state itself. With `horizon` = dt springs,
    dampers and gains are taken at the end of the step (linearly implicit Euler: the force at
    q + dt v', v'), which adds dt c + dt^2 k to the inertia and keeps any stiffness stable. An
    actuator marked `saturated` gives its effort limit instead.
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
        if horizon == 0.0 or overspeeds(wanted, rate, dof.velocity_limit):
            active = limited(wanted, rate, dof.effort_limit, dof.velocity_limit)
        elif law.saturated != 0:
            active = law.saturated * dof.effort_limit
        else:
            active = wanted
            inertia += horizon * (law.kd + horizon * law.kp)
        effort_out[k] = passive + active
        joint_inertia_out[k] = inertia


@inner_kernel
def revise_saturated(forest, control, q, velocity, dv, change, horizon, may_release):
    """Mark the actuators that would exceed their effort limit; return whether a mark has changed.

    `dv` + `change` (nv,) is the acceleration that the implicit law leads to, constraint forces
    included: what a limit or the ground bears is not asked of an actuator. Without `may_release`
    marks stay.
    """
    changed = False
    for k in range(forest.dofs.shape[0]):
        dof, law = forest.dofs[k], control[k]
        if dof.q_index < 0:
            continue
        wanted = demand(law, q[dof.q_index] + horizon * velocity[k], velocity[k])
        if overspeeds(wanted, velocity[k], dof.velocity_limit):
            continue
        wanted -= horizon * (law.kd + horizon * law.kp) * (dv[k] + change[k])
        if law.saturated == 0:
            if abs(wanted) > (1.0 + _ROUNDING) * dof.effort_limit:
                law.saturated = 1 if wanted > 0.0 else -1
                changed = True
        elif may_release and law.saturated * wanted < (1.0 - _ROUNDING) * dof.effort_limit:
            law.saturated = 0
            changed = True
    return changed


@inner_kernel
def delivered_effort(forest, control, q_before, velocity_before, velocity, horizon):
    """Write control.applied: the actuator's share of a step that `joint_forces` began."""
    for k in range(forest.dofs.shape[0]):
        dof, law = forest.dofs[k], control[k]
        if dof.q_index < 0:
            continue
        rate = velocity_before[k]
        wanted = demand(law, q_before[dof.q_index] + horizon * rate, rate)
        if horizon == 0.0 or overspeeds(wanted, rate, dof.velocity_limit):
            law.applied = limited(wanted, rate, dof.effort_limit, dof.velocity_limit)
        elif law.saturated != 0:
            law.applied = law.saturated * dof.effort_limit
        else:
            law.applied = wanted - (law.kd + horizon * law.kp) * (velocity[k] - rate)


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
    if overspeeds(wanted, rate, velocity_limit):
        return 0.0
    return min(max(wanted, -effort_limit), effort_limit)


@inner_kernel
def overspeeds(wanted, rate, velocity_limit):
    """Return whether an effort would drive a joint further that is beyond its velocity limit."""
    return (rate > velocity_limit and wanted > 0.0) or (rate < -velocity_limit and wanted < 0.0)
