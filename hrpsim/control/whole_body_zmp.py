"""The zero-moment point of a whole multibody model in motion, by inverse dynamics.

The wrench that the free base would need is the wrench of the floor; the ZMP is where it has no
horizontal moment.
"""

from __future__ import annotations

import numpy as np

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


def zero_moment_points(model: Model, motion, period: float) -> np.ndarray:
    """Return the ZMP on the floor z = 0 in the world (n, 2) [m] of configurations (n, nq).

    They are `period` [s] apart, on a level base that may turn about the vertical. Raises
    ModelError where the base leans.
    """
    v, dv = rates(model, motion, period)
    points = np.empty((len(motion), 2))
    for k, q in enumerate(motion):
        wrench = inverse_dynamics(model, q, v[k], dv[k])[:6]
        z, w = q[5:7]
        c, s = w * w - z * z, 2.0 * z * w
        f_x, f_y = c * wrench[0] - s * wrench[1], s * wrench[0] + c * wrench[1]
        m_x, m_y = c * wrench[3] - s * wrench[4], s * wrench[3] + c * wrench[4]
        points[k, 0] = q[0] - (m_y + q[2] * f_x) / wrench[2]
        points[k, 1] = q[1] + (m_x - q[2] * f_y) / wrench[2]
    return points
