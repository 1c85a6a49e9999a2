# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Finite differences of a step in MuJoCo's coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from hrpsim.bridges.mujoco.model import MjModel
from hrpsim.bridges.mujoco.native import package


def transition_matrices(m: MjModel, d: Any, eps: float, centered: bool) -> tuple[np.ndarray, ...]:
    """Return the derivatives A, B, C and D of a step at an MjData, as in `mjd_transitionFD`."""
    native, count = m.native, 2 * m.nv + m.na
    here = _outcome(d, np.zeros(count + m.nu))
    columns = []
    for k in range(count + m.nu):
        step = np.zeros(count + m.nu)
        step[k] = eps
        after = _outcome(d, step)
        before = _outcome(d, -step) if centered else here
        change = np.zeros(m.nv)
        package().mj_differentiatePos(native, change, 1.0, before[0], after[0])
        rest = [a - b for a, b in zip(after[1:], before[1:], strict=True)]
        columns.append(np.concatenate([change, *rest]) / (2.0 * eps if centered else eps))
    whole = np.array(columns).T.reshape(-1, count + m.nu)
    state, sensors = whole[:count], whole[count:]
    return state[:, :count], state[:, count:], sensors[:, :count], sensors[:, count:]


def _outcome(d: Any, step: np.ndarray) -> list[np.ndarray]:
    """Return qpos, qvel, act and sensordata after one step from a displaced state and controls."""
    m, nv = d.model.native, d.model.nv
    native, ctrl = d._native, d.ctrl.copy()
    with d.trial():
        package().mj_integratePos(m, native.qpos, step[:nv], 1.0)
        native.qvel[:] += step[nv : 2 * nv]
        native.act[:] += step[2 * nv : 2 * nv + m.na]
        native.ctrl[:] += step[2 * nv + m.na :]
        d._mapping.put_state()
        d._mapping.step()
        result = [native.qpos.copy(), native.qvel.copy(), native.act.copy(), d.sense_trial()]
    native.ctrl[:] = ctrl
    return result
