# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Limits of tendons and ball joints, and dry friction of tendons, as generalised forces.

The forces act on the motion without contacts and limits of other joints. At the end of the step,
this motion satisfies the limits and the dry friction. Contacts then act in hrpsim's world. The
following steps correct the errors in tendon length and ball angle that contacts cause.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hrpsim.bridges.mujoco.forces import ball_gaps, limited_balls
from hrpsim.bridges.mujoco.native import package
from hrpsim.bridges.mujoco.smooth_steps import SmoothSteps

_CORRECTED = 0.2  # fraction of a length or angle beyond its limit that a step corrects
_SWEEPS = 200
_CHANGE = 1e-12  # of a velocity that ends the sweeps, as a fraction of the largest


def has_other_limits(m: Any) -> bool:
    """Return whether a mujoco.MjModel has limits or friction of tendons, or limits of balls."""
    bits = package().mjtDisableBit
    off = m.opt.disableflags
    if off & bits.mjDSBL_CONSTRAINT:
        return False
    limited = (m.tendon_limited.any() or limited_balls(m).size) and not off & bits.mjDSBL_LIMIT
    return bool(limited or (m.tendon_frictionloss.any() and not off & bits.mjDSBL_FRICTIONLOSS))


class OtherLimits(SmoothSteps):
    """Computes the forces of limits that hrpsim's world does not have, and of tendon friction.

    The limits belong to tendons and ball joints of a mujoco.MjModel. `force` (nv,) [N or Nm] is the
    result of the last call of `compute`.
    """

    def __init__(self, m: Any) -> None:
        super().__init__(m)
        bits, off = package().mjtDisableBit, m.opt.disableflags
        is_limited = m.tendon_limited.astype(bool) & (not off & bits.mjDSBL_LIMIT)
        self._limited = np.flatnonzero(is_limited)
        self._has_limits = not off & bits.mjDSBL_LIMIT
        self._rough = np.flatnonzero(
            m.tendon_frictionloss * (not off & bits.mjDSBL_FRICTIONLOSS) > 0.0
        )
        self.force = np.zeros(m.nv)

    def compute(self, data: Any) -> None:
        """Compute `force` for the step from a mujoco.MjData."""
        mujoco, m, d, dt = package(), self._model, self._data, self._model.opt.timestep
        self._begin(data)
        mujoco.mj_forward(m, d)
        jacobian, lengths = tendon_jacobian(m, d), d.ten_length[self._limited]
        low, high = m.tendon_range[self._limited].T
        angles, turns = ball_gaps(m, d.qpos)
        if not self._has_limits:
            angles, turns = angles[:0], turns[:0]
        gaps = np.concatenate([lengths - low, high - lengths, angles])
        limited = jacobian[self._limited]
        J = np.concatenate([limited, -limited, turns, jacobian[self._rough]])
        response = np.zeros_like(J)
        mujoco.mj_solveM(m, d, response, J)
        mujoco.mj_step(m, d)
        bounds = dt * m.tendon_frictionloss[self._rough]
        targets = np.where(gaps > 0.0, -gaps, -_CORRECTED * gaps) / dt
        lacking = np.concatenate([targets, np.zeros(len(bounds))]) - J @ d.qvel
        lower = np.concatenate([np.zeros(len(gaps)), -bounds])
        upper = np.concatenate([np.full(len(gaps), np.inf), bounds])
        self.force[:] = 0.0
        if len(bounds) or (lacking > 0.0).any():
            self.force[:] = _impulses(J @ response.T, lacking, lower, upper) @ J / dt


def tendon_jacobian(m: Any, d: Any) -> np.ndarray:
    """Return the derivatives of the tendon lengths of a mujoco.MjData (ntendon, nv).

    Newer versions of MuJoCo store this matrix in sparse form.
    """
    if d.ten_J.ndim == 2:
        return np.array(d.ten_J)
    holder = m if hasattr(m, "ten_J_rownnz") else d
    result = np.zeros((m.ntendon, m.nv))
    for k in range(m.ntendon):
        first, count = int(holder.ten_J_rowadr[k]), int(holder.ten_J_rownnz[k])
        columns = holder.ten_J_colind[first : first + count]
        result[k, columns] = d.ten_J[first : first + count]
    return result


def _impulses(A: np.ndarray, b: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Solve the box-constrained linear complementarity problem for impulses x (n,).

    The residual A x - b is 0 if x is between the bounds, and >= 0 at a lower bound.

    Args:
        A: velocities of the rows for unit impulses (n, n).
        b: required changes of velocity (n,).
        lower: lower bounds of the impulses (n,).
        upper: upper bounds of the impulses (n,).
    """
    x, masses = np.zeros(len(b)), np.maximum(A.diagonal(), np.finfo(float).tiny)
    for _ in range(_SWEEPS):
        change = 0.0
        for k in range(len(b)):
            new = min(max(x[k] + (b[k] - A[k] @ x) / masses[k], lower[k]), upper[k])
            change, x[k] = max(change, abs(new - x[k]) * masses[k]), new
        if change <= _CHANGE * np.abs(b).max():
            break
    return x
