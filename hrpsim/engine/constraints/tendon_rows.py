# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The rows of driven fixed tendons: actuators on a linear combination of two joints.

A fixed tendon has the length l = c_a q_a + c_b q_b. The tendon's actuator gives effort + kp (target
- l) + kd (target rate - l'), within its limit. Gains act implicitly, like the gains of joints.
"""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.fields import Axis, constant, state
from hrpsim.engine.constraints.rows import (
    TENDON,
    attach_constraint_body,
    attach_second_constraint_body,
    coupling,
    start_row,
)
from hrpsim.engine.dynamics.joint_forces import damping_inertia, limited, spring_inertia

# The unit of a length is that of coefficient times position: m, or rad.
TENDON_JOINTS = np.dtype(
    [
        ("dof_a", "i8"),
        ("dof_b", "i8"),
        ("coefficient_a", "f8"),
        ("coefficient_b", "f8"),
        ("effort_limit", "f8"),  # of its actuator [N or Nm]
    ]
)
TENDON_DRIVE = np.dtype(
    [
        ("kp", "f8"),  # [N/m or Nm/rad]
        ("kd", "f8"),
        ("target_position", "f8"),
        ("target_velocity", "f8"),
        ("effort", "f8"),  # feed-forward [N or Nm]
        ("impulse", "f8"),  # delivered in the last step [Ns or Nms]
    ]
)


class Tendons(NamedTuple):
    """The driven fixed tendons of a scene."""

    joints: np.ndarray = constant(
        "joints of driven tendons",
        TENDON_JOINTS,
        Axis.TENDON,
        refers={"dof_a": Axis.DOF, "dof_b": Axis.DOF},
    )
    drives: np.ndarray = state("commands of their actuators", TENDON_DRIVE, Axis.TENDON)


@inlined_kernel
def _is_driven(drive):
    return drive.kp > 0.0 or drive.kd > 0.0 or drive.effort != 0.0


@inner_kernel
def mark_tendon_bodies(tendons, of_dof):
    """Mark the degrees of freedom that driven tendons pull, and return the number of their rows."""
    count = 0
    for k in range(tendons.joints.shape[0]):
        if _is_driven(tendons.drives[k]):
            of_dof[tendons.joints[k].dof_a] = of_dof[tendons.joints[k].dof_b] = 0
            count += 1
    return count


@inner_kernel
def write_driven_tendons(s, first, used):
    """Write a row for each driven tendon, from row `first` on, and return the response space used.

    `q` is the configuration in the middle of the step. Over the step the actuator gives the impulse
    dt f - m (l' - l0'). f is the actuator's force at the middle with the rate l0' at the start. m
    is the inertia of the actuator's gains.

    Args:
        s: the scene.
        first: first row.
        used: response space used before.
    """
    forest, constrained, tendons, velocity = s.forest, s.constrained, s.tendons, s.velocity
    time_step, response, q = s.settings[0].time_step, s.rows.response, s.q
    number = first
    for k in range(tendons.joints.shape[0]):
        joints, drive, row = tendons.joints[k], tendons.drives[k], s.rows.rows[number]
        if not _is_driven(drive):
            continue
        a, b = joints.dof_a, joints.dof_b
        start_row(row, used)
        for r in range(6):
            row.J_a[r] = row.J_b[r] = 0.0
        row.J_a[0], row.J_b[0] = joints.coefficient_a, joints.coefficient_b
        of_dof = constrained.of_dof
        used = attach_constraint_body(forest, constrained, of_dof[a], row, response, used)
        used = attach_second_constraint_body(forest, constrained, of_dof[b], row, response, used)
        row.inverse_mass = coupling(row, row, response)
        row.kind, row.source = TENDON, k
        length = joints.coefficient_a * q[forest.dofs[a].q_index]
        length += joints.coefficient_b * q[forest.dofs[b].q_index]
        rate = joints.coefficient_a * velocity[a] + joints.coefficient_b * velocity[b]
        force = drive.effort + drive.kp * (drive.target_position - length)
        force += drive.kd * (drive.target_velocity - rate)
        inertia = spring_inertia(drive.kp, time_step)
        inertia += damping_inertia(drive.kd, 1.0 / row.inverse_mass, time_step)
        limit = time_step * joints.effort_limit
        row.upper = limit
        row.lower = -limit
        if inertia > 0.0:
            row.target = rate + time_step * force / inertia
            row.compliance = 1.0 / inertia
            row.inverse_mass += row.compliance
        else:
            row.lower = row.upper = limited(time_step * force, limit)
        row.impulse = min(max(drive.impulse, row.lower), row.upper)
        number += 1
    return used


@inner_kernel
def remember_tendon_impulses(rows, first, row_count, tendons):
    """Store the delivered impulses of tendons' actuators, from which the next step starts."""
    for k in range(tendons.drives.shape[0]):
        tendons.drives[k].impulse = 0.0
    for number in range(first, row_count):
        row = rows[number]
        if row.kind == TENDON:
            tendons.drives[row.source].impulse = row.impulse
