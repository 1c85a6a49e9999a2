# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Detect a fall of a humanoid from the pose of its base."""

from __future__ import annotations

import math

LARGEST_TILT = math.radians(45.0)
LOWEST_HEIGHT_RATIO = 0.5


class FallWatch:
    """Watches the base: fallen once it leans by more than 45 degrees or sinks to half its height.

    The first height seen counts as standing.
    """

    def __init__(self):
        self.standing_height: float | None = None  # [m]
        self.lowest_height = math.inf  # [m]
        self.largest_tilt = 0.0  # [rad]

    def add(self, height: float, quaternion: tuple[float, float, float, float]) -> None:
        """Take in the height of the base [m] and its orientation, xyzw."""
        if self.standing_height is None:
            self.standing_height = height
        self.lowest_height = min(self.lowest_height, height)
        self.largest_tilt = max(self.largest_tilt, tilt(quaternion))

    @property
    def fallen(self) -> bool:
        """Whether it has fallen at any time."""
        if self.standing_height is None:
            return False
        sunk = not self.lowest_height > LOWEST_HEIGHT_RATIO * self.standing_height
        return sunk or not self.largest_tilt < LARGEST_TILT


def tilt(quaternion: tuple[float, float, float, float]) -> float:
    """Return the angle between the base's z axis and the vertical [rad]; xyzw."""
    x, y, _, _ = quaternion
    return math.acos(max(-1.0, min(1.0, 1.0 - 2.0 * (x * x + y * y))))
