# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Controllers and scripts for other frameworks, run on hrpsim's robots.

This folder imports control, worlds and the viewer. Packages of other frameworks are imported at
first use.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from hrpsim.bridges import mujoco as mujoco
    from hrpsim.bridges.mc_rtc import McRtc as McRtc
    from hrpsim.bridges.onnx_policy import OnnxPolicy as OnnxPolicy
    from hrpsim.bridges.openhrp_motion import read_body_motion as read_body_motion
    from hrpsim.bridges.openhrp_motion import read_gains as read_gains
    from hrpsim.bridges.tsid import SlowWalk as SlowWalk
    from hrpsim.bridges.tsid import TsidController as TsidController
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
