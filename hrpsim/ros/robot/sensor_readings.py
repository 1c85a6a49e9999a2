# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The readings of a robot's sensors, noise included, computed once for each state."""

from __future__ import annotations

import numpy as np

from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.sensors.noise import NoiseLevels, SensorNoise
from hrpsim.world.objects.robot_reader import RobotReader


class SensorReadings:
    """Readings of all sensors of a robot, in the order of its model.

    They include the noise of `levels` at the clock's step, and are cached until `forget`.
    """

    def __init__(self, robot, clock: SimulationClock, levels: NoiseLevels):
        sensors = robot.model.sensors
        self.noises = [SensorNoise(sensor.name, sensor.kind, levels) for sensor in sensors]
        self._clock = clock
        self._order = [sensor.name for sensor in sensors]
        self._reader = RobotReader(robot, ())
        self._imus = [k for k, sensor in enumerate(sensors) if sensor.kind == "imu"]
        self._orientations: np.ndarray | None = None
        self._values: np.ndarray | None = None

    def forget(self) -> None:
        """Clear the cached readings: the robot has moved."""
        self._values = self._orientations = None

    def index_of(self, name: str) -> int:
        """Return the row of a sensor."""
        return self._order.index(name)

    @property
    def values(self) -> np.ndarray:
        """Force [N] and torque [Nm], or angular velocity [rad/s] and specific force [m/s^2] (k, 6).

        Each in and about the sensor's frame.
        """
        if self._values is None:
            self._read()
        return self._values

    def orientation(self, place: int) -> np.ndarray:
        """Return the orientation of the IMU in a row in the world, a quaternion x y z w (4,)."""
        if self._orientations is None:
            self._read()
        return self._orientations[self._imus.index(place)]

    def _read(self) -> None:
        """Read all sensors, bit for bit as a controller in the simulator's process does."""
        numbers, step, count = self._reader.read(), self._clock.steps, len(self._order)
        self._values = numbers[: 6 * count].reshape(count, 6)
        self._orientations = numbers[6 * count :].reshape(-1, 4)
        for row, noise in zip(self._values, self.noises):
            if noise.is_on:
                row += noise.at(step)
