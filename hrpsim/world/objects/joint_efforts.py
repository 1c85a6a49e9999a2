# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What the constraints of a robot's joints exerted in the last step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.constraints.joint_rows import MIMIC_PARAMETERS, PARAMETERS_OF_ROW
from hrpsim.constraints.rows import LOWER_LIMIT, UPPER_LIMIT
from hrpsim.jit.compiled import inlined_kernel, kernel

ALL_KINDS = -1


class EffortSources(NamedTuple):
    """What the efforts of constraints are read from, for a robot with n joints."""

    settings: np.ndarray  # (1,) SETTINGS
    impulses: np.ndarray  # (nv, 7) of the step, by row
    impact_impulse: np.ndarray  # (nv, 7) of its impacts
    dofs: np.ndarray  # (nv,) DOF, numbered within the robot
    joint_v: np.ndarray  # (n,) places of the joints in the impulses
    joint_of: np.ndarray  # (nv,) the other way round


@kernel
def read_efforts(s, kind, efforts_out):
    """Write the efforts (n,) [Nm or N] of constraints of one kind, or of all with ALL_KINDS.

    All: what each joint gets, the reaction of those that mimic it included.
    """
    scale = 1.0 / s.settings[0].time_step
    for k in range(s.joint_v.shape[0]):
        at = s.joint_v[k]
        efforts_out[k] = scale * _impulse_of(s.impulses[at], s.impact_impulse[at], kind)
    if kind != ALL_KINDS:
        return 0
    for k in range(s.joint_v.shape[0]):
        at = s.joint_v[k]
        dof = s.dofs[at]
        if dof.mimic_dof >= 0:
            effort = scale * _impulse_of(s.impulses[at], s.impact_impulse[at], MIMIC_PARAMETERS)
            efforts_out[s.joint_of[dof.mimic_dof]] -= dof.mimic_ratio * effort
    return 0


@inlined_kernel
def _impulse_of(impulse, impact_impulse, kind):
    """Return what rows of one kind, or of all, did in a step, impacts included [Nms or Ns]."""
    total = 0.0
    for row in range(PARAMETERS_OF_ROW.shape[0]):
        if kind == ALL_KINDS or kind == PARAMETERS_OF_ROW[row]:
            sign = -1.0 if row == UPPER_LIMIT - LOWER_LIMIT else 1.0
            total += sign * (impulse[row] + impact_impulse[row])
    return total
