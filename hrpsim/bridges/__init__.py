# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Run controllers and scripts of other frameworks on hrpsim's robots.

This folder imports control, worlds and the viewer. Packages of other frameworks are imported when
they are first used.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = [
    "McRtc",
    "OnnxPolicy",
    "SlowWalk",
    "TsidController",
    "mujoco",
    "read_body_motion",
    "read_gains",
]

if TYPE_CHECKING:
    from hrpsim.bridges import mujoco
    from hrpsim.bridges.mc_rtc import McRtc
    from hrpsim.bridges.onnx_policy import OnnxPolicy
    from hrpsim.bridges.openhrp_motion import read_body_motion, read_gains
    from hrpsim.bridges.tsid import SlowWalk, TsidController
else:
    __getattr__, __dir__ = lazy_names(__name__)
