# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find motions that determine parameters well, and forecast the confidence intervals of a fit.

`propose` searches for the motion with the best `forecast`, among the motions of `motions`.
`motion_files` writes the motion. `excitation_file` reads the settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = [
    "Excitation",
    "Forecast",
    "ExcitingMotion",
    "Proposal",
    "forecast",
    "propose",
    "read_excitation",
    "write_motion",
]

if TYPE_CHECKING:
    from hrpsim.fitting.excitation.excitation_file import Excitation, read_excitation
    from hrpsim.fitting.excitation.forecasts import Forecast, forecast
    from hrpsim.fitting.excitation.motion_files import write_motion
    from hrpsim.fitting.excitation.motions import ExcitingMotion
    from hrpsim.fitting.excitation.search import Proposal, propose
else:
    __getattr__, __dir__ = lazy_names(__name__)
