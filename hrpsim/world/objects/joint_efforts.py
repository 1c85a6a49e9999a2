"""What the constraints of a robot's joints exerted in the last step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.constraints.joint_rows import (
    FRICTION_LAW,
    LIMIT_LAW,
    LOCK_LAW,
    MIMIC_LAW,
    MOTOR_LAW,
)
from hrpsim.constraints.rows import (
    JOINT_FRICTION,
    LOCK,
    LOWER_LIMIT,
    MIMIC,
    MOTOR,
    UPPER_LIMIT,
)
from hrpsim.jit.compiled import inlined_kernel, kernel

ALL_KINDS = -1


class EffortSources(NamedTuple):
    """What the efforts of constraints are read from, for a robot with n joints."""

    settings: np.ndarray  # (1,) SETTINGS
    impulses: np.ndarray  # (nv,) JOINT_IMPULSE
    struck: np.ndarray  # (nv, 6) what came besides at once
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
        efforts_out[k] = scale * _impulse_of(s.impulses[at], s.struck[at], kind)
    if kind != ALL_KINDS:
        return 0
    for k in range(s.joint_v.shape[0]):
        at = s.joint_v[k]
        dof = s.dofs[at]
        if dof.mimic_dof >= 0:
            effort = scale * _impulse_of(s.impulses[at], s.struck[at], MIMIC_LAW)
            efforts_out[s.joint_of[dof.mimic_dof]] -= dof.mimic_ratio * effort
    return 0


@inlined_kernel
def _impulse_of(impulse, struck, kind):
    """Return what rows of one kind, or of all, did in a step, impacts included [Nms or Ns]."""
    total = 0.0
    if kind == LIMIT_LAW or kind == ALL_KINDS:
        total += impulse.lower - impulse.upper
        total += struck[LOWER_LIMIT - LOWER_LIMIT] - struck[UPPER_LIMIT - LOWER_LIMIT]
    if kind == FRICTION_LAW or kind == ALL_KINDS:
        total += impulse.friction + struck[JOINT_FRICTION - LOWER_LIMIT]
    if kind == MIMIC_LAW or kind == ALL_KINDS:
        total += impulse.mimic + struck[MIMIC - LOWER_LIMIT]
    if kind == LOCK_LAW or kind == ALL_KINDS:
        total += impulse.lock + struck[LOCK - LOWER_LIMIT]
    if kind == MOTOR_LAW or kind == ALL_KINDS:
        total += impulse.motor + struck[MOTOR - LOWER_LIMIT]
    return total
