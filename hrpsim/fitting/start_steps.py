# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Central differences by initial states, with a step for each entry of the state.

The error of a central difference is the truncation of the step and the noise of the simulation. The
ratio of the second to the first difference shows how much the response bends within the step. A
step is reduced until this ratio is small, but the first difference stays far above the noise. A
foot on stiff bushes needs smaller steps than an arm in the air. Each quantity counts relative to
its largest response, so that units do not matter.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_FIRST = 1e-4  # first step [rad, m, rad/s, m/s]
_STRAIGHT = 0.02  # largest accepted ratio of the second to the first difference
_CLEAR = 1e3  # least ratio of the first difference to the noise of the simulation
_ROUNDS = 5
_TINY = 1e-13  # displacement that changes the rounding only


def central_differences(
    differences: Callable[[np.ndarray], np.ndarray], width: int, kind: np.ndarray
) -> np.ndarray:
    """Return the derivatives (rows, width) of differences with respect to displacements.

    Args:
        differences: returns the differences (n, rows) at displacements (n, width).
        width: number of entries of a displacement.
        kind: index of the kind of quantity of each row (rows,).
    """
    steps, slopes = np.full(width, _FIRST), np.zeros((len(kind), width))
    base, shaken = differences(_TINY * np.array([np.zeros(width), np.ones(width)]))
    noise, left, sizes = _sizes((shaken - base)[None], kind), np.arange(width), None
    for _ in range(_ROUNDS):
        moves = steps[left, None] * np.eye(width)[left]
        ahead, behind = np.split(differences(np.concatenate([moves, -moves])) - base, 2)
        slopes[:, left] = (ahead - behind).T / (2.0 * steps[left])
        first, second = _sizes(ahead - behind, kind), _sizes(ahead + behind, kind)
        if sizes is None:
            sizes = np.maximum(first.max(axis=0), 1e-300)
        first, second = (np.linalg.norm(own / sizes, axis=1) for own in (first, second))
        clear = _CLEAR * np.linalg.norm(noise[0] / sizes) / np.maximum(first, 1e-300)
        straight = _STRAIGHT * first / np.maximum(second, 1e-300)
        factor = np.maximum(straight**2, clear)  # the ratio is at most 1 far beyond the bend
        steps[left] *= np.minimum(factor, 1.0)
        left = left[factor < 1.0]
        if not len(left):
            break
    return slopes


def _sizes(values: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """Return the norm (n, kinds) of values (n, rows) over the rows of each kind."""
    return np.sqrt([np.bincount(kind, own**2) for own in values])
