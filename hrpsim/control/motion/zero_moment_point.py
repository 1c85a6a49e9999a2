# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The centre of mass that makes a wanted zero-moment point, on the cart-table model."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_banded

from hrpsim.constants import STANDARD_GRAVITY


def center_of_mass_for(zmp, period: float, height: float) -> np.ndarray:
    """Return horizontal positions of the centre of mass [m], same shape as `zmp` (count, ...).

    zmp: zero-moment points [m], `period` [s] apart, at rest before the first and after the last.
    The cart-table equation  x - (height / gravity) d2x/dt2 = zmp  (Kajita et al. 2003, eq. 7), with
    central differences for the acceleration, is one tridiagonal system; its solution is the only
    one that does not diverge, and it looks ahead as far as it needs to.
    """
    zmp = np.asarray(zmp, dtype=np.float64)
    c = height / (STANDARD_GRAVITY * period * period)
    bands = np.empty((3, len(zmp)))
    bands[0], bands[1], bands[2] = -c, 1.0 + 2.0 * c, -c
    bands[1, [0, -1]] = 1.0 + c  # at rest: the neighbour outside stands where the end stands
    return solve_banded((1, 1), bands, zmp)
