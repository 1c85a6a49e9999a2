# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Constraint rows of driven fixed tendons: actuators on a linear combination of two joints.

A fixed tendon has the length l = c_a q_a + c_b q_b. The tendon's actuator has the force effort + kp
(target - l) + kd (target rate - l'), within its limit. The gains act implicitly, as at joints.
"""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.engine.compile.fields import Axis, constant, state
from hrpsim.engine.compile.kernel_types import Index, Indices, Records, Row, Scene
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
        ("effort_limit", "f8"),  # largest effort of the actuator [N or Nm]
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
        ("row", "i8"),  # row of the tendon in the step; -1: not driven
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
    drives: np.ndarray = state("commands of tendon actuators", TENDON_DRIVE, Axis.TENDON)


@inner_kernel
def number_tendon_rows(tendons: Tendons, first: Index, of_dof: Indices) -> int:
    """Number the rows of driven tendons from `first` on, and return the next number.

    The kernel writes `row` of every tendon's drive, and marks the degrees of freedom in `of_dof`
    that driven tendons pull.
    """
    number = first
    for k in range(tendons.joints.shape[0]):
        drive = tendons.drives[k]
        drive.row = -1
        if drive.kp > 0.0 or drive.kd > 0.0 or drive.effort != 0.0:
            of_dof[tendons.joints[k].dof_a] = of_dof[tendons.joints[k].dof_b] = 0
            drive.row = number
            number += 1
    return number


@inner_kernel
def write_driven_tendons(s: Scene, used: int) -> int:
    """Write the row of each driven tendon. Return the number of entries of `response` used so far.

    `q` is the configuration in the middle of the step. Over the step the actuator gives the impulse
    dt f - m (l' - l0') [Ns or Nms]. f is the actuator's force at the middle of the step, with the
    rate l0' of the start. m is the inertia that the implicit gains add.

    Args:
        s: the scene.
        used: number of entries of `response` used before.
    """
    forest, constrained, tendons, velocity = s.forest, s.constrained, s.tendons, s.velocity
    time_step, response, q = s.settings[0].time_step, s.rows.response, s.q
    for k in range(tendons.joints.shape[0]):
        joints, drive = tendons.joints[k], tendons.drives[k]
        if drive.row < 0:
            continue
        row = s.rows.rows[drive.row]
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
    return used


@inner_kernel
def remember_tendon_impulses(rows: Records[Row], tendons: Tendons) -> None:
    """Store the impulses of the tendons' actuators [Ns or Nms] for the next warm start."""
    for k in range(tendons.drives.shape[0]):
        drive = tendons.drives[k]
        drive.impulse = rows[drive.row].impulse if drive.row >= 0 else 0.0
