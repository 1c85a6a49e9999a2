# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Quintic interpolation from rest to rest: continuous in position, velocity and acceleration."""

from __future__ import annotations

import numpy as np


def smooth_step(s):
    """Return 10 s^3 - 15 s^4 + 6 s^5: 0 for s <= 0, 1 for s >= 1, flat and uncurved at both."""
    s = np.clip(s, 0.0, 1.0)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))


def through_rests(times, values, at) -> np.ndarray:
    """Return values (len(at), ...) of the motion that rests at each of `values` (k, ...).

    times: ascending (k,) [s]; before the first and after the last the motion stays there.
    """
    times, values = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
    at = np.asarray(at, dtype=np.float64)
    i = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    s = smooth_step((at - times[i]) / (times[i + 1] - times[i]))
    s = s.reshape(s.shape + (1,) * (values.ndim - 1))
    return values[i] + s * (values[i + 1] - values[i])
