# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Generalised forces of a state, from the equation of motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from hrpsim.bridges.mujoco.native import package
from hrpsim.common.errors import StateError


def smooth_forces(m: Any, data: Any) -> np.ndarray:
    """Return all forces but those of constraints (nv,) [N or Nm]: MuJoCo's qfrc_smooth.

    Args:
        m: a mujoco.MjModel.
        data: its mujoco.MjData, with mass matrix, qfrc_bias and qfrc_passive.
    """
    found = data.qfrc_passive - data.qfrc_bias + data.qfrc_actuator + data.qfrc_applied
    for body in np.flatnonzero(data.xfrc_applied.any(axis=1)):
        wrench = data.xfrc_applied[body]
        package().mj_applyFT(m, data, wrench[:3], wrench[3:], data.xipos[body], int(body), found)
    return found


def constraint_forces(m: Any, data: Any) -> np.ndarray:
    """Return what the mean acceleration of the step leaves for constraints (nv,) [N or Nm].

    An implicit step takes dampers at the end of the step, unless the integrator is rk4.
    """
    found = _inertial(m, data, data.qacc) - smooth_forces(m, data)
    off = m.opt.disableflags & package().mjtDisableBit.mjDSBL_DAMPER
    if m.opt.integrator != package().mjtIntegrator.mjINT_RK4 and not off:
        found += m.opt.timestep * m.dof_damping * data.qacc
    return found


def inverse_forces(m: Any, data: Any, contacts: int) -> np.ndarray:
    """Return the forces that give the accelerations data.qacc (nv,): MuJoCo's qfrc_inverse.

    Raises:
        StateError: if constraints act. Forces of rigid contacts do not follow from the motion.
    """
    if contacts or m.dof_frictionloss.any() or data.eq_active.any() or _are_limits_met(m, data):
        raise StateError(
            "mj_inverse: contacts, limits, dry friction or equalities act; hrpsim's are rigid, so"
            " the motion does not determine their forces: read qfrc_actuator and qfrc_constraint"
            " of a step"
        )
    return _inertial(m, data, data.qacc) + data.qfrc_bias - data.qfrc_passive


def _inertial(m: Any, data: Any, acceleration: np.ndarray) -> np.ndarray:
    found = np.zeros(m.nv)
    package().mj_mulM(m, data, found, np.array(acceleration))
    return found


def _are_limits_met(m: Any, data: Any) -> bool:
    """Return whether a hinge or slide is at its limit or beyond."""
    for joint in np.flatnonzero(m.jnt_limited):
        low, high = m.jnt_range[joint]
        if not low < data.qpos[m.jnt_qposadr[joint]] < high:
            return True
    return False
