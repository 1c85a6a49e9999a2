# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The zero-moment point of a whole multibody model in motion, by inverse dynamics.

The wrench that the free base would need is the wrench of the floor; the ZMP is where it has no
horizontal moment.
"""

from __future__ import annotations

import numpy as np

from hrpsim.control.pattern.walking_body import turned
from hrpsim.dynamics.functions import inverse_dynamics
from hrpsim.errors import ModelError
from hrpsim.model.model import Model


def rates(model: Model, motion, period: float) -> tuple[np.ndarray, np.ndarray]:
    """Return v and dv (n, nv) of configurations `motion` (n, nq), `period` [s] apart.

    Central differences; the robot rests before the first and after the last. The base must stay
    level: it may travel and turn about the vertical.
    """
    motion = np.asarray(motion, dtype=np.float64)
    if np.abs(motion[:, 3:5]).max() > 1e-9:
        raise ModelError(f"{model.source}: the base leans; this motion must keep it level")
    yaw = np.unwrap(2.0 * np.arctan2(motion[:, 5], motion[:, 6]))
    course = np.column_stack([motion[:, :3], yaw, motion[:, 7:]])
    padded = np.concatenate([course[:1], course, course[-1:]])
    velocity = (padded[2:] - padded[:-2]) / (2.0 * period)
    acceleration = (padded[2:] - 2.0 * course + padded[:-2]) / period**2
    v, dv = np.zeros((len(motion), model.nv)), np.zeros((len(motion), model.nv))
    c, s = np.cos(yaw), np.sin(yaw)
    for out, of in ((v, velocity), (dv, acceleration)):
        out[:, 0] = c * of[:, 0] + s * of[:, 1]
        out[:, 1] = c * of[:, 1] - s * of[:, 0]
        out[:, 2] = of[:, 2]
        out[:, 5:] = of[:, 3:]
    dv[:, 0] += velocity[:, 3] * v[:, 1]  # the base frame turns
    dv[:, 1] -= velocity[:, 3] * v[:, 0]
    return v, dv


def floor_wrenches(model: Model, motion, period: float) -> np.ndarray:
    """Return the wrench of the floor (n, 6) [N, Nm], about the world's origin, along its axes.

    motion: configurations (n, nq), `period` [s] apart, on a level base that may turn about the
    vertical; ModelError where it leans.
    """
    v, dv = rates(model, motion, period)
    in_base = np.array([inverse_dynamics(model, *now)[:6] for now in zip(motion, v, dv)])
    wrenches = in_base.copy()
    yaw = 2.0 * np.arctan2(motion[:, 5], motion[:, 6])
    wrenches[:, :2], wrenches[:, 3:5] = turned(in_base[:, :2], yaw), turned(in_base[:, 3:5], yaw)
    wrenches[:, 3:] += np.cross(motion[:, :3], wrenches[:, :3])
    return wrenches


def zero_moment_points(wrenches, heights=0.0) -> np.ndarray:
    """Return where wrenches (n, 6) of floor_wrenches meet the height `heights` (n,), (n, 2) [m]."""
    x = heights * wrenches[:, 0] - wrenches[:, 4]
    y = heights * wrenches[:, 1] + wrenches[:, 3]
    return np.stack([x, y], axis=-1) / wrenches[:, 2:3]


def sole_wrenches(wrenches, soles, shares) -> np.ndarray:
    """Return the wrenches on the left and the right sole, each in its frame (n, 2, 6) [N, Nm].

    Each bears its share (n, 2) of the floor's force at its origin, and of the moment that is then
    left. soles: x y z yaw of both (n, 2, 4) [m, rad].
    """
    force, moment = wrenches[:, None, :3] * shares[:, :, None], wrenches[:, 3:]
    left = moment - np.cross(soles[:, :, :3], force).sum(axis=1)
    borne = np.concatenate([force, left[:, None] * shares[:, :, None]], axis=-1)
    for part in (borne[..., :2], borne[..., 3:5]):
        part[:] = turned(part, -soles[:, :, 3])
    return borne


def joint_efforts(model: Model, motion, period: float, links, wrenches) -> np.ndarray:
    """Return the generalised forces (n, nv) [Nm, N] that `motion` needs.

    motion: as for floor_wrenches. wrenches (n, k, 6): on the k `links`, in their frames.
    """
    v, dv = rates(model, motion, period)
    return np.array(
        [
            inverse_dynamics(model, *now, dict(zip(links, on_links)))
            for *now, on_links in zip(motion, v, dv, wrenches)
        ]
    )
