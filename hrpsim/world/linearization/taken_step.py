# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A step that was taken, as its derivatives read it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.step.arrays import Scene


class TakenStep(NamedTuple):
    """The state of the step, in the layout of the kernels, and its rows."""

    scene: Scene
    time_step: float
    q_middle: np.ndarray  # (nq,) where its forces act
    velocity: np.ndarray  # (nv,) at its start
    velocity_middle: np.ndarray  # (nv,) of the velocity products
    end_velocity: np.ndarray  # (nv,) that its rows found
    rows: np.ndarray  # (k,) ROW
    contacts: np.ndarray  # (c,) CONTACT; their rows come first
    margin: float  # [m/s or rad/s]


def row_jacobians(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the force patterns (k, 6) on the bodies a and b of rows, zero where there is none."""
    return rows["J_a"], np.where(rows["at_b"][:, None] >= 0, rows["J_b"], 0.0)
