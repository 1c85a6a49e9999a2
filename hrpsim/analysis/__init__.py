# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Analysis of motions: inverse dynamics, limits, support, reports.

The folder offers Analyser, Observer and their reports. It imports the folders below control, and
control's motions.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = ["Analyser", "FixedPhase", "Observer", "analyse_motion"]

if TYPE_CHECKING:
    from hrpsim.analysis.analyser import Analyser, FixedPhase
    from hrpsim.analysis.observer import Observer
    from hrpsim.analysis.summary import analyse_motion
else:
    __getattr__, __dir__ = lazy_names(__name__)
