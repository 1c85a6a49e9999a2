# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Many runs of one scenario: designs of experiments, engines for the runs, stored results.

Begin with `sweep.sweep` (also `hrpsim.sweep`). This folder does not use ROS and does not draw
worlds.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = ["Design", "Scenario", "SweepError", "product", "replay"]

if TYPE_CHECKING:
    from hrpsim.sweeps.framework.design import Design, product
    from hrpsim.sweeps.framework.scenario import Scenario, SweepError
    from hrpsim.sweeps.sweep import replay
else:
    __getattr__, __dir__ = lazy_names(__name__)
