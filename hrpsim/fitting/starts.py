# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The initial states of windows, which are measured with noise, as unknowns of a fit.

A window depends only on its own initial state, so these unknowns are eliminated window by window.
To first order the residuals of a window are r + A s, where s is the error of the initial state and
A the derivatives with respect to the initial state. Minimising over s leaves (I - A A^+) r, which
does not depend on s (variable projection: Golub and Pereyra 1973, Kaufman 1975). Only the
parameters remain as unknowns.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from hrpsim.fitting.predict import Predictor
from hrpsim.fitting.start_steps import central_differences

_WORSE = 1.001  # largest ratio of the squares after a step
_HALVINGS = 3  # largest number of halvings of a step
_SINGULAR = 1e-9  # relative to the largest eigenvalue of A^T A: directions without effect


class Starts:
    """Offsets of the initial states of all windows from the measured states, with derivatives.

    Attributes:
        offsets: offsets for each recording (windows, 2 nv): displacements in the tangent space,
            then velocities.
        rank: number of directions of initial states that affect the differences.
    """

    def __init__(self, predictor: Predictor, offsets: Sequence[np.ndarray] | None = None) -> None:
        self._predictor = predictor
        self.offsets = list(offsets or []) or [
            np.zeros((len(windows), 2 * recording.v.shape[1]))
            for windows, recording in zip(predictor.windows, predictor.recordings)
        ]
        window = predictor.rows().window
        ends = np.searchsorted(window, np.arange(window[-1] + 2))
        self._rows = [slice(a, b) for a, b in pairwise(ends)]
        self._widths = np.concatenate([np.full(len(o), o.shape[1]) for o in self.offsets])
        self.rank = 0

    def differentiate(self, values: Mapping[str, float]) -> np.ndarray:
        """Return the derivatives (rows, 2 nv) with respect to the initial state of each window."""

        def differences(moves: np.ndarray) -> np.ndarray:
            moved = [[own + move[: own.shape[1]] for own in self.offsets] for move in moves]
            offsets = [self.offsets, *moved]  # values without a measurement begin as in the first
            return self._predictor.differences([values] * len(offsets), offsets, together=True)[1:]

        width, kind = int(self._widths.max()), self._predictor.rows().kind
        return central_differences(differences, width, kind)

    def weigh(self, slopes: np.ndarray, weights: np.ndarray) -> None:
        """Set the derivatives with respect to initial states, and the weights of the residuals.

        Args:
            slopes: derivatives (rows, 2 nv).
            weights: inverse standard deviations (rows,).
        """
        self._weighted = [
            slopes[rows, :width] * weights[rows, None]
            for rows, width in zip(self._rows, self._widths)
        ]
        self._inverses = [
            np.linalg.pinv(A.T @ A, rcond=_SINGULAR, hermitian=True) for A in self._weighted
        ]
        self._leverage = np.concatenate(
            [
                np.einsum("ij,jk,ik->i", A, B, A, optimize=True)
                for A, B in zip(self._weighted, self._inverses)
            ]
        )
        self.rank = round(self._leverage.sum())

    def _best(self, weighted: np.ndarray) -> list[np.ndarray]:
        """Return the offsets (2 nv, n) of each window that best explain differences (rows, n)."""
        return [
            B @ (A.T @ weighted[rows])
            for rows, A, B in zip(self._rows, self._weighted, self._inverses)
        ]

    def without(self, weighted: np.ndarray) -> np.ndarray:
        """Remove from weighted residuals (rows, n) the component that initial states explain."""
        parts = [A @ own for A, own in zip(self._weighted, self._best(weighted))]
        return weighted - np.concatenate(parts)

    def remainder(
        self, differences: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the differences without the component that changes of the initial states explain.

        Args:
            differences: differences between prediction and recording (rows,).
            weights: inverse standard deviations (rows,).

        Returns:
            (remaining differences (rows,), degrees of freedom of each row (rows,), from 0 to 1).
        """
        remaining = self.without((differences * weights)[:, None])[:, 0] / weights
        return remaining, 1.0 - self._leverage

    def move(self, weighted: np.ndarray, squares: Callable[[], np.ndarray]) -> None:
        """Change the initial states as long as the weighted residuals (rows,) decrease.

        squares: returns the sums of squared differences (windows,) at the present offsets.
        """
        first, ends = self.offsets, np.cumsum([len(own) for own in self.offsets])
        steps = [-own[:, 0] for own in self._best(weighted[:, None])]
        before = np.array([np.sum(weighted[rows] ** 2) for rows in self._rows])
        shares = np.ones(len(steps))
        for k in range(_HALVINGS + 2):
            moves = [fraction * step for fraction, step in zip(shares, steps)]
            self.offsets = [
                own + np.array(moves[end - len(own) : end]) for own, end in zip(first, ends)
            ]
            worse = squares() > _WORSE * before
            if not worse.any():
                break
            shares[worse] *= 0.5 if k < _HALVINGS else 0.0
