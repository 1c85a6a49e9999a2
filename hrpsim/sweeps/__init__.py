# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Many runs of one scenario: designs of experiments, engines for the runs, stored results.

Begin with `sweep.sweep` (also `hrpsim.sweep`). This folder knows nothing of ROS and draws no
worlds.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from hrpsim.sweeps.framework.design import Design as Design
    from hrpsim.sweeps.framework.design import product as product
    from hrpsim.sweeps.framework.scenario import Scenario as Scenario
    from hrpsim.sweeps.framework.scenario import SweepError as SweepError
    from hrpsim.sweeps.sweep import replay as replay
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
