# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Covariances of fitted parameters.

Noise e changes the fitted values by -C J^T e, where C is the inverse of J^T J. The noise of a
filtered sensor is coloured: neighbouring samples are correlated. The noise model is autoregressive
of first order, with one coefficient for each kind of quantity. Fitted initial states and parameters
absorb some of the noise, so residuals are less correlated than the noise. The coefficient is
therefore found by simulation (indirect inference: Gourieroux, Monfort and Renault 1993). The chosen
coefficient is the value for which simulated noise leaves residuals with the measured
autocorrelation. The standard deviation of the coefficient is added, because an underestimate makes
the intervals too short.

If windows start at measured states, all rows of a window share the noise of the initial state. The
windows are then the clusters of White's sandwich estimator.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from hrpsim.fitting.predict import ResidualRows

_DRAWS, _FEWEST_DRAWS, _MOST_VALUES = 100, 10, 2_000_000
_ROUNDS = 6
_MOST = 3.0  # Fisher's z of the coefficient: 0.995


class Covariance(NamedTuple):
    """The covariance (p, p) of fitted parameters, and the degrees of freedom of Student's t."""

    matrix: np.ndarray
    degrees: float


def by_windows(J: np.ndarray, residuals: np.ndarray, window: np.ndarray) -> Covariance:
    """Return White's covariance with windows as clusters.

    Args:
        J: derivatives of the residuals (rows + priors, p).
        residuals: residuals, divided by their deviations (rows + priors,).
        window: number of the window of each row (rows,).
    """
    clusters, count, own = int(window.max()) + 1, J.shape[1], len(window)
    scores = np.zeros((clusters, count))
    np.add.at(scores, window, J[:own] * residuals[:own, None])
    inverse = np.linalg.pinv(J.T @ J)
    middle = scores.T @ scores * clusters / (clusters - count)
    return Covariance(inverse @ middle @ inverse, clusters - count)


def of_coloured_noise(
    J: np.ndarray,
    residuals: np.ndarray,
    rows: ResidualRows,
    without_starts: Callable[[np.ndarray], np.ndarray],
) -> Covariance:
    """Return the covariance of fitted parameters for residuals with autoregressive noise.

    The coefficients of the noise are estimated from the residuals.

    Args:
        J: derivatives of the residuals with respect to the parameters (rows + priors, p).
        residuals: residuals, divided by their standard deviations (rows + priors,).
        rows: kind and signal of each row.
        without_starts: function that removes from values (rows, n) the component that fitted
            initial states explain.
    """
    own = len(rows.kind)
    inverse, J, priors = np.linalg.pinv(J.T @ J), J[:own], J[own:]
    order = np.argsort(rows.signal, kind="stable")  # signal by signal, in the order of time
    ends = np.searchsorted(rows.signal[order], np.arange(rows.signal.max() + 2))
    signals = [order[a:b] for a, b in pairwise(ends)]
    draws = min(max(_MOST_VALUES // own, _FEWEST_DRAWS), _DRAWS)
    white = np.random.default_rng(0).normal(size=(own, draws))

    def drawn(colours: np.ndarray) -> np.ndarray:
        """Return the residuals (rows, draws) that a fit to simulated noise leaves.

        colours: autoregressive coefficient of each kind.
        """
        noise = np.empty_like(white)
        for at in signals:
            noise[at] = _coloured(white[at], colours[rows.kind[at[0]]])
        noise = without_starts(noise)
        return noise - J @ (inverse @ (J.T @ noise))

    real = residuals[:own, None]
    target = _likeness(real, rows.kind, signals)[:, 0]
    likeness = np.clip(target, 0.0, None)
    for _ in range(_ROUNDS):
        simulated = _likeness(drawn(np.tanh(likeness)), rows.kind, signals)
        likeness = np.clip(likeness + target - simulated.mean(axis=1), 0.0, _MOST)
    colours = np.tanh(np.clip(likeness + simulated.std(axis=1), 0.0, _MOST))
    squares = _squares(drawn(colours), rows.kind, signals)
    variance = _squares(real, rows.kind, signals)[:, 0] / np.maximum(squares.mean(axis=1), 1e-300)
    middle, total = priors.T @ priors, variance @ squares
    for at in signals:
        kind = rows.kind[at[0]]
        part = _coloured(J[at[::-1]], colours[kind], transposed=True)
        middle += variance[kind] * part.T @ part
    degrees = max(2.0 * total.mean() ** 2 / max(total.var(), 1e-300), 1.0)
    return Covariance(inverse @ middle @ inverse, degrees)


def _coloured(values: np.ndarray, colour: float, transposed: bool = False) -> np.ndarray:
    """Multiply values by the matrix L (n, n) that turns white into autoregressive noise.

    The autoregressive noise has unit variance.

    transposed: multiply by L^T instead. Then both values and result are in reversed order of time.
    """
    from scipy.signal import lfilter

    gains = np.full((len(values), 1), np.sqrt(1.0 - colour**2))
    gains[-1 if transposed else 0] = 1.0
    if transposed:
        return gains * lfilter([1.0], [1.0, -colour], values, axis=0)
    return lfilter([1.0], [1.0, -colour], gains * values, axis=0)


def _likeness(values: np.ndarray, kinds: np.ndarray, signals: list[np.ndarray]) -> np.ndarray:
    """Return Fisher's z of the lag-one autocorrelation of values (rows, n) by kind (kinds, n)."""
    both, squares = (_squares(values, kinds, signals, lag) for lag in (1, 0))
    return np.clip(np.arctanh(both / np.maximum(squares, 1e-300)), -_MOST, _MOST)


def _squares(
    values: np.ndarray, kinds: np.ndarray, signals: list[np.ndarray], lag: int = 0
) -> np.ndarray:
    """Return the sums of products of values that are `lag` samples apart, by kind (kinds, n).

    values: (rows, n).
    """
    result = np.zeros((int(kinds.max()) + 1, values.shape[1]))
    for at in signals:
        result[kinds[at[0]]] += np.sum(values[at[lag:]] * values[at[: len(at) - lag]], axis=0)
    return result
