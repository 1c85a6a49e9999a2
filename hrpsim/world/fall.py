# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Detect the fall of a humanoid from the tilt and the lowering of its base."""

from __future__ import annotations

import math
from collections.abc import Callable

from hrpsim.engine.dynamics.functions import center_of_mass
from hrpsim.world.objects.robot import Robot

LARGEST_TILT = math.radians(45.0)
LOWEST_HEIGHT_RATIO = 0.5


class FallWatch:
    """Detector of falls, which observes the base of a humanoid.

    A robot has fallen if the base is tilted by more than 45 degrees or has sunk. The base has sunk
    if two conditions hold. The base is lower by more than half of the height of the centre of mass
    over the lowest link, and this height has halved. Walking down stairs, or a base frame on the
    floor, is therefore not a fall. The first call of `add` defines the standing posture.

    Args:
        clearance: returns the height of the centre of mass over the lowest link [m]. The default is
            the base's first height.
    """

    def __init__(self, clearance: Callable[[], float] | None = None) -> None:
        self._clearance = clearance
        self._standing_height: float | None = None  # standing height of the base [m]
        self._standing_clearance = 0.0  # [m]
        self._sunk = False
        self.lowest_height = math.inf  # lowest height of the base [m]
        self.largest_tilt = 0.0  # largest tilt [rad]

    def add(self, height: float, quaternion: tuple[float, float, float, float]) -> None:
        """Record the height of the base [m] and its orientation, xyzw."""
        if self._standing_height is None:
            self._standing_height = height
            self._standing_clearance = height if self._clearance is None else self._clearance()
        self._sunk = self._sunk or self._has_sunk(self._standing_height - height)
        self.lowest_height = min(self.lowest_height, height)
        self.largest_tilt = max(self.largest_tilt, tilt(quaternion))

    def _has_sunk(self, lowered: float) -> bool:
        """Return whether the base has sunk.

        lowered: how far the base is below its first height [m]. NaN counts as sunk.
        """
        limit = LOWEST_HEIGHT_RATIO * self._standing_clearance
        if self._clearance is None and limit <= 0.0:  # a base on the floor has no clearance
            return math.isnan(lowered)
        if lowered < limit:
            return False
        return self._clearance is None or not self._clearance() > limit

    @property
    def fallen(self) -> bool:
        """Whether the robot has fallen at any time."""
        return self._sunk or not self.largest_tilt < LARGEST_TILT


def clearance(robot: Robot) -> float:
    """Return the height of a robot's centre of mass over the origin of its lowest link [m]."""
    positions, _ = robot.link_poses()
    return float(center_of_mass(robot.model, robot.q)[2] - positions[:, 2].min())


def tilt(quaternion: tuple[float, float, float, float]) -> float:
    """Return the angle between the base's z axis and the vertical [rad]. Quaternions are xyzw."""
    x, y, _, _ = quaternion
    return math.acos(max(-1.0, min(1.0, 1.0 - 2.0 * (x * x + y * y))))
