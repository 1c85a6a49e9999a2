# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sensors that are read in each step: readings with noise, and one message type for each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import Imu

from hrpsim.control.framework.controller import ImuReading
from hrpsim.engine.sensors.noise import NoiseLevels, SensorNoise
from hrpsim.model.sensors.kinds import STEP_KINDS
from hrpsim.ros.base.geometry_values import fill, numbers_of
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.world.objects.robot_reader import RobotReader

# Added to the variance of the noise, because zero means "unknown" in sensor_msgs.
SMALL_VARIANCE = 1.0e-9


class SensorReadings:
    """Readings of all sensors of a robot, in the order of the model.

    Readings include the noise of `levels` at the clock's step, and are cached until `forget`.
    """

    def __init__(self, robot, clock: SimulationClock, levels: NoiseLevels) -> None:
        sensors = robot.model.sensors
        self.noises = [
            SensorNoise(
                *(sensor.name, sensor.kind, levels, sensor.own_noise),
                robot=robot.name,
                world=robot.world.noise_world,
            )
            for sensor in sensors
        ]
        self._clock = clock
        self._order = [sensor.name for sensor in sensors]
        self._reader = RobotReader(robot, ())
        kinds = [STEP_KINDS[sensor.kind] for sensor in sensors]
        self._oriented = [k for k, kind in enumerate(kinds) if kind.has_orientation]
        self._orientations: np.ndarray | None = None
        self._values: np.ndarray | None = None

    def forget(self) -> None:
        """Clear the cached readings, because the robot has moved."""
        self._values = self._orientations = None

    def index_of(self, name: str) -> int:
        """Return the row of a sensor."""
        return self._order.index(name)

    @property
    def values(self) -> np.ndarray:
        """Force [N] and torque [Nm], or angular velocity [rad/s] and specific force [m/s^2] (k, 6).

        Each row is in and about the sensor's frame.
        """
        if self._values is None:
            self._read()
        return self._values

    def orientation(self, index: int) -> np.ndarray:
        """Return the orientation in the world of the sensor in row `index`.

        The result is a quaternion x y z w (4,).
        """
        if self._orientations is None:
            self._read()
        return self._orientations[self._oriented.index(index)]

    def _read(self) -> None:
        """Read all sensors. A controller in the simulator's process reads the same bits."""
        numbers, step, count = self._reader.read(), self._clock.steps, len(self._order)
        self._values = numbers[: 6 * count].reshape(count, 6)
        self._orientations = numbers[6 * count :].reshape(-1, 4)
        for row, noise in zip(self._values, self.noises):
            if noise.is_on:
                row += noise.at(step)


class StepMessage(NamedTuple):
    """The message of a kind of sensor. The numbers are float64 fields of the message."""

    type: type
    count: int  # number of values
    fill: Callable[[Any, Any], None]  # writes numbers into a message
    read: Callable[[SensorReadings, int, np.ndarray], None]  # writes the values of the row's sensor
    reading_of: Callable[[Any], Any]  # reading of a controller: an array or a tuple of arrays


def _fill_wrench(message: WrenchStamped, numbers: Any) -> None:
    fill(message.wrench.force, numbers[:3])
    fill(message.wrench.torque, numbers[3:])


def _read_wrench(readings: SensorReadings, index: int, numbers_out: np.ndarray) -> None:
    numbers_out[:] = readings.values[index]


def _wrench_of(message: WrenchStamped) -> np.ndarray:
    return np.concatenate([numbers_of(message.wrench.force), numbers_of(message.wrench.torque)])


def _fill_imu(message: Imu, numbers: Any) -> None:
    fill(message.orientation, numbers[:4])
    fill(message.angular_velocity, numbers[4:7])
    fill(message.linear_acceleration, numbers[7:10])
    message.orientation_covariance[::4] = SMALL_VARIANCE
    message.angular_velocity_covariance[::4] = numbers[10:13]
    message.linear_acceleration_covariance[::4] = numbers[13:]


def _read_imu(readings: SensorReadings, index: int, numbers_out: np.ndarray) -> None:
    numbers_out[:4] = readings.orientation(index)
    numbers_out[4:10] = readings.values[index]
    numbers_out[10:] = SMALL_VARIANCE
    noise = readings.noises[index]
    if noise.is_on:
        numbers_out[10:] += noise.variances


def _imu_of(message: Imu) -> ImuReading:
    parts = message.orientation, message.angular_velocity, message.linear_acceleration
    return ImuReading(*map(numbers_of, parts))


STEP_MESSAGES = {
    "force_torque": StepMessage(WrenchStamped, 6, _fill_wrench, _read_wrench, _wrench_of),
    "imu": StepMessage(Imu, 16, _fill_imu, _read_imu, _imu_of),
}
