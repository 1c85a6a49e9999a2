# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Differentiate sampled joint positions, with optional smoothing."""

from __future__ import annotations

import numpy as np

from hrpsim.control.motion.motion_sequence import SequenceError

_ORDER = 4  # of the polynomial that is fitted to a window
_UNEVEN = 1e-6  # of the period, by which samples may be off an even grid


def differentiated(times, values, smoothing: float = 0.0):
    """Return (values, rates, accelerations), each (T, n), at ascending `times` (T,) [s].

    Without smoothing: the quintic spline through the samples (of lower order below six of them);
    the values stay as they are. smoothing: width [s] of a window that slides over the samples; to
    those inside a quartic polynomial is fitted by least squares, and its value and derivatives in
    the middle are taken (Savitzky and Golay 1964); in the first and last half window those of the
    polynomial at the end. The times must then be evenly spaced. A window of less than seven
    samples would not smooth and is refused with a SequenceError, as is one that is longer
    than the motion, and as are times through which no spline can be put.
    """
    times, values = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if smoothing > 0.0:
        return _fitted(times, values, smoothing)
    order = min(5, len(times) - 1)
    if order < 1:
        return values.copy(), np.zeros_like(values), np.zeros_like(values)
    order -= order % 2 == 0
    from scipy.interpolate import make_interp_spline  # importing takes longer than using it

    try:
        spline = make_interp_spline(times, values, k=order)
    except (ValueError, np.linalg.LinAlgError) as error:
        raise SequenceError(f"the times are too uneven for a spline: {error}") from error
    second = spline(times, 2) if order > 1 else np.zeros_like(values)
    return values.copy(), spline(times, 1), second


def _fitted(times, values, smoothing: float):
    period = (times[-1] - times[0]) / max(len(times) - 1, 1)
    if len(times) < 2 or np.abs(np.diff(times) - period).max() > _UNEVEN * period:
        raise SequenceError("smoothing needs evenly spaced samples: resample with a period")
    window = 2 * int(0.5 * smoothing / period) + 1
    if window < _ORDER + 3:
        raise SequenceError(
            f"smoothing over {smoothing:g} s is {window} samples of {period:g} s; "
            f"it takes {_ORDER + 3} to smooth anything"
        )
    if window > len(times):
        raise SequenceError(
            f"smoothing over {smoothing:g} s needs {window} samples; there are {len(times)}"
        )
    from scipy.signal import savgol_filter  # as above

    return tuple(
        savgol_filter(values, window, _ORDER, deriv=k, delta=period, axis=0) for k in range(3)
    )
