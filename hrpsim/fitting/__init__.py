# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Fit parameters of a world to recordings, by least squares, with their uncertainty.

Begin with `fit.fit` (also `hrpsim.fit`). `predict` simulates the recordings in short windows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from hrpsim.fitting.fit_study import cross_validate as cross_validate
    from hrpsim.fitting.measured_motion import Recording as Recording
    from hrpsim.fitting.readers import read_bag_recording as read_bag_recording
    from hrpsim.fitting.readers import read_recording as read_recording
    from hrpsim.fitting.residuals import Unexplained as Unexplained
    from hrpsim.fitting.residuals import draw_fit as draw_fit
    from hrpsim.fitting.residuals import draw_unexplained as draw_unexplained
    from hrpsim.fitting.residuals import unexplained as unexplained
    from hrpsim.fitting.result import FitResult as FitResult
    from hrpsim.fitting.unknowns import FitError as FitError
    from hrpsim.fitting.unknowns import FitWarning as FitWarning
    from hrpsim.fitting.unknowns import Unknown as Unknown
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
