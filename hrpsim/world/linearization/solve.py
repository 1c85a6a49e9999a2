# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The rows that hold in a step, and the linear problem that they make with the dynamics."""

from __future__ import annotations

import numpy as np

# Compliance that rigid rows are given, as a share of their own inverse mass: redundant rows then
# have a solution. Its effect is removed by solving again for the remaining error.
_SOFTNESS = 1e-7
_ROUNDS, _ENOUGH = 6, 1e-12  # the second: share of the solution that another round changes


class HoldingRows:
    """Rows J dv' + S dl = b_q dq + b_v dv, with forces F' dl on the degrees of freedom."""

    def __init__(self):
        self._parts: list[tuple[np.ndarray, ...]] = []

    def add(self, numbers, J, F, compliance, own, by_q, by_v) -> None:
        """Add rows by their `numbers` in the step.

        J, F, by_q and by_v (k, nv), compliance and their own inverse mass (k,).
        """
        if len(J):
            self._parts.append((numbers, J, F, compliance, own, by_q, by_v))

    def stacked(self, nv: int) -> tuple[np.ndarray, ...]:
        """Return all rows in the order of the parameters of `add`."""
        if not self._parts:
            none, nothing = np.zeros((0, nv)), np.zeros(0)
            return np.zeros(0, dtype=np.int64), none, none, nothing, nothing, none, none
        return tuple(np.concatenate(parts) for parts in zip(*self._parts))


def solve_rows(
    mass: np.ndarray, J, F, compliance, own, momentum: np.ndarray, target: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Solve M dv' - F' dl = momentum and J dv' + S dl = target for changes dv' and dl.

    Eliminates dl with a little compliance in each row, of size nv whatever the number of rows.
    `own` (k,) are the rows' inverse masses; columns of momentum and target are solved together.
    Also returns what is left of the rows where redundant ones contradict each other.
    """
    stiffness = 1.0 / (compliance + _SOFTNESS * own)
    inverse = np.linalg.inv(mass + F.T @ (stiffness[:, None] * J))
    velocity, impulse = np.zeros_like(momentum), np.zeros_like(target)
    left, error = momentum, target
    for _ in range(_ROUNDS):
        change = inverse @ (left + F.T @ (stiffness[:, None] * error))
        velocity += change
        impulse += stiffness[:, None] * (error - J @ change)
        left = momentum - mass @ velocity + F.T @ impulse
        error = target - J @ velocity - compliance[:, None] * impulse
        if np.abs(change).max(initial=0.0) <= _ENOUGH * np.abs(velocity).max(initial=0.0):
            break
    return velocity, impulse, error
