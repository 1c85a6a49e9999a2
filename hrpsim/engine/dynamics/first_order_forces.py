# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Forces along joints by MuJoCo's first-order rules, for trajectories equal to MuJoCo's.

Efforts are computed at the given state. Dampers also add inertia. Their force then depends on the
velocity at the end of the step: (M + dt D) (v' - v) = dt f.
"""

from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.engine.compile.kernel_types import Control, Records, Seconds, Vector, Work
from hrpsim.engine.dynamics.joint_forces import demand, limited, overspeed
from hrpsim.engine.kinematics.forest import Forest

# Which forces of joints act at the end of the step. SYMMETRIC is the rule of `joint_forces`.
SYMMETRIC, EXPLICIT, DAMPERS, DAMPERS_AND_GAINS = range(4)


@inner_kernel
def first_order_forces(
    forest: Forest,
    control: Records[Control],
    q: Vector,
    velocity: Vector,
    time_step: Seconds,
    rule: int,
    work: Work,
) -> None:
    """Write the effort along every joint, and the inertia that dampers and gains add to the joint.

    The kernel writes the same arrays of `work` as `joint_forces`, and `saturated` of the actuators.

    Args:
        forest: constants of the bodies and joints.
        control: CONTROL records (nv,).
        q: configuration at the start of the step (nq,).
        velocity: velocity at the start of the step (nv,) [rad/s or m/s].
        time_step: [s].
        rule: EXPLICIT adds no inertia. DAMPERS adds inertia for dampers of joints.
            DAMPERS_AND_GAINS also adds inertia for gains of actuators within their effort limits.
        work: work arrays.
    """
    for index in range(forest.joints.shape[0]):
        k = forest.joints[index]
        if k >= forest.dofs.shape[0]:
            break
        dof, actuator = forest.dofs[k], control[k]
        position, rate = q[dof.q_index], velocity[k]
        demanded_effort = demand(actuator, position + actuator.ahead, rate)
        actuator.saturated = overspeed(demanded_effort, dof.effort_limit)
        passive = -dof.stiffness * (position - dof.rest) - dof.damping * rate
        work.effort[k] = passive + limited(demanded_effort, dof.effort_limit)
        follows = rule == DAMPERS_AND_GAINS and actuator.saturated == 0
        work.actuator_inertia[k] = time_step * actuator.kd if follows else 0.0
        work.joint_inertia[k] = dof.rotor_inertia + work.actuator_inertia[k]
        if rule != EXPLICIT:
            work.joint_inertia[k] += time_step * dof.damping
