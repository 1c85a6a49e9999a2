# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A step that was taken, as its derivatives read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hrpsim.step.arrays import Scene
from hrpsim.world.linearization.result import ConstraintEdge

_SIDES = ("at its bound", "holds")


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


def row_patterns(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the force patterns (k, 6) on the bodies a and b of rows, zero where there is none."""
    return rows["J_a"], np.where(rows["at_b"][:, None] >= 0, rows["J_b"], 0.0)


def sides_of(rows: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows (k,) hold, and how far they are from the other side [m/s or rad/s]."""
    impulse, mass = rows["impulse"], rows["inverse_mass"]
    spare = np.minimum(impulse - rows["lower"], rows["upper"] - impulse) * mass
    left = np.abs(rates + rows["compliance"] * impulse - rows["target"])
    return spare > left, np.maximum(spare, left)


def edges_of(holding, distance, margin: float, name: Callable[[int], str]) -> list[ConstraintEdge]:
    """Return the rows near another side; `name` is that of a row."""
    return [
        ConstraintEdge(
            name(k), _SIDES[int(holding[k])], _SIDES[1 - int(holding[k])], float(distance[k])
        )
        for k in np.flatnonzero(distance < margin)
    ]
