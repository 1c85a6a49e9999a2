# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contact sensors."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hrpsim.common.errors import ModelError
from hrpsim.common.typed_values import NotNegative, Positive, check_fields
from hrpsim.model.sensors.sensor_kind import SampledSensorKind, cells_along, require


@dataclass(frozen=True)
class ContactPad(SampledSensorKind):
    """A contact sensor of one link: the wrench in the sensor's frame, and a grid of pressures.

    The grid is in the xy plane of the frame, size[0] by size[1], centred at the origin. Without a
    `cell` there is no grid.
    """

    kind = "contact"
    common = ("rate", "latency", "enabled")
    gazebo_types = ("contact",)
    gazebo_tags = ("contact",)
    gazebo_elements = {"contact": ("", "collision topic"), "contact/collision": ("", "")}
    size: tuple[float, ...] = (0.0, 0.0)  # [m]
    cell: NotNegative = 0.0  # [m]
    threshold: Positive = 1.0  # least force at which the link is in contact [N]

    def __post_init__(self) -> None:
        check_fields(self, ModelError)
        require(len(self.size) == 2 and min(self.size) >= 0.0, "size must be two numbers >= 0")
        require(
            self.cell == 0.0 or min(self.size) > 0.0,
            "a grid of cells needs a size of two positive numbers",
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of cells along x and y."""
        if self.cell == 0.0:
            return 0, 0
        nx, ny = (max(math.ceil(cells_along(length, self.cell) - 1e-9), 1) for length in self.size)
        return nx, ny

    def check(self, rate: float) -> None:
        """Raise ModelError if there are too many cells."""
        self.require_few()
