# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Preview control of the cart-table model: the centre of mass that gives a desired ZMP.

Kajita et al., "Biped walking pattern generation by using preview control of zero-moment point",
ICRA 2003, section 3. The state of each horizontal axis is x = (position, velocity, acceleration) of
the centre of mass, the input u its jerk, held for a period; the output p = C x is the ZMP.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_discrete_are

from hrpsim.constants import STANDARD_GRAVITY


class PreviewControl:
    """The optimal tracking of a ZMP reference that is known `horizon` [s] ahead, and then stays.

    It minimises the sum of  e^2 + jerk_weight du^2  over all time, where e is the ZMP's
    error and du the change of the jerk from one period to the next (Kajita 2003, eq. 10). height:
    of the centre of mass above the floor [m].

    A (3, 3), B (3,), C (3,): the cart-table model, x(k+1) = A x(k) + B u(k), p(k) = C x(k).
    integral_gain, state_gain (3,), preview_gains (count,): of the change of the jerk,
    -integral_gain e(k) - state_gain (x(k) - x(k - 1))
    + sum preview_gains(j) (reference(k + j) - reference(k + j - 1)), j >= 1.
    """

    def __init__(
        self, period: float, height: float, *, horizon: float = 3.2, jerk_weight: float = 1e-6
    ):
        h = period
        self.A = np.array([[1.0, h, h * h / 2.0], [0.0, 1.0, h], [0.0, 0.0, 1.0]])
        self.B = np.array([h**3 / 6.0, h * h / 2.0, h])
        self.C = np.array([1.0, 0.0, -height / STANDARD_GRAVITY])
        # The error's sum and the state's change, the system of Kajita 2003, eq. 12.
        A = np.zeros((4, 4))
        A[0, 0], A[0, 1:], A[1:, 1:] = 1.0, self.C @ self.A, self.A
        B = np.concatenate([[self.C @ self.B], self.B])
        Q = np.diag([1.0, 0.0, 0.0, 0.0])
        P = solve_discrete_are(A, B[:, None], Q, np.array([[jerk_weight]]))
        weight = jerk_weight + B @ P @ B
        gain = B @ P @ A / weight
        self.integral_gain, self.state_gain = float(gain[0]), gain[1:]
        closed = A - np.outer(B, gain)
        X = P[:, 0]
        self.preview_gains = np.empty(round(horizon / period))
        for j in range(len(self.preview_gains)):
            self.preview_gains[j] = B @ X / weight
            X = closed.T @ X
        # All gains sum to the position's: the control is invariant to translation.
        self.preview_gains[-1] += self.state_gain[0] - self.preview_gains.sum()

    def follow(self, reference, start=0.0) -> tuple[np.ndarray, np.ndarray]:
        """Return the centre of mass and its ZMP (n, axes) [m] that follow `reference` (n, axes).

        It rests at `start` (axes,) before; after its last sample the reference stays as it is.
        """
        reference = np.asarray(reference, dtype=np.float64)
        held = np.repeat(reference[-1:], len(self.preview_gains), axis=0)
        changes = np.diff(np.concatenate([reference, held]), axis=0)
        previewed = [np.correlate(axis, self.preview_gains, "valid") for axis in changes.T]
        state = np.zeros((3, reference.shape[1]))
        state[0] = start
        before, jerk = state, np.zeros(reference.shape[1])
        com, zmp = np.empty_like(reference), np.empty_like(reference)
        for k, change in enumerate(np.transpose(previewed)):
            com[k], zmp[k] = state[0], self.C @ state
            feedback = self.state_gain @ (state - before)
            jerk = jerk + change - feedback - self.integral_gain * (zmp[k] - reference[k])
            before, state = state, self.A @ state + np.outer(self.B, jerk)
        return com, zmp
