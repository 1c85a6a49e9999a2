# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find the unit of each linear parameter without bounds or prior.

The unit is a change with a noticeable effect on the predictions. The unit does not depend on the
value of the parameter, so a parameter with the initial value 0 has a unit too.
"""

from __future__ import annotations

import numpy as np

from hrpsim.common.errors import HrpsimError
from hrpsim.fitting.predict import Predictor
from hrpsim.fitting.unknowns import Unknowns

_NOTICED = 0.1  # desired relative change of the motion, root mean square
_NEAR = 3.0  # accepted factor between the effect and the desired effect
_ROUNDS = 8
_FIRST, _MOST_FACTOR = 1e-3, 1e3  # first change, and largest factor between two changes


def find_units(unknowns: Unknowns, predictor: Predictor) -> None:
    """Set `unit` of the unknowns that have neither bounds nor a prior nor a log scale.

    Raises:
        HrpsimError: the initial values are invalid for the world.
    """
    if not unknowns.is_open.any():
        return
    rows, still = predictor.rows(), predictor.still()
    sizes = np.sqrt(np.bincount(rows.kind, still**2) / np.bincount(rows.kind).clip(1))
    sizes = np.where(sizes > 0.0, sizes, np.inf)[rows.kind]

    def predicted(values: np.ndarray) -> np.ndarray:
        return predictor.differences([unknowns.by_path(unknowns.to_u(values))])[0] / sizes

    base = predicted(unknowns.start)
    for k in np.flatnonzero(unknowns.is_open):
        own, change = np.arange(len(unknowns)) == k, _FIRST
        for _ in range(_ROUNDS):
            sign = 1.0 if unknowns.start[k] + change <= unknowns.high[k] else -1.0
            try:
                moved = predicted(unknowns.start + sign * change * own) - base
                effect = float(np.sqrt(np.mean(moved**2))) / _NOTICED
            except HrpsimError:  # impossible value of the world
                effect = _MOST_FACTOR
            if 1.0 / _NEAR <= effect <= _NEAR or (effect == 0.0 and change >= 1.0):
                break
            change /= min(max(effect, 1.0 / _MOST_FACTOR), _MOST_FACTOR)
        unknowns.unit[k] = change
