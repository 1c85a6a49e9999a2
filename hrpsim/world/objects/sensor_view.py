# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Readings of a robot's sensors."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from hrpsim.errors import WorldError
from hrpsim.model.model import Model, Sensor
from hrpsim.world.objects.entity import WorldState, _frozen, part_of


class OtherKindError(WorldError, AttributeError):
    """A reading that a sensor of this kind does not have; `hasattr` is False for it."""


class SensorCarrier(Protocol):
    """The part of `Robot` that its sensors know, so that they need not import it."""

    model: Model

    @property
    def world(self) -> WorldState:
        """The world that it lives in."""

    def link_pose(self, link: str) -> tuple[np.ndarray, np.ndarray]:
        """Return position (3,) [m] and quaternion x y z w (4,) of a link in the world."""

    def frame_pose(self, body: int, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the same of a frame with rotation R and origin p in a body's frame."""


class SensorView:
    """One sensor of a robot; readings are means over the last step."""

    def __init__(self, robot: SensorCarrier, description: Sensor, index: int):
        self.robot = robot
        self.description = description
        self.index = index

    def _reading(self) -> np.ndarray:
        world = self.robot.world
        return _frozen(
            world.scene.sensors["reading"][world.first_sensor(self.robot) + self.index].copy()
        )

    @property
    def reading(self) -> np.ndarray:
        """The whole reading (6,): its wrench, or angular velocity and specific force."""
        return self._reading()

    @property
    def wrench(self) -> np.ndarray:
        """Force [N] then torque [Nm] that the child side exerts on the parent side (6,).

        In and about the sensor frame; with a standing robot force z is positive. A tared sensor
        leaves out the weight of the child side.
        """
        return self._of_kind("force_torque")

    force = part_of("wrench", slice(3), "Force part of the wrench (3,) [N].")
    torque = part_of("wrench", slice(3, None), "Torque part of the wrench (3,) [Nm].")

    @property
    def angular_velocity(self) -> np.ndarray:
        """Angular velocity in the sensor frame (3,) [rad/s]."""
        return self._of_kind("imu")[:3]

    @property
    def linear_acceleration(self) -> np.ndarray:
        """Specific force in the sensor frame (3,): +9.8 upwards at rest [m/s^2]."""
        return self._of_kind("imu")[3:]

    @property
    def orientation(self) -> np.ndarray:
        """Orientation of the sensor frame in the world, quaternion x y z w (4,)."""
        at = self.description
        return self.robot.frame_pose(at.body, at.R, at.p)[1]

    def _of_kind(self, kind: str) -> np.ndarray:
        if self.description.kind != kind:
            raise OtherKindError(
                f"sensor {self.description.name!r} is of kind {self.description.kind!r}, "
                f"not {kind!r}"
            )
        return self._reading()
