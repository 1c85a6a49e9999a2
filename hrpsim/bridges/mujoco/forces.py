# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Generalised forces, computed from the state and the equation of motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from hrpsim.bridges.mujoco.native import package
from hrpsim.common.errors import StateError
from hrpsim.model.readers.mjcf.tree import rotation_vector

_SLIDE = 2  # mjJNT_SLIDE, a hinge is 3
_NEAR = 1e-6  # largest distance from an active limit [rad or m]


def smooth_forces(m: Any, data: Any, applied: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
    """Return the sum of all forces except constraint forces, MuJoCo's qfrc_smooth (nv,) [N or Nm].

    Args:
        m: a mujoco.MjModel.
        data: the mujoco.MjData of the model, with mass matrix, qfrc_bias and qfrc_passive.
        applied: qfrc_applied (nv,) [N or Nm].
        wrenches: xfrc_applied (nbody, 6) [N, Nm].
    """
    result = data.qfrc_passive - data.qfrc_bias + data.qfrc_actuator + applied
    for body in np.flatnonzero(wrenches.any(axis=1)):
        wrench = wrenches[body]
        package().mj_applyFT(m, data, wrench[:3], wrench[3:], data.xipos[body], int(body), result)
    return result


def find_actuator_forces(m: Any, data: Any) -> None:
    """Compute the passive forces and the actuator forces of a mujoco.MjData for its state.

    Args:
        m: a mujoco.MjModel.
        data: the mujoco.MjData. `ctrl`, `time` and the state are read, and the forces are written.
    """
    mujoco = package()
    mujoco.mj_kinematics(m, data)
    mujoco.mj_comPos(m, data)
    mujoco.mj_tendon(m, data)
    mujoco.mj_transmission(m, data)
    mujoco.mj_fwdVelocity(m, data)
    mujoco.mj_fwdActuation(m, data)


def late_time(m: Any) -> float:
    """Return the time over which joint damping acts implicitly in a step [s].

    MuJoCo computes accelerations from the forces at the start of the step. Damping acts at the end
    of the step, unless the integrator is RK4 or a flag disables implicit damping. The damping
    coefficient times this time is the inertia that implicit damping adds.

    m: a mujoco.MjModel.
    """
    bits, sorts = package().mjtDisableBit, package().mjtIntegrator
    off = bits.mjDSBL_DAMPER | (m.opt.integrator == sorts.mjINT_EULER) * bits.mjDSBL_EULERDAMP
    if m.opt.integrator == sorts.mjINT_RK4 or m.opt.disableflags & off:
        return 0.0
    return float(m.opt.timestep)


def constraint_forces(m: Any, data: Any, applied: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
    """Return the constraint forces that belong to the acceleration of the step (nv,) [N or Nm]."""
    return _inertial(m, data, data.qacc) - smooth_forces(m, data, applied, wrenches)


def inverse_forces(m: Any, data: Any, contacts: int) -> np.ndarray:
    """Return the forces that cause the accelerations data.qacc, MuJoCo's qfrc_inverse (nv,).

    Raises:
        StateError: constraints act. The motion does not determine the forces of rigid contacts.
    """
    if do_constraints_act(m, data, contacts):
        raise StateError(
            "mj_inverse: contacts, limits, dry friction or equalities act. hrpsim's constraints are"
            " rigid, so the motion does not determine the forces. Read qfrc_actuator and"
            " qfrc_constraint after a step"
        )
    return _inertial(m, data, data.qacc) + data.qfrc_bias - data.qfrc_passive


def do_constraints_act(m: Any, data: Any, contacts: int) -> bool:
    """Return whether a state has contacts, dry friction, active equalities or active limits."""
    rough = m.dof_frictionloss.any() or m.tendon_frictionloss.any()
    if contacts or rough or data.eq_active.any():
        return True
    if (ball_gaps(m, data.qpos)[0] < _NEAR).any():
        return True
    limited = m.tendon_limited.astype(bool)
    length, (shortest, longest) = data.ten_length[limited], m.tendon_range[limited].T
    if ((length < shortest + _NEAR) | (length > longest - _NEAR)).any():
        return True
    at = m.jnt_qposadr[m.jnt_limited.astype(bool) & (m.jnt_type >= _SLIDE)]
    low, high = m.jnt_range[m.jnt_limited.astype(bool) & (m.jnt_type >= _SLIDE)].T
    return bool(((data.qpos[at] < low + _NEAR) | (data.qpos[at] > high - _NEAR)).any())


def limited_balls(m: Any) -> np.ndarray:
    """Return the numbers of the ball joints with a limit."""
    return np.flatnonzero((m.jnt_type == package().mjtJoint.mjJNT_BALL) & (m.jnt_limited != 0))


def ball_gaps(m: Any, qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the angles that limited ball joints may still turn, and the derivatives.

    Args:
        m: a mujoco.MjModel.
        qpos: configuration (nq,).

    Returns:
        (angles (n,) [rad], derivatives (n, nv)).
    """
    balls = limited_balls(m)
    gaps, J = np.zeros(len(balls)), np.zeros((len(balls), m.nv))
    for k, joint in enumerate(balls):
        at, dof = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
        vector = rotation_vector(qpos[at : at + 4])
        angle = float(np.linalg.norm(vector))
        gaps[k] = m.jnt_range[joint].max() - angle
        J[k, dof : dof + 3] = -vector / (angle or 1.0)
    return gaps, J


def _inertial(m: Any, data: Any, acceleration: np.ndarray) -> np.ndarray:
    result = np.zeros(m.nv)
    package().mj_mulM(m, data, result, np.array(acceleration))
    return result
