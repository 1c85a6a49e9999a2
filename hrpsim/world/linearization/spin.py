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

from hrpsim.world.linearization.coordinates import FreeBases, skew
from hrpsim.world.linearization.taken_step import TakenStep

_UNSOLVED = 1e-6  # error of the rule, as a share of its terms and of the inertia, where it failed


class Spins(NamedTuple):
    """The free bodies (k,) that turn so, by their first degree of freedom."""

    angular: np.ndarray  # (k, 3) degrees of freedom
    acceleration: np.ndarray  # (k, 3) by the rule, along the world's axes [rad/s^2]
    by_turn: np.ndarray  # (k, 3, 3) its derivative by a rotation of the body
    by_rate: np.ndarray  # (k, 3, 3) the same by the angular velocity at the start
    unsolved: np.ndarray  # bodies that turn too far for the rule


def spins_of(step: TakenStep, bases: FreeBases) -> Spins:
    """Return the bodies that turn by the rule, and its derivatives."""
    forest, h = step.scene.forest, step.time_step
    at = np.flatnonzero(forest.dofs["turns_freely"][bases.angular[:, 0]] != 0)
    angular, bodies = bases.angular[at], bases.bodies[at]
    if not len(at):
        none = np.zeros((0, 3, 3))
        return Spins(angular, none[:, 0], none, none, bodies)
    R = bases.rotations(step.q_middle)[at]
    inverse, I = R.swapaxes(1, 2), forest.bodies["inertia"][bodies]
    rate = step.velocity[angular]
    predicted = 2.0 / h * (step.velocity_middle[angular] - rate)
    found = step.scene.spins["spin_acceleration"][bodies].copy()
    middle = inverse @ (rate + 0.5 * h * (found + predicted))[:, :, None]
    K = skew(middle[:, :, 0]) @ I - skew((I @ middle)[:, :, 0])
    change = inverse @ found[:, :, None]
    torque = I @ change + np.cross(middle[:, :, 0], (I @ middle)[:, :, 0])[:, :, None]
    size = np.abs(I @ change).max(axis=1, initial=0.0)[:, 0] + np.trace(I, axis1=1, axis2=2)
    unsolved = bodies[np.abs(torque).max(axis=1, initial=0.0)[:, 0] > _UNSOLVED * size]
    solved = np.linalg.inv(I + 0.5 * h * K)
    turn_p, turn_w = inverse @ skew(predicted), inverse @ skew(rate)
    by_turn = R @ (solved @ (I @ turn_p - K @ turn_w) - turn_p) - skew(found)
    return Spins(angular, found, by_turn, -R @ solved @ K @ inverse, unsolved)
