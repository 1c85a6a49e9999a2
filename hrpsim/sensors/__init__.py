# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Readings of the simulated sensors."""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = ["NoiseLevels", "SensorNoise"]

if TYPE_CHECKING:
    from hrpsim.engine.sensors.noise import NoiseLevels, SensorNoise
else:
    __getattr__, __dir__ = lazy_names(__name__)
