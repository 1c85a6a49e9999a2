# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Fit parameters of a world to recordings by least squares, with confidence intervals.

`fit.fit` (also `hrpsim.fit`) is the entry point. The module `predict` simulates the recordings in
short windows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = [
    "FitError",
    "FitResult",
    "FitWarning",
    "Recording",
    "Signal",
    "Unexplained",
    "Unknown",
    "cross_validate",
    "draw_fit",
    "draw_unexplained",
    "read_bag_recording",
    "read_recording",
    "read_recordings",
    "unexplained",
]

if TYPE_CHECKING:
    from hrpsim.common.errors import FitError, FitWarning
    from hrpsim.fitting.fit_study import cross_validate
    from hrpsim.fitting.recordings.measured_motion import Recording
    from hrpsim.fitting.recordings.readers import (
        read_bag_recording,
        read_recording,
        read_recordings,
    )
    from hrpsim.fitting.residuals import Unexplained, draw_fit, draw_unexplained, unexplained
    from hrpsim.fitting.result import FitResult
    from hrpsim.fitting.signals.signal import Signal
    from hrpsim.fitting.unknowns import Unknown
else:
    __getattr__, __dir__ = lazy_names(__name__)
