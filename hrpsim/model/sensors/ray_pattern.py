# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kinds of sensors that cast rays."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hrpsim.model.sensors.sensor_kind import SampledSensorKind, SampleNoise, require

ALIGNMENTS = ("yaw", "base", "world")
GEOMETRIES = ("collision", "visual")  # that rays meet


class RayPattern(SampledSensorKind):
    """The rays of a height scan or lidar."""

    alignment: str  # "yaw" (heading of the frame), "base" or "world"
    max_range: float  # [m]
    height: float = 0.0  # start of the rays above the frame [m]
    min_range: float = 0.0  # [m]
    by_columns: ClassVar[bool] = False  # whether rays are cast column by column

    @property
    def repeats(self) -> bool:
        """Whether all samples have the same rays."""
        return True

    def rays(self, sample: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return origins (n, 3) [m], directions (n, 3) and times (n,) in a sample."""
        raise NotImplementedError

    def check(self, rate: float) -> None:
        """Raise ModelError if there are no or too many rays."""
        require(min(self.shape) > 0, "columns and points must be positive. The sensor has no rays")
        self.require_few()

    def disturbed(self, values: np.ndarray, noise: SampleNoise) -> np.ndarray:
        """Return ranges (n,) [m] with noise and dropouts."""
        ranges = values + noise.deviation * noise.random.standard_normal(len(values))
        ranges[noise.random.random(len(values)) < noise.dropout] = np.inf
        return ranges
