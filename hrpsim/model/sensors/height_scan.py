# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Height scans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from hrpsim.common.errors import ModelError, unknown_name
from hrpsim.common.typed_values import NotNegative, Positive, check_fields
from hrpsim.common.values import LIMIT
from hrpsim.model.sensors.ray_pattern import ALIGNMENTS, RayPattern
from hrpsim.model.sensors.sensor_kind import cells_along, require


@dataclass(frozen=True)
class HeightScan(RayPattern):
    """Rays straight down over a grid, or over rings, about the sensor's frame.

    Grid: heights[i, j] is at x_i, y_j from -size/2 to size/2, `spacing` apart. Rings: heights[i, j]
    is on radius i at angle 2 pi j / points.
    """

    kind = "height_scan"
    size: tuple[float, ...] = (1.6, 1.0)  # lengths along x and y [m]
    spacing: Positive = 0.1  # [m]
    radii: tuple[NotNegative, ...] = ()  # [m]; then rings, no grid
    points: int = 16  # number of points in a ring
    alignment: str = "yaw"  # "yaw" (heading of the frame), "base" or "world"
    height: NotNegative = 1.0  # start of the rays above the frame, lower beneath roofs [m]
    max_range: Annotated[float, LIMIT] = 10.0  # largest range below the frame [m]

    def __post_init__(self) -> None:
        check_fields(self, ModelError)
        require(len(self.size) == 2 and min(self.size) >= 0.0, "size must be two numbers >= 0")
        require(self.alignment in ALIGNMENTS, unknown_name("alignment", self.alignment, ALIGNMENTS))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rays along x and y, or number of rings and of rays in each ring."""
        if self.radii:
            return len(self.radii), self.points
        nx, ny = (int(cells_along(length, self.spacing) + 1e-9) + 1 for length in self.size)
        return nx, ny

    def rays(self, sample: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return origins (n, 3) [m], directions (n, 3) and times (n,) [s] in a sample."""
        n, m = self.shape
        if self.radii:
            angles = 2.0 * np.pi * np.arange(m) / m
            x, y = (np.outer(self.radii, part(angles)) for part in (np.cos, np.sin))
        else:
            along = [(np.arange(k) - 0.5 * (k - 1)) * self.spacing for k in (n, m)]
            x, y = np.meshgrid(*along, indexing="ij")
        origins = np.stack([x, y, np.zeros((n, m))], axis=-1).reshape(-1, 3)
        return origins, np.tile([0.0, 0.0, -1.0], (n * m, 1)), np.zeros(n * m)
