# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Analysis of motions: inverse dynamics, limits, support, reports.

The folder offers Analyser, MotionObserver and their reports. It imports the folders below control,
and control's motions.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from hrpsim.analysis.analyser import Analyser as Analyser
    from hrpsim.analysis.analyser import FixedPhase as FixedPhase
    from hrpsim.analysis.observer import Observer as Observer
    from hrpsim.analysis.summary import analyse_motion as analyse_motion
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
