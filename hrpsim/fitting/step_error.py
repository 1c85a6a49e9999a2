# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Estimate how far a shorter time step would change the values of a fit.

One prediction at half the time step changes the differences. To first order, the fitted values then
change by one Gauss-Newton step. No second fit is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy

import numpy as np

from hrpsim.common.errors import HrpsimError
from hrpsim.fitting.predict import Predictor
from hrpsim.fitting.recordings.measured_motion import BoundRecording

_PATH = "world.time_step"


def moves_at_half_step(
    predictor: Predictor,
    values: Mapping[str, float],
    offsets: Sequence[np.ndarray] | None,
    base: np.ndarray,
    weighted: Callable[[np.ndarray], np.ndarray],
    J: np.ndarray,
) -> np.ndarray:
    """Return the changes (p,) of the unknowns at half the time step, NaN if the world cannot step.

    Args:
        predictor: predictor of the fit.
        values: fitted values by path.
        offsets: offsets of the initial states, if fitted.
        base: differences (rows,) at the fitted values.
        weighted: function that divides differences (rows, n) by their standard deviations, and
            removes the component that initial states explain.
        J: derivatives (rows + priors, p) of the weighted differences, then of the priors.
    """
    finer = copy(predictor)
    finer.recordings = [_at_half_step(recording) for recording in predictor.recordings]
    try:
        step = predictor.scenario.world_of(values, seed=0)[0].time_step
        fine = finer.differences([{**values, _PATH: 0.5 * step}], [offsets])[0]
    except HrpsimError:
        return np.full(J.shape[1], np.nan)
    change = weighted((fine - base)[:, None])[:, 0]
    return -np.linalg.pinv(J.T @ J) @ J[: len(change)].T @ change


def _at_half_step(one: BoundRecording) -> BoundRecording:
    """Return a recording whose signals count half steps. The compared samples do not change."""
    finer = copy(one)
    finer.signals = [copy(signal) for signal in one.signals]
    for signal in finer.signals:
        signal.time_step *= 0.5
    return finer
