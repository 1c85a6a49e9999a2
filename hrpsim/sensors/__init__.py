# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Readings of simulated sensors."""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from hrpsim.engine.sensors.noise import NoiseLevels as NoiseLevels
    from hrpsim.engine.sensors.noise import SensorNoise as SensorNoise
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
