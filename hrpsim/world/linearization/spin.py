# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Free bodies that turn by the implicit midpoint rule of hrpsim.dynamics.spin.

Its part of the angular acceleration depends on orientation and velocity alone. With the inertia I,
the velocity w at the start, u = w' - w and m = w + u / 2 in the axes of the body, and the predicted
acceleration p, the rule is f = I (u - dt p) + dt m x I m = 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.model.system import FREE
from hrpsim.step.arrays import Scene
from hrpsim.world.linearization.room import Room

_UNSOLVED = 1e-6  # error of the rule, as a share of its terms and of the inertia, where it failed


class Spins(NamedTuple):
    """The free bodies (k,) that turn so, by their first degree of freedom."""

    angular: np.ndarray  # (k, 3) degrees of freedom
    acceleration: np.ndarray  # (k, 3) by the rule, along the world's axes [rad/s^2]
    by_turn: np.ndarray  # (k, 3, 3) its derivative by a rotation of the body
    by_rate: np.ndarray  # (k, 3, 3) the same by the angular velocity at the start
    unsolved: np.ndarray  # bodies that turn too far for the rule


def skew(v: np.ndarray) -> np.ndarray:
    """Return the matrices (..., 3, 3) of the cross products v x of vectors (..., 3)."""
    out = np.zeros((*v.shape, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = v[..., 2], -v[..., 1], v[..., 0]
    return out


def spins_of(scene: Scene, w: Room) -> Spins:
    """Return the bodies that turn by the rule, and its derivatives."""
    bodies, h = scene.forest.bodies, float(scene.settings["time_step"][0])
    turns = scene.forest.dofs["turns_freely"][bodies["v_index"]] != 0
    numbers = np.flatnonzero(turns & (bodies["joint_type"] == FREE))
    angular = bodies["v_index"][numbers][:, None] + np.arange(3)
    u = w.q[bodies["q_index"][numbers][:, None] + np.arange(3, 7)]
    u = u / np.linalg.norm(u, axis=1, keepdims=True)
    cross = skew(u[:, :3])
    R, I = np.eye(3) + 2.0 * (u[:, 3, None, None] * cross + cross @ cross), bodies["inertia"]
    inverse, I = R.swapaxes(1, 2), I[numbers]
    rate = w.velocity[angular]
    predicted = 2.0 / h * (w.middle_velocity[angular] - rate)
    found = scene.spins["spin_acceleration"][numbers].copy()
    middle = inverse @ (rate + 0.5 * h * (found + predicted))[:, :, None]
    K = skew(middle[:, :, 0]) @ I - skew((I @ middle)[:, :, 0])
    change = inverse @ found[:, :, None]
    torque = I @ change + np.cross(middle[:, :, 0], (I @ middle)[:, :, 0])[:, :, None]
    size = np.abs(I @ change).max(axis=1, initial=0.0)[:, 0] + np.trace(I, axis1=1, axis2=2)
    unsolved = numbers[np.abs(torque).max(axis=1, initial=0.0)[:, 0] > _UNSOLVED * size]
    solved = np.linalg.inv(I + 0.5 * h * K)
    turn_p, turn_w = inverse @ skew(predicted), inverse @ skew(rate)
    by_turn = R @ (solved @ (I @ turn_p - K @ turn_w) - turn_p) - skew(found)
    return Spins(angular, found, by_turn, -R @ solved @ K @ inverse, unsolved)
